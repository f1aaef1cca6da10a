/* The shared library of the two. */
#include "count.h"

#if defined __has_attribute
#if __has_attribute(aprof)
__attribute__((aprof("async"))) int count_up(int n);
#endif
#endif

int count_up(int n) { return n; }
/* SPDX-License-Identifier: MIT */
