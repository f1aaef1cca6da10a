/* SPDX-License-Identifier: MIT */
/* W3C trace context of requests: `traceparent` in and out; see token.c. Inside an event. */
#ifndef APROF_RT_TRACEPARENT_H
#define APROF_RT_TRACEPARENT_H

#include "pool.h"

#pragma GCC visibility push(hidden)

#define TRACEPARENT 55u /* characters */

/* The request goes on with that traceparent. False: it is none, and nothing has changed. */
bool token_read(struct aprof_request *r, const char *text, size_t length);
/* Its own one, made if there is none yet; 55 characters and a NUL. */
void token_write(struct aprof_request *r, char *buffer);

#pragma GCC visibility pop

#endif
