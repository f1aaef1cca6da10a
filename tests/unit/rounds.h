/* SPDX-License-Identifier: MIT */
/*
 * What the tests of fast events share: rounds of the same.
 *
 * Purpose: what runs again and again is without a general event from some round on, so a fast event
 * that turns away shows; and it leaves behind what general events do, record by record, event of
 * the trace by event, with the same totals, which is compared where the round asks for it
 * (alike_here) and behind the last one. What that is, the test says in totals. Cost: three
 * processes for each of them. Locking: as unit.h.
 */
#ifndef TESTS_UNIT_ROUNDS_H
#define TESTS_UNIT_ROUNDS_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../random/records.h"
#include "rt/rt.h"
#include "traced.h"

enum { NS = 7, KEY = 0xabc0, OTHER = 0xdef0 };

#define ROUNDS 20
#define WARM (int)(APROF_FEW + 4) /* rounds, until paths and histograms are there */

static inline uint64_t general_events(void) {
  uint64_t events = 0, fast = 0;
  records_tally(profile(), &events, &fast);
  return events - fast;
}

/* -- what general events make ------------------------------------------------------------ */

static bool by_general_events; /* all of this process */
static bool last_round;
static FILE *made_by_general; /* the rows of each place in which the last round looks */

static inline int number_of_thread(int32_t tid) {
  return tid == getpid() ? 1 : 2;
}

/* What of the thread decides how its next events count. */
static inline void add_thread(struct rows *rows) {
  const struct thread *t = aprof_self;
  uint64_t next = t->block->sequence + 2;
  rows_add(rows, "this thread", "slices", t->slice_count);
  rows_add(rows, "this thread", "free records", t->free_count);
  rows_add(rows, "this thread", "polled", t->polled_sequence == next ? t->polled_node : 0);
  rows_add(rows, "this thread", "ends", t->block->ends);
}

/* All that stands in the profile now is what general events make. */
static inline void alike_here(void) {
  struct rows rows = {0}, general = {0};
  if (!last_round)
    return;
  reader_thread_number = number_of_thread;
  records_rows(profile(), &rows);
  reader_rows(profile(), profile()->virtual_now, &rows);
  reader_request_rows(profile(), &rows);
  add_thread(&rows);
  if (by_general_events) {
    rows_print(&rows, made_by_general);
    fputs("\n", made_by_general);
    return;
  }
  rows_read(&general, made_by_general);
  ck_assert_uint_gt(general.count, 0);
  ck_assert_msg(rows_differ(&general, &rows, stderr) == 0, "general events make something else");
  rows_free(&rows);
  rows_free(&general);
}

/* -- events that are fast ------------------------------------------------------------------ */

static uint64_t turned_away; /* of these the general events, of the last rounds */

/* The bracket closes by a fast event, whatever else of its round is fast, as the general one does.
 */
static inline void closes_at(token *r, int how, struct aprof_site *where) {
  const struct aprof_block *b = aprof_self->block;
  uint64_t before = b->general_events;
  ran_at(r, how, where);
  turned_away += b->general_events - before;
  alike_here();
}

static inline void closes(token *r, int how) {
  closes_at(r, how, NULL);
}

/* -- rounds ------------------------------------------------------------------------------- */

#define FILLER(n)                                                                                  \
  {                                                                                                \
    .name = "filler" #n, .file = "unit.c", .line = n, .kind = APROF_SITE_FUNCTION,                 \
    .model = APROF_MODEL_STACK                                                                     \
  }
static struct aprof_site fillers[] = {FILLER(1), FILLER(2), FILLER(3), FILLER(4), FILLER(5)};
#define FILLERS (sizeof fillers / sizeof *fillers)

enum rounds {
  ALL_FAST,     /* no general event in the last of them */
  FAST_CLOSES,  /* none in what closes_at() makes there */
  GENERAL_ALIKE /* ... that nobody counts */
};

/* The general events of the last rounds, as far as these are to have none; `filled`: paths that are
   there before. */
