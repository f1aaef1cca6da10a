/* SPDX-License-Identifier: MIT */
/*
 * The events: the one table of what a gate holds.
 *
 * Purpose: each row is said once here; the gate's shape (abi.h), the plugin's types, the
 * runtime's declarations and what fills a gate are made of it.
 *     APROF_GATE_name(ROW, with)   ->  ROW(with, role, name, parameters, arguments)
 * of one row, APROF_GATE_EVENTS of all events, and APROF_GATE_MEMBERS of all that a gate holds.
 * Roles: OPENS is given a token whose first word is zero, and leaves that so where nothing is to be
 * closed, else it fills all three; CLOSES is called for one whose first word is not zero, and for
 * no other; TELLS does neither.
 *
 * A new row goes to the end of APROF_GATE_MEMBERS and raises APROF_GATE_ROWS. It must be one
 * that an older plugin's code can do without: such a gate is shorter, and is served as far as it
 * reaches. Whatever else changes here, in layout or in meaning, raises APROF_ABI (abi.h).
 */
#ifndef APROF_EVENT_TABLE_H
#define APROF_EVENT_TABLE_H

#define APROF_GATE_ROWS 39

/* A body of an async function begins. self is its address where the plugin can name it without
   changing the code (it is public or its address is taken anyway), else NULL. */
#define APROF_GATE_enter(ROW, with)                                                                \
  ROW(with, OPENS, enter,                                                                          \
      (struct aprof_site *function, struct aprof_token *token, const void *self),                  \
      (function, token, self))
#define APROF_GATE_leave(ROW, with)                                                                \
  ROW(with, CLOSES, leave, (struct aprof_token *token, int how), (token, how))

/* The running future waits for the extent of a call. */
#define APROF_GATE_suspend(ROW, with)                                                              \
  ROW(with, OPENS, suspend, (struct aprof_site *await, struct aprof_token *token), (await, token))
#define APROF_GATE_resume(ROW, with)                                                               \
  ROW(with, CLOSES, resume, (struct aprof_token *token), (token))

/* The next async body entered on this thread is called from here; NULL: no more, the call is
   over without one. */
#define APROF_GATE_at(ROW, with) ROW(with, TELLS, at, (struct aprof_site *call), (call))

/* A call that brings a future to life. function is the site of the body that fn= names where it
   is defined in this unit, else NULL; fn is its address (NULL when the line has no fn=, then
   function may be NULL too: the future takes the name of the first body that runs it, else of
   the create site). A second function of fn=a2,a3 needs no event: its body carries the run
   line. ok is the verdict of the line's ok=, 1 without one. */
#define APROF_GATE_create_begin(ROW, with)                                                         \
  ROW(with, OPENS, create_begin,                                                                   \
      (struct aprof_site *create, struct aprof_token *token, struct aprof_site *function,          \
       const void *fn),                                                                            \
      (create, token, function, fn))
#define APROF_GATE_create_end(ROW, with)                                                           \
  ROW(with, CLOSES, create_end, (struct aprof_token *token, uint64_t key0, uint64_t key1, int ok), \
      (token, key0, key1, ok))

/* Future (site->ns, key0, key1) runs until run_end. function is the site of the body when the
   bracket is around a body, else NULL; self as for enter, around a call what fn= names: one that
   nobody creates is called so. where: the RETURN site of the return taken, or NULL. */
#define APROF_GATE_run_begin(ROW, with)                                                            \
  ROW(with, OPENS, run_begin,                                                                      \
      (struct aprof_site *run, struct aprof_token *token, uint64_t key0, uint64_t key1,            \
       struct aprof_site *function, const void *self),                                             \
      (run, token, key0, key1, function, self))
#define APROF_GATE_run_end(ROW, with)                                                              \
  ROW(with, CLOSES, run_end, (struct aprof_token *token, int how, struct aprof_site *where),       \
      (token, how, where))

#define APROF_GATE_wake(ROW, with)                                                                 \
  ROW(with, TELLS, wake, (struct aprof_site *wake, uint64_t key0, uint64_t key1),                  \
      (wake, key0, key1))
