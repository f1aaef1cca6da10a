/* SPDX-License-Identifier: MIT */
/* What a program may say of its requests by aprof.h; see request.c. Any thread; not
   async-signal-safe. */
#ifndef APROF_RT_REQUEST_H
#define APROF_RT_REQUEST_H

#include "rt/rt.h"

int api_label(const char *text);
int api_token(char *buffer);
int api_token_set(const char *traceparent);

#endif
