#include "stars.c"
/* SPDX-License-Identifier: MIT */