#define APROF_GATE_end(ROW, with)                                                                  \
  ROW(with, TELLS, end, (struct aprof_site *end, uint64_t key0, uint64_t key1, int how),           \
      (end, key0, key1, how))

#define APROF_GATE_idle_begin(ROW, with)                                                           \
  ROW(with, OPENS, idle_begin, (struct aprof_site *idle, struct aprof_token *token), (idle, token))
#define APROF_GATE_idle_end(ROW, with)                                                             \
  ROW(with, CLOSES, idle_end, (struct aprof_token *token), (token))

/* Control came back through setjmp or the like into the frame that holds this token: whatever
   began above it is over. */
#define APROF_GATE_resync(ROW, with)                                                               \
  ROW(with, TELLS, resync, (struct aprof_token *token), (token))

/* key=cur: the key of the running future cannot be spelled by the program, so these act on it
   directly. */
#define APROF_GATE_wake_current(ROW, with)                                                         \
  ROW(with, TELLS, wake_current, (struct aprof_site *wake), (wake))
#define APROF_GATE_end_current(ROW, with)                                                          \
  ROW(with, TELLS, end_current, (struct aprof_site *end, int how), (end, how))

/* From here on the future of a key runs on this thread: what ran waits until it is switched to
   itself, or until the call returns to this frame. Closed by resume; the token stays zero where
   nothing ran. */
#define APROF_GATE_switch_to(ROW, with)                                                            \
  ROW(with, OPENS, switch_to,                                                                      \
      (struct aprof_site *to, struct aprof_token *token, uint64_t key0, uint64_t key1),            \
      (to, token, key0, key1))

/* Between create_begin and create_end: when the future should run, in ns from the begin of the
   bracket. It counts as woken then. */
#define APROF_GATE_due(ROW, with)                                                                  \
  ROW(with, TELLS, due, (struct aprof_token *token, uint64_t ns), (token, ns))

/* Around a call that must not happen while a future holds the loop. */
#define APROF_GATE_blocking_begin(ROW, with)                                                       \
  ROW(with, OPENS, blocking_begin, (struct aprof_site *call, struct aprof_token *token),           \
      (call, token))
#define APROF_GATE_blocking_end(ROW, with)                                                         \
  ROW(with, CLOSES, blocking_end, (struct aprof_token *token), (token))

/* Between create_begin and create_end, where another thread may run the future before the call
   returns: the key, which the arguments tell already. */
#define APROF_GATE_create_key(ROW, with)                                                           \
  ROW(with, TELLS, create_key, (struct aprof_token *token, uint64_t key0, uint64_t key1),          \
      (token, key0, key1))

/* A function that is no body itself is about to call setjmp or the like: what runs now. When
   that comes back, resync of this token: bodies that were entered on this stack since, and
   still run, were jumped over. */
#define APROF_GATE_here(ROW, with)                                                                 \
  ROW(with, TELLS, here, (struct aprof_token *token), (token))

/* A span: a body or call whose time is told apart, and no future. On a running future it is a node
   of the tree under what runs, goes to rest with it and comes back with it; elsewhere it is part of
   the thread's other time. A site of kind TIER makes no node, and only says whose tier it is. */
#define APROF_GATE_span_begin(ROW, with)                                                           \
  ROW(with, OPENS, span_begin, (struct aprof_site *span, struct aprof_token *token), (span, token))
#define APROF_GATE_span_end(ROW, with)                                                             \
  ROW(with, CLOSES, span_end, (struct aprof_token *token), (token))

/* The request of the future of a key has this label from now on; label_current: of the running
   future. value and length are of a type that enum aprof_value tells. */
#define APROF_GATE_label(ROW, with)                                                                \
  ROW(with, TELLS, label,                                                                          \
      (struct aprof_site *label, uint64_t key0, uint64_t key1, int type, uint64_t value,           \
       uint64_t length),                                                                           \
      (label, key0, key1, type, value, length))
#define APROF_GATE_label_current(ROW, with)                                                        \
  ROW(with, TELLS, label_current,                                                                  \
      (struct aprof_site *label, int type, uint64_t value, uint64_t length),                       \
      (label, type, value, length))

