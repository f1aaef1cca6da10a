/* SPDX-License-Identifier: MIT */
/*
 * What threads, and readers of a killed process, share: each protocol of rt/ as a few instructions,
 * all ways of which hold, and each of whose fences is needed: without it there is a way that does
 * not.
 */
#include <check.h>
#include <stdlib.h>

#include "litmus.h"

/* -- who may run a future (owner.c, grace.c, fast events) ------------------- */

/*
 * Thread 0 runs its future by a look at the lease, no more; thread 1 takes the lease to end the
 * future, and may not find it at rest and end it if the other one has begun to run it. That an
 * event has begun is a plain store: thread_settles waits until it can be seen.
 */
enum { SEQUENCE, LEASE, STATE };
enum { AT_REST = 0, RUNS = 1, MINE = 1, NOBODY = 0 };
enum { RAN, TOOK, ENDED };
enum { OUT = 1, AGAIN };
static bool one_of_them(struct litmus_end end) {
  return !(end.reg[0][RAN] == 1 && end.reg[1][ENDED] == 1);
}
static const struct litmus lease = {
    .name = "a lease is taken away (future_hold)",
    .word = {[LEASE] = MINE},
    .thread = {{ST(SEQUENCE, 1), LD(0, LEASE), UNLESS(0, MINE, OUT), ST(STATE, RUNS), FENCE,
                LABEL(OUT), ST(SEQUENCE, 2)},
               {CAS(TOOK, LEASE, MINE, NOBODY), SETTLE, LABEL(AGAIN), LD(0, SEQUENCE),
                IF(0, 1, AGAIN), LD(0, STATE), IF(0, RUNS, OUT), CAS(ENDED, LEASE, NOBODY, NOBODY),
                LABEL(OUT)}},
    .holds = one_of_them,
};

/* -- an end that is asked for while the future runs (future_asked) ---------- */

/*
 * Thread 0 closes the bracket: it ends the future if that was asked, else leaves it at rest. Thread
 * 1 asks; where the other one has just missed that, it takes the word back and ends the future
 * itself.
 */
enum { ENDING = LEASE, ASKED = 1 };
enum { SEEN, SELF };
static bool ended_once(struct litmus_end end) {
  return end.reg[0][SEEN] + (end.reg[1][SELF] == 1) == 1;
}
static const struct litmus asked = {
    .name = "an end is asked for (future_asked)",
    .word = {[STATE] = RUNS},
    .thread = {{ST(SEQUENCE, 1), LD(SEEN, ENDING), IF(SEEN, ASKED, OUT), ST(STATE, AT_REST), FENCE,
                LABEL(OUT), ST(SEQUENCE, 2)},
               {SWAP(0, ENDING, ASKED), SETTLE, LABEL(AGAIN), LD(0, SEQUENCE), IF(0, 1, AGAIN),
                LD(0, STATE), IF(0, RUNS, OUT), CAS(SELF, ENDING, ASKED, 0), LABEL(OUT)}},
    .holds = ended_once,
};

/* -- births and ends in a killed process (record.h, end.h; the reader's settle) */

/* What has an id is whole. */
enum { ID, NODE, TICK };
static bool whole_or_none(struct litmus_end end) {
  return end.reg[1][0] == 0 || (end.reg[1][1] == 7 && end.reg[1][2] == 9);
}
static const struct litmus born = {
    .name = "a future is born (future_new)",
    .kills = true,
    .thread = {{ST(NODE, 7), ST(TICK, 9), FENCE, ST(ID, 1)}, {LD(0, ID), LD(1, NODE), LD(2, TICK)}},
    .holds = whole_or_none,
};

/*
 * One that runs ends: what there was in `done` is noted, its id goes, it is counted, its record is
 * free. Where the process was killed in between, the reader counts it unless `done` says that it
 * was.
 */
