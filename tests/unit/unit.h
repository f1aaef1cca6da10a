/* SPDX-License-Identifier: MIT */
/*
 * What the unit tests of the runtime share: a gate of their own, events sent as
 * instrumented code sends them, and the profile read back.
 *
 * Purpose: a test is a few events by hand and the numbers they must give. Time
 * is the virtual clock: pass (ns). Include it once per program.
 * Cost: Check runs each test in a process of its own, so each has a runtime that
 * has seen nothing. Locking: none.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../random/reader.h"
#include "../random/replay.h"
#include "../random/rows.h"
#include "aprof/abi.h"
#include "suite.h"

#define MS 1000000ull

static struct aprof_gate gate = {.flag = &gate.closed, .abi = APROF_ABI, .size = sizeof gate};

/* Sites: FUNCTION_SITE (parent), AWAIT_SITE (pause), ... name the variable and the
   place alike. */
#define SITE_(variable, kind_, model_, flags_, ns_)                                                \
  static struct aprof_site variable = {.name = #variable,                                          \
                                       .file = "unit.c",                                           \
                                       .line = __LINE__,                                           \
                                       .kind = kind_,                                              \
                                       .model = model_,                                            \
                                       .flags = flags_,                                            \
                                       .ns = ns_}
#define FUNCTION_SITE(name) SITE_(name, APROF_SITE_FUNCTION, APROF_MODEL_STACK, 0, 0)
#define FRAME_SITE(name) SITE_(name, APROF_SITE_FUNCTION, APROF_MODEL_FRAME, 0, 0)
#define CALLBACK_SITE(name) SITE_(name, APROF_SITE_FUNCTION, APROF_MODEL_CALLBACK, 0, 0)
#define AWAIT_SITE(name) SITE_(name, APROF_SITE_AWAIT, 0, 0, 0)
#define NAMES_SITE(name) SITE_(name, APROF_SITE_AWAIT, 0, APROF_NAMES, 0)
#define CALL_SITE(name) SITE_(name, APROF_SITE_CALL, 0, 0, 0)
#define RETURN_SITE(name) SITE_(name, APROF_SITE_RETURN, 0, 0, 0)
#define IDLE_SITE(name) SITE_(name, APROF_SITE_IDLE, 0, 0, 0)
#define CREATE_SITE(name, flags, ns) SITE_(name, APROF_SITE_CREATE, 0, flags, ns)
#define RUN_SITE(name, flags, ns) SITE_(name, APROF_SITE_RUN, 0, flags, ns)
#define WAKE_SITE(name, ns) SITE_(name, APROF_SITE_WAKE, 0, 0, ns)
#define END_SITE(name, ns) SITE_(name, APROF_SITE_END, 0, 0, ns)

/* -- events, as instrumented code makes them ---------------------------------- */

typedef struct aprof_token token;

static inline void attach(void) {
  ck_assert_int_eq(__aprof_attach(&gate), 0);
}

static bool unit_traced; /* and what the trace adds up to is what was counted */

/* Before a reset comes, say. */
static inline void unit_follow(void) {
  static const struct aprof_header *header;
  if (unit_traced && !header && (header = reader_find()) != NULL && header->traces)
    replay_from_start((struct aprof_header *)(uintptr_t)header);
  replay_follow();
}

static inline void pass(uint64_t ns) {
  gate.api_clock_advance(ns);
  unit_follow();
}

static inline void enter_as(struct aprof_site *function, token *t, const void *self) {
  *t = (token){0};
  if (*gate.flag)
    gate.enter(function, t, self);
}

static inline void enter(struct aprof_site *function, token *t) {
  enter_as(function, t, NULL);
}

static inline void leave_how(token *t, int how) {
  if (t->word[0])
    gate.leave(t, how);
  unit_follow();
}

static inline void leave(token *t) {
  leave_how(t, APROF_DONE);
}

static inline void suspend(struct aprof_site *await, token *t) {
  *t = (token){0};
  if (*gate.flag)
    gate.suspend(await, t);
}

static inline void resume(token *t) {
  if (t->word[0])
    gate.resume(t);
}

static inline void call_from(struct aprof_site *call) {
  if (*gate.flag)
    gate.at(call);
}

