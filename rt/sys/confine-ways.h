/* SPDX-License-Identifier: MIT */
/* May the program come to have a seccomp filter while it runs? See confine-ways.c. */
#ifndef APROF_RT_CONFINE_WAYS_H
#define APROF_RT_CONFINE_WAYS_H

#include <stdbool.h>

void find_ways(void); /* in the modules that are there now */
bool may_be_confined(void);

#endif