static __attribute__((noinline)) uint64_t general_in_rounds(void (*round)(void), enum rounds kind,
                                                            size_t filled, bool looks) {
  token t;
  uint64_t before = 0;
  attach();
  for (size_t i = 0; i < filled; i++) {
    enter(&fillers[i], &t);
    leave(&t);
  }
  enter(&body, &t); /* the runtime shows nothing before its first future */
  leave(&t);
  if (by_general_events)
    rt.usual_epoch = &epoch_never;
  for (int i = 0; i < ROUNDS; i++) {
    if (i == WARM) {
      before = general_events();
      turned_away = 0;
    }
    last_round = looks && i == ROUNDS - 1;
    round();
    alike_here();
  }
  return kind == ALL_FAST ? general_events() - before : kind == FAST_CLOSES ? turned_away : 0;
}

/* In a process of its own: that status. */
static inline int rounds_apart(void (*round)(void), enum rounds kind, size_t filled, bool looks) {
  int status;
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    by_general_events = looks;
    bool any = general_in_rounds(round, kind, filled, looks) != 0;
    _exit(looks ? fflush(made_by_general) != 0 : any);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  return status;
}

/* Two paths may want one place in the thread's cache, which addresses and their numbers
   decide: a child tells with how many others before them they do not. One of general events makes
   what this process is held against. */
static inline void rounds_of(void (*round)(void), enum rounds kind) {
  size_t filled = 0;
  while (rounds_apart(round, kind, filled, false) != 0)
    ck_assert_msg(++filled < FILLERS, "a fast event turns away");
  bool looks = !suite_is_slow(); /* what that would find, the same program finds elsewhere */
  if (looks) {
    made_by_general = tmpfile();
    ck_assert_ptr_nonnull(made_by_general);
    ck_assert_int_eq(rounds_apart(round, kind, filled, true), 0);
    rewind(made_by_general);
  }
  ck_assert_uint_eq(general_in_rounds(round, kind, filled, looks), 0);
}

static inline void in_rounds(void (*round)(void)) {
  rounds_of(round, ALL_FAST);
}

/* What all wakers have to answer for: wakes that were waited for, and ns queued. */
static inline void expect_wakers(uint64_t wakes, uint64_t queued) {
  uint64_t count = 0, waiting = 0;
  for (uint32_t n = 1; n <= profile()->nodes; n++) {
    const struct aprof_node *node = element(APROF_CHUNK_NODES, n);
    if (node->is_await != APROF_NODE_WAKER || chunk_of(APROF_CHUNK_COUNTERS, n) == NULL)
      continue;
    const struct aprof_counters *c = element(APROF_CHUNK_COUNTERS, n);
    count += c->await.count;
    waiting += c->await.waiting;
  }
  ck_assert_uint_eq(count, wakes);
  ck_assert_uint_eq(waiting, queued);
}

/* A site like that one, on another line, which no event has named yet. */
static inline struct aprof_site another(const struct aprof_site *site) {
  static uint32_t lines;
  struct aprof_site one = *site;
  one.line += 1000 + lines++;
  one.id = one.instance = one.reserved = 0;
  return one;
}

/* -- equal ones: of KEY and OTHER ----------------------------------------------------------- */

static inline void new_equal(struct aprof_site *site, struct aprof_site *function) {
  token c;
  create(site, &c, function, NULL);
  gate.create_end(&c, KEY, OTHER, 1);
}

static inline void run_equal(struct aprof_site *site, token *r, struct aprof_site *function) {
  *r = (token){0};
  gate.run_begin(site, r, KEY, OTHER, function, NULL);
  ck_assert_uint_ne(r->word[0], 0);
}

/* -- a pool's thread ---------------------------------------------------------- */

static sem_t given, given_back;
static void (*to_do)(void);

static inline void *pool(void *unused) {
  for (;;) {
    while (sem_wait(&given) != 0)
      ;
    to_do();
    sem_post(&given_back);
  }
  return unused;
}

static inline void on_pool(void (*work)(void)) {
  static pid_t process; /* that the thread is in */
  if (process != getpid()) {
    pthread_t thread;
    process = getpid();
    sem_init(&given, 0, 0);
    sem_init(&given_back, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, pool, NULL), 0);
    pthread_detach(thread);
  }
  to_do = work;
  sem_post(&given);
  while (sem_wait(&given_back) != 0)
    ;
}

#endif
