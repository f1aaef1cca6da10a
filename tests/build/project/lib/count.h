#ifndef COUNT_H
#define COUNT_H
int count_up(int n);
#endif
/* SPDX-License-Identifier: MIT */
