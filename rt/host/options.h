/* SPDX-License-Identifier: MIT */
/* APROF_OPTIONS into rt.options; warns of unknown keys. */
#ifndef APROF_RT_OPTIONS_H
#define APROF_RT_OPTIONS_H

void options_read(void);
void options_resolve(void); /* ... as the directory is now */

#endif
