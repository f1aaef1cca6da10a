/* SPDX-License-Identifier: MIT */
/* The sets of a file's events; see fast.h. Without a GOVERNED what comes first has chosen. */
#ifndef GOVERNED
#define GOVERNED(clock)
#endif
SETS(SET, GOVERNED)
#undef SET
#undef GOVERNED
