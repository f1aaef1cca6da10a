/* SPDX-License-Identifier: MIT */
/* The tracepoints of lttng.c, in the form that LTTng-UST wants them: included many times. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./lttng-provider.h"

#if !defined LTTNG_PROVIDER_H || defined TRACEPOINT_HEADER_MULTI_READ
#define LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(bench, enter, TP_ARGS(int, which), TP_FIELDS(ctf_integer(int, which, which)))
TRACEPOINT_EVENT(bench, leave, TP_ARGS(int, which), TP_FIELDS(ctf_integer(int, which, which)))

#endif

#include <lttng/tracepoint-event.h>
