/* SPDX-License-Identifier: MIT */
/*
 * What is sent to other servers as time goes on: profiles and metrics of each interval, and
 * requests as they end.
 *
 * In: which live processes, which servers and formats. Processes of the server's own do it, so that
 * no answer waits for them, and none of them for a server: one for what is made of totals, and
 * one for each process that is recorded, where requests are sent. What a server does not take waits
 * in a queue of bounded length, and is sent again; what has no room is dropped, and counted. Cost:
 * that of reading totals each interval; of recording (record/recorder.h) where requests are sent.
 * Ends with who started it, however that ends. Locking: none; what is counted is shared.
 */
#ifndef APROF_CLI_SERVE_PUSH_H
#define APROF_CLI_SERVE_PUSH_H

#include "serve-push-send.h"

struct pushes;

/* "FORMAT=URL": NULL, or what is wrong, to be freed. */
char *push_wish_take(struct push_wishes *, const char *text);
/* NULL after a message, and where there is no wish. The wishes have to stay. */
struct pushes *pushes_start(const struct push_wishes *);
/* Waits for what is on its way, two seconds at most. */
void pushes_end(struct pushes *);

/* "pushes": what each server took. */
void pushes_json(const struct pushes *, struct emit *);
/* The same for metrics; free() it. */
struct format_pushed *pushes_states(const struct pushes *, size_t *count);

#endif