static inline void create(struct aprof_site *site, token *t, struct aprof_site *function,
                          const void *fn) {
  *t = (token){0};
  if (*gate.flag)
    gate.create_begin(site, t, function, fn);
}

static inline void created(token *t, uint64_t key, int ok) {
  if (t->word[0])
    gate.create_end(t, key, 0, ok);
}

/* A create with nothing inside its bracket. */
static inline void new_future(struct aprof_site *site, struct aprof_site *function, uint64_t key) {
  token t;
  create(site, &t, function, NULL);
  created(&t, key, 1);
}

static inline void run(struct aprof_site *site, token *t, uint64_t key,
                       struct aprof_site *function) {
  *t = (token){0};
  if (*gate.flag)
    gate.run_begin(site, t, key, 0, function, NULL);
}

static inline void ran_at(token *t, int how, struct aprof_site *where) {
  if (t->word[0])
    gate.run_end(t, how, where);
}

static inline void ran(token *t, int how) {
  ran_at(t, how, NULL);
}

/* A whole run, of somebody who has that key and is over with it. */
static inline void run_whole(struct aprof_site *site, uint64_t key, struct aprof_site *function,
                             uint64_t ns) {
  token r;
  run(site, &r, key, function);
  ck_assert_msg(r.word[0] != 0, "key %llx is not found", (unsigned long long)key);
  pass(ns);
  ran(&r, APROF_DONE);
}

static inline void wake(struct aprof_site *site, uint64_t key) {
  if (*gate.flag)
    gate.wake(site, key, 0);
}

static inline void end(struct aprof_site *site, uint64_t key, int how) {
  if (*gate.flag)
    gate.end(site, key, 0, how);
}

static inline void idle(struct aprof_site *site, token *t) {
  *t = (token){0};
  if (*gate.flag)
    gate.idle_begin(site, t);
}

static inline void idled(token *t) {
  if (t->word[0])
    gate.idle_end(t);
}

static inline void resync(token *t) {
  if (t->word[0])
    gate.resync(t);
}

/* -- the profile ------------------------------------------------------------- */

/* A process keeps its own; a child has another. */
static inline const struct aprof_header *profile(void) {
  static const struct aprof_header *header;
  static pid_t owner;
  if (owner != getpid()) {
    header = reader_find();
    owner = header ? getpid() : 0;
  }
  ck_assert_msg(header != NULL, "there is no profile");
  return header;
}

/* The chunk of that type that has the number; NULL where there is none. */
static inline const struct aprof_chunk *chunk_of(uint32_t type, uint32_t number) {
  const struct aprof_header *h = profile();
  for (uint64_t at = APROF_HEADER_SIZE; at < h->used;) {
    const struct aprof_chunk *chunk = (const void *)((const char *)h + at);
    if (chunk->type == type && number - chunk->first < chunk->count)
      return chunk;
    at += chunk->size;
  }
  return NULL;
}

static inline const void *element(uint32_t type, uint32_t number) {
  const struct aprof_chunk *chunk = chunk_of(type, number);
  ck_assert_ptr_nonnull(chunk);
  return (const char *)(chunk + 1) + (size_t)(number - chunk->first) * chunk->element;
}

/* What all threads have booked of a kind: sums; of lists the first that is there. */
static inline struct aprof_kind_part kind_sum(uint32_t number) {
  const struct aprof_header *h = profile();
  struct aprof_kind_part sum = {0};
  for (uint64_t at = APROF_HEADER_SIZE; at < h->used;) {
    const struct aprof_chunk *chunk = (const void *)((const char *)h + at);
    bool whole = chunk->type == APROF_CHUNK_KINDS;
    at += chunk->size;
    if ((!whole && chunk->type != APROF_CHUNK_KIND_PARTS) || number - chunk->first >= chunk->count)
      continue;
    const void *there = (const char *)(chunk + 1) + (number - chunk->first) * chunk->element;
    const struct aprof_kind_part *part =
        whole ? &((const struct aprof_kind *)there)->shared : there;
    if (part->epoch != h->reset_epoch)
      continue;
    sum.count += part->count;
    sum.failed += part->failed;
    sum.after += part->after;
    sum.after_exec += part->after_exec;
    sum.wall.sum += part->wall.sum;
    sum.exec.sum += part->exec.sum;
    sum.queued.sum += part->queued.sum;
    sum.waiting.sum += part->waiting.sum;
    sum.tiers = sum.tiers != 0 ? sum.tiers : part->tiers;
  }
  return sum;
}

