/* SPDX-License-Identifier: MIT */
/*
 * The fast events of threads that trace some requests: fast-traced.c once more. What they tell goes
 * by trace_put, which asks whether the future's request is kept, and else who holds the thread.
 */
#define FAST_SOME
#include "fast-traced.c"
