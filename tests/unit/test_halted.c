/* SPDX-License-Identifier: MIT */
/* One thread is halted before any of the instructions of what it does, while others are at work. */
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "unit.h"

#include "rt/future/key-ring.h"
#include "rt/future/key.h"

CALLBACK_SITE(request);
enum { NS = 1, OTHER_NS = 2, LAPS = 65536 };
CREATE_SITE(create_it, APROF_ONCE, NS);
static const uint32_t hash = 0x12345678;

static struct ring *ring(void) {
  return ring_for(hash);
}

/* The first two are, in turn, a new future's at each step, which lives until the next one stands
   behind it. The third is the one's that is halted. */
static struct aprof_future *record[3], *last;
static bool last_lives;

static void last_is_over(void) {
  if (last_lives)
    last->id++;
  last_lives = false;
}

static void steps(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    struct aprof_future *next = last == record[0] ? record[1] : record[0];
    next->id++;
    if (!ring_append(hash, next))
      ck_abort_msg("there is no room");
    last_is_over();
    last = next;
    last_lives = true;
    ring_trim(hash);
  }
}

static void ring_of_one(void) {
  attach();
  for (unsigned i = 0; i < 3; i++) {
    new_future(&create_it, &request, 16 * i);
    record[i] = key_find(16 * i, 0, NS);
    ck_assert_ptr_nonnull(record[i]);
  }
  steps(1);
}

static bool is_found(const struct aprof_future *f, uint32_t of) {
  uint64_t state = ring()->state;
  for (uint32_t i = 0; i < ring_count(state, of); i++)
    if (ring_future(ring(), state, i) == f)
      return true;
  return false;
}

START_TEST(head_goes_round) {
  ring_of_one();
  ring()->state |= UINT64_MAX << 31; /* the same place, in the last lap */
  for (unsigned i = 0; i < 3 * RING; i++) {
    steps(1);
    ck_assert_uint_eq(ring_count(ring()->state, hash), 1);
    ck_assert(is_found(last, hash));
  }
  ck_assert_uint_lt(ring()->state >> 24, 3 * RING);
}
END_TEST

/* -- halted ----------------------------------------------------------------------------- */

/* Under ThreadSanitizer handlers wait, and under AddressSanitizer there are many instructions more.
 */
#if defined __x86_64__ && !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__

#define TRAP_FLAG 0x100ul

static volatile unsigned until; /* instructions */
static volatile bool halted;
static void (*volatile others)(void);

/* Before its next instruction others are at work. */
static void trapped(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  if (until != 0) {
    until = until - 1;
    return;
  }
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(long long)TRAP_FLAG;
  halted = true;
  others();
}

static void traps(bool on) {
  unsigned long flags = __builtin_ia32_readeflags_u64() & ~TRAP_FLAG;
  __builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags);
  __asm__ volatile("" ::: "memory");
}

/* From here on, until halt_over. */
static void halt_at(unsigned instruction, void (*meanwhile)(void)) {
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  others = meanwhile;
  halted = false;
  until = instruction;
  traps(true);
}

/* False: all instructions have been. */
static bool halt_over(void) {
  traps(false);
  return halted;
}

static bool is_put_in(const struct aprof_future *f) {
  for (unsigned i = 0; i < RING; i++)
    if (ring()->entry[i] == entry_of(f))
      return true;
  return false;
}

/* So many that 16 bits are as they were; not behind one that stands at the front. */
static void steps_of_others(void) {
  if (!is_put_in(record[2]))
    steps(LAPS);
}

/* What the others have put in, at any of its instructions, is there, and so is its own. */
static void halt_in_a_step(bool of_another, bool (*step)(uint32_t)) {
  uint32_t mine = of_another ? ~hash >> 4 << 4 | hash % RINGS : hash;
  bool more = true;
  unsigned at = 0;
  ring_of_one();
  for (; more; at++) {
    record[2]->id++;
    steps(2);
    ring_trim(mine);
    last_is_over();
    halt_at(at, steps_of_others);
    bool in = step(mine);
    more = halt_over();
    ck_assert_msg(!last_lives || is_found(last, hash), "lost at instruction %u", at);
    ck_assert_msg(is_found(record[2], mine) == in, "lost itself at instruction %u", at);
  }
  ck_assert_uint_gt(at, 20);
}

static bool leaves(uint32_t of) {
  ring_trim(of);
  return false;
}

static bool comes(uint32_t of) {
  return ring_append(of, record[2]);
}

START_TEST(halted_while_one_leaves) {
  halt_in_a_step(false, leaves);
}
END_TEST

START_TEST(halted_while_one_comes) {
  halt_in_a_step(false, comes);
}
END_TEST

START_TEST(halted_while_one_of_another_key_comes) {
  halt_in_a_step(true, comes);
}
END_TEST

/* -- a body that another thread ends while the bracket of its create closes ----------------- */

FUNCTION_SITE(body);
AWAIT_SITE(pause_it);
CREATE_SITE(spawn, 0, NS);
CREATE_SITE(create_other, APROF_ONCE, OTHER_NS);
END_SITE(end_other, OTHER_NS);
enum { KEY = 0x7f00, OTHER_KEY = 0x8000, PATIENCE_NS = 200000 };

static token enters, waits;
static unsigned turn, turns_over; /* odd: the other thread's */

/* It has the record that it frees. */
static void *ends_elsewhere(void *unused) {
  for (unsigned i = 1;; i++) {
    unsigned now;
    while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) < i)
      sched_yield();
    if (now == UINT32_MAX)
      return unused;
    resume(&waits);
    leave(&enters);
    new_future(&create_other, &request, OTHER_KEY);
    __atomic_store_n(&turns_over, i, __ATOMIC_RELEASE);
  }
}

static bool is_over(void) {
  return __atomic_load_n(&turns_over, __ATOMIC_ACQUIRE) == turn;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* It may wait for the one that is halted. */
static void other_has_its_turn(void) {
  __atomic_store_n(&turn, turn + 1, __ATOMIC_RELEASE);
  uint64_t from = now_ns();
  while (!is_over() && now_ns() - from < PATIENCE_NS)
    sched_yield();
}

/* The key is not written into the record of whoever has it then. */
START_TEST(halted_while_its_body_ends) {
  attach();
  pthread_t thread;
  pthread_create(&thread, NULL, ends_elsewhere, NULL);
  bool more = true;
  unsigned at = 0;
  for (; more; at++) {
    token c;
    create(&spawn, &c, &body, NULL);
    enter(&body, &enters);
    suspend(&pause_it, &waits);
    halt_at(at, other_has_its_turn);
    created(&c, KEY, 1);
    more = halt_over();
    if (!more)
      other_has_its_turn();
    while (!is_over())
      sched_yield();
    ck_assert_ptr_null(key_find(KEY, 0, NS));
    ck_assert_msg(key_find(OTHER_KEY, 0, OTHER_NS) != NULL, "lost at instruction %u", at);
    end(&end_other, OTHER_KEY, APROF_DONE);
  }
  __atomic_store_n(&turn, UINT32_MAX, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  ck_assert_uint_gt(at, 100);
  expect("body", "done", at);
  expect("request", "done", at);
  expect("health", "missed", 0);
}
END_TEST

UNIT_MAIN("halted", head_goes_round, RACES, halted_while_one_leaves, halted_while_one_comes,
          halted_while_one_of_another_key_comes, halted_while_its_body_ends)
#else
UNIT_MAIN("halted", head_goes_round)
#endif
