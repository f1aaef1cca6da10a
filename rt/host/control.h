/* SPDX-License-Identifier: MIT */
/* Start, epochs and fork: when there is a profile, and whose; see control.c. */
#ifndef APROF_RT_CONTROL_H
#define APROF_RT_CONTROL_H

#include <stdbool.h>

bool control_start(void); /* first future of this process: the profile; slow */
int control_enable(int on);
int control_reset(void);
void control_attach(void); /* once: options, reservation, fork handlers */

#endif