/* The totals as of now: by path ("a > b"), or by function ("b"). */
static inline uint64_t total_of(const char *place, const char *what, bool by_path) {
  const struct aprof_header *header = profile();
  struct rows rows = {0};
  (by_path ? reader_rows : reader_function_rows)(header, header->virtual_now, &rows);
  uint64_t value = rows_get(&rows, place, what);
  rows_free(&rows);
  return value;
}

static inline uint64_t total(const char *function, const char *what) {
  return total_of(function, what, false);
}

#define expect(place, what, value)                                                                 \
  do {                                                                                             \
    uint64_t got_ = total_of(place, what, strchr(place, '>') != NULL);                             \
    ck_assert_msg(got_ == (uint64_t)(value), "%s, %s: expected %llu, got %llu", place, what,       \
                  (unsigned long long)(value), (unsigned long long)got_);                          \
  } while (0)

/* Counts and times of a function at once. */
#define expect_times(place, exec_, children_, wall_)                                               \
  do {                                                                                             \
    expect(place, "exec", exec_);                                                                  \
    expect(place, "children_exec", children_);                                                     \
    expect(place, "wall", wall_);                                                                  \
  } while (0)

/* -- the program ------------------------------------------------------------- */

/* Stands before those of a program's tests in which threads race for a while. They have the tag
   "race": who runs one thread at a time (valgrind) leaves them out. */
#define RACES NULL

/* The runtime reads its options when the first gate is filled. */
static inline int unit_main(const char *name, const TTest *const *tests, size_t count,
                            const char *options) {
  setenv("APROF_OPTIONS", options, 1);
  Suite *suite = suite_create(name);
  TCase *tcase = NULL;
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || tests[i] == RACES) {
      tcase = tcase_create(i == 0 ? name : "races");
      tcase_set_timeout(tcase, 60);
      suite_add_tcase(suite, tcase);
    }
    if (tests[i] != RACES)
      tcase_add_test(tcase, tests[i]);
    else
      tcase_set_tags(tcase, "race");
  }
  return suite_end(suite);
}

/* Each test once more, traced from the start on. */
static inline void unit_trace(void) {
  char options[256];
  snprintf(options, sizeof options, "%s,trace:flight=4M", getenv("APROF_OPTIONS"));
  setenv("APROF_OPTIONS", options, 1);
  unit_traced = true;
}

static inline void unit_compare(void) {
  unit_follow();
  ck_assert_msg(replay_differs(stderr) == 0, "the trace and the counters differ");
}

static inline int unit_traced_main(const char *name, const TTest *const *tests, size_t count,
                                   const char *options) {
  char traced[64];
  snprintf(traced, sizeof traced, "%s, traced", name);
  setenv("APROF_OPTIONS", options, 1);
  Suite *suite = suite_create(name);
  TCase *cases[2] = {tcase_create(name), tcase_create(traced)};
  tcase_add_checked_fixture(cases[1], unit_trace, unit_compare);
  for (unsigned i = 0; i < 2; i++) {
    tcase_set_timeout(cases[i], 60);
    suite_add_tcase(suite, cases[i]);
    for (size_t j = 0; j < count; j++)
      tcase_add_test(cases[i], tests[j]);
  }
  return suite_end(suite);
}

#define UNIT_OPTIONS "clock:virtual,profile:memfd,exit:no,signal:none"
#define UNIT_TRACED_MAIN(name, ...)                                                                \
  int main(void) {                                                                                 \
    const TTest *const tests[] = {__VA_ARGS__};                                                    \
    return unit_traced_main(name, tests, sizeof tests / sizeof *tests, UNIT_OPTIONS);              \
  }
#define UNIT_MAIN(name, ...)                                                                       \
  int main(void) {                                                                                 \
    const TTest *const tests[] = {__VA_ARGS__};                                                    \
    return unit_main(name, tests, sizeof tests / sizeof *tests, UNIT_OPTIONS);                     \
  }

#endif
