/* SPDX-License-Identifier: MIT */
/* A ring of equal keys by itself: its counter goes round, and one step is halted between any two of
   its instructions while others are made. */
#include <signal.h>
#include <ucontext.h>

#include "unit.h"

#include "rt/future/key-ring.h"
#include "rt/future/key.h"

CALLBACK_SITE(request);
enum { NS = 1, LAPS = 65536 };
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

#if defined __x86_64__ && !defined __SANITIZE_THREAD__ /* its handlers wait */

#define TRAP_FLAG 0x100ul

static volatile unsigned until; /* instructions */
static volatile bool halted;

static bool is_put_in(const struct aprof_future *f) {
  for (unsigned i = 0; i < RING; i++)
    if (ring()->entry[i] == entry_of(f))
      return true;
  return false;
}

/* Before its next instruction others make so many steps that 16 bits are as they were. */
static void trapped(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  if (until != 0) {
    until = until - 1;
    return;
  }
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(long long)TRAP_FLAG;
  halted = true;
  if (!is_put_in(record[2])) /* else it stands at the front, and all others behind it */
    steps(LAPS);
}

static void traps(bool on) {
  unsigned long flags = __builtin_ia32_readeflags_u64() & ~TRAP_FLAG;
  __builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags);
  __asm__ volatile("" ::: "memory");
}

/* What the others have put in, at any of its instructions, is there, and so is its own. */
static void halt_in_a_step(bool of_another, bool (*step)(uint32_t)) {
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
  uint32_t mine = of_another ? ~hash >> 4 << 4 | hash % RINGS : hash;
  sigaction(SIGTRAP, &action, NULL);
  ring_of_one();
  unsigned at = 0;
  do {
    record[2]->id++;
    steps(2);
    ring_trim(mine);
    last_is_over();
    halted = false;
    until = at++;
    traps(true);
    bool in = step(mine);
    traps(false);
    ck_assert_msg(!last_lives || is_found(last, hash), "lost at instruction %u", at);
    ck_assert_msg(is_found(record[2], mine) == in, "lost itself at instruction %u", at);
  } while (halted);
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

UNIT_MAIN("key_ring", head_goes_round, RACES, halted_while_one_leaves, halted_while_one_comes,
          halted_while_one_of_another_key_comes)
#else
UNIT_MAIN("key_ring", head_goes_round)
#endif