enum { ENDS = 3, DONE, FREED };
enum { R_ID, R_STATE, R_ENDS, R_DONE };
static bool counted_once(struct litmus_end end) {
  const uint8_t *r = end.reg[1];
  bool lives = r[R_ID] != 0; /* it is counted as one that ran when all ended */
  bool reader = !lives && r[R_STATE] == RUNS && r[R_ENDS] == r[R_DONE];
  return r[R_DONE] - 5 + lives + reader == 1;
}
static const struct litmus over = {
    .name = "what runs ends (fast_disown, future_end)",
    .kills = true,
    .word = {[ID] = 1, [STATE] = RUNS, [DONE] = 5},
    .thread = {{LD(0, DONE), PUT(ENDS, 0, 0), FENCE, ST(ID, 0), FENCE, PUT(DONE, 0, 1), FENCE,
                ST(STATE, AT_REST)},
               {KILLED, LD(R_ID, ID), LD(R_STATE, STATE), LD(R_ENDS, ENDS), LD(R_DONE, DONE)}},
    .holds = counted_once,
};

/* -- the slowest requests (request/slow.c) ---------------------------------- */

enum { FIRST = 1, SECOND };
static bool of_one_writing(struct litmus_end end) {
  const uint8_t *r = end.reg[1];
  return r[0] != r[3] || (r[0] & 1) || r[1] == r[2];
}
static const struct litmus slow = {
    .name = "a slow request is written (write_slow)",
    .word = {[SEQUENCE] = 2, [FIRST] = 1, [SECOND] = 1},
    .thread = {{ST(SEQUENCE, 3), FENCE, ST(FIRST, 2), ST(SECOND, 2), FENCE, ST(SEQUENCE, 4)},
               {LD(0, SEQUENCE), LD(1, FIRST), LD(2, SECOND), LD(3, SEQUENCE)}},
    .holds = of_one_writing,
};

/* -- a full segment of keys is replaced (future/key.c) ---------------------- */

/* Thread 0 inserts into the segment that it found; thread 1 shows a new one, then copies. */
enum { DIRECTORY, OLD, NEW };
static bool is_there(struct litmus_end end) {
  return end.word[NEW] == 1;
}
static const struct litmus replaced = {
    .name = "keys are copied (key_insert, replace_locked)",
    .thread = {{LABEL(AGAIN), LD(0, DIRECTORY), IF(0, 1, OUT), CAS(1, OLD, 0, 1), LD(0, DIRECTORY),
                IF(0, 0, 3), LABEL(OUT), CAS(1, NEW, 0, 1), LABEL(3)},
               {ST(DIRECTORY, 1), FULL, LD(0, OLD), IF(0, 0, OUT), CAS(1, NEW, 0, 1), LABEL(OUT)}},
    .holds = is_there,
};

/* -- the trace (rt/trace/ring.c; who copies a ring from another process) ------ */

/*
 * A ring of one event, of two words, whose laps they have, overwritten by the next one. What the
 * head counts is there, or is newer, which its laps tell: nothing that is older passes for it.
 */
enum { WORD, OTHER_WORD, RING_HEAD };
static bool none_is_older(struct litmus_end end) {
  return end.reg[1][1] >= end.reg[1][0] && end.reg[1][2] >= end.reg[1][0];
}
static const struct litmus traced = {
    .name = "an event is in the ring (trace_put)",
    .kills = true,
    .thread = {{ST(WORD, 1), ST(OTHER_WORD, 1), FENCE, ST(RING_HEAD, 1), ST(WORD, 2),
                ST(OTHER_WORD, 2), FENCE, ST(RING_HEAD, 2)},
               {LD(0, RING_HEAD), LD(1, WORD), LD(2, OTHER_WORD)}},
    .holds = none_is_older,
};

static const struct litmus *const all[] = {&lease, &asked, &born, &over, &slow, &replaced, &traced};
#define ALL (int)(sizeof all / sizeof all[0])

START_TEST(holds) {
  struct litmus_found found = litmus_try(all[_i], -1);
  ck_assert_msg(found.ends > 0 && found.broken == 0, "%s: %u of %u ends do not hold", all[_i]->name,
                found.broken, found.ends);
}
END_TEST

START_TEST(each_barrier_is_needed) {
  int barriers = litmus_barriers(all[_i]);
  ck_assert_int_gt(barriers, 0);
  for (int b = 0; b < barriers; b++)
    ck_assert_msg(litmus_try(all[_i], b).broken > 0, "%s: it holds without barrier %d, too",
                  all[_i]->name, b);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("litmus");
  TCase *test = tcase_create("protocols");
  tcase_set_timeout(test, 120);
  tcase_add_loop_test(test, holds, 0, ALL);
  tcase_add_loop_test(test, each_barrier_is_needed, 0, ALL);
  suite_add_tcase(suite, test);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