/* What the line of a create or a body says of its future beyond its key; between create_begin and
   create_end, or behind enter and run_begin, with that token. what: enum aprof_about. */
#define APROF_GATE_about(ROW, with)                                                                \
  ROW(with, TELLS, about,                                                                          \
      (struct aprof_token *token, int what, int type, uint64_t value, uint64_t length),            \
      (token, what, type, value, length))

/* Behind run_begin, with its token: the run is part of the request whose root has this key (ns: its
   namespace). */
#define APROF_GATE_run_for(ROW, with)                                                              \
  ROW(with, TELLS, run_for,                                                                        \
      (struct aprof_token *token, uint64_t ns, uint64_t key0, uint64_t key1),                      \
      (token, ns, key0, key1))

/* Writes the W3C traceparent of the running request, 55 characters and a NUL, to `buffer`, or an
   empty text where there is none. */
#define APROF_GATE_token_out(ROW, with) ROW(with, TELLS, token_out, (char *buffer), (buffer))

/* All of them, in the order that a gate has them in. CALL(with, result, name, parameters) are
   those behind <aprof.h>. */
#define APROF_GATE_MEMBERS(EVENT, CALL, with)                                                      \
  APROF_GATE_enter(EVENT, with)                                                                    \
  APROF_GATE_leave(EVENT, with)                                                                    \
  APROF_GATE_suspend(EVENT, with)                                                                  \
  APROF_GATE_resume(EVENT, with)                                                                   \
  APROF_GATE_at(EVENT, with)                                                                       \
  APROF_GATE_run_begin(EVENT, with)                                                                \
  APROF_GATE_run_end(EVENT, with)                                                                  \
  APROF_GATE_span_begin(EVENT, with)                                                               \
  APROF_GATE_span_end(EVENT, with)                                                                 \
  APROF_GATE_create_begin(EVENT, with)                                                             \
  APROF_GATE_create_key(EVENT, with)                                                               \
  APROF_GATE_create_end(EVENT, with)                                                               \
  APROF_GATE_due(EVENT, with)                                                                      \
  APROF_GATE_wake(EVENT, with)                                                                     \
  APROF_GATE_wake_current(EVENT, with)                                                             \
  APROF_GATE_end(EVENT, with)                                                                      \
  APROF_GATE_end_current(EVENT, with)                                                              \
  APROF_GATE_idle_begin(EVENT, with)                                                               \
  APROF_GATE_idle_end(EVENT, with)                                                                 \
  APROF_GATE_switch_to(EVENT, with)                                                                \
  APROF_GATE_blocking_begin(EVENT, with)                                                           \
  APROF_GATE_blocking_end(EVENT, with)                                                             \
  APROF_GATE_here(EVENT, with)                                                                     \
  APROF_GATE_resync(EVENT, with)                                                                   \
  CALL(with, int, api_snapshot, (void))                                                            \
  CALL(with, int, api_enable, (int on))                                                            \
  CALL(with, int, api_reset, (void))                                                               \
  CALL(with, int, api_callback, (aprof_callback callback, void *arg))                              \
  CALL(with, void, api_clock_advance, (uint64_t ns))                                               \
  CALL(with, uint64_t, api_clock_now, (void))                                                      \
  APROF_GATE_label(EVENT, with)                                                                    \
  APROF_GATE_label_current(EVENT, with)                                                            \
  APROF_GATE_about(EVENT, with)                                                                    \
  APROF_GATE_run_for(EVENT, with)                                                                  \
  APROF_GATE_token_out(EVENT, with)                                                                \
  CALL(with, int, api_label, (const char *text))                                                   \
  CALL(with, int, api_token, (char *buffer))                                                       \
  CALL(with, int, api_token_set, (const char *traceparent))                                        \
  CALL(with, int, api_totals, (aprof_totals_callback callback, void *arg))

#define APROF_GATE_NO_CALL(with, result, name, parameters)
#define APROF_GATE_EVENTS(EVENT, with) APROF_GATE_MEMBERS(EVENT, APROF_GATE_NO_CALL, with)

#endif
