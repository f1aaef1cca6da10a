/* SPDX-License-Identifier: MIT */
/*
 * random: random async programs, run by the runtime and by the model.
 *
 *     random [--seed N] [--count N] [--flavour N] [--most N] [--shed STEP] [--mutate | --alike]
 *            [--verbose]
 *
 * Each program runs in a process of its own, to its end and up to somewhere: what lives then
 * is in some state. The profile is read by a reader of these tests, and by the command's
 * (command.h). A difference prints the seed, the
 * shortest program found that shows it, and both numbers; the exit status is 1.
 * --flavour 1 are programs with requests that begin with roots, 2 with requests that begin behind
 * background waits, 3 those of coroutines (enum flavour); --most N: of which the runtime follows so
 * many at a time.
 * --shed runs them on threads that shed detail, up to that step (a number of enum
 * aprof_step), and compares the rest.
 * --mutate also runs each program with each event dropped or doubled in turn:
 * the runtime must then agree with the model of the broken program. Where that
 * has the same totals as the sound one the event is counted as unseen: twice the
 * same closing event, a wake of what runs, a call site that is not used.
 * --alike runs each program twice instead, by fast events and by general ones, and compares all
 * that they leave behind (alike.h); also those of --flavour 4, which do what the model does not
 * know. Without arguments: a fixed range, another one, broken programs, some of rare shapes, and
 * some that run twice.
 */
#include "alike.h"
#include "command.h"
#include "execute.h"
#include "model.h"
#include "recorded.h"
#include "replay.h"
#include "shed.h"
#include "shrink.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of a mutation, by kind of event: how often made, and how often without any
   trace in the totals. */
struct tally {
  unsigned made, unseen;
};

static struct tally dropped[OP_KINDS], doubled[OP_KINDS];
static const char unlike_model[] = "runtime and model differ";
static uint32_t most = APROF_REQUESTS; /* requests that are followed at a time */

/* Run, read, compare with what the model says. */
static enum outcome compare_here(const struct program *program, bool quiet) {
  struct rows wanted = {0}, got = {0};
  enum model_verdict verdict = model_run(program, &wanted);
  if (verdict == MODEL_UNBALANCED)
    fprintf(stderr, "random: the model's own books do not balance\n");
  if (verdict != MODEL_CERTAIN)
    return verdict == MODEL_AMBIGUOUS ? OPEN : BROKEN;
  if (!execute(program, &got))
    return BROKEN;
  shed_rows(&wanted, program->shed);
  shed_rows(&got, program->shed);
  unsigned differ = rows_differ(&wanted, &got, quiet ? NULL : stderr);
  differ += replay_differs(quiet ? NULL : stderr);
  if (!program->shed) { /* these are made of what is there */
    differ += recorded_differs(quiet ? NULL : stderr);
    differ += command_differs(&wanted, quiet ? NULL : stderr);
  }
  return differ ? DIFFER : AGREE;
}

static enum outcome compare(const struct program *program, bool quiet) {
  return judged_apart(compare_here, program, quiet);
}

/* -- mutations --------------------------------------------------------------- */

static void drop(struct program *into, const struct program *from, uint32_t i) {
  *into = *from;
  into->ops[i].dropped = true;
}

static bool twice(struct program *into, const struct program *from, uint32_t i) {
  if (from->count == PROGRAM_MAX)
    return false;
  *into = *from;
  memmove(&into->ops[i + 1], &into->ops[i], (from->count - i) * sizeof *from->ops);
  into->count++;
  into->ops[i + 1].dt = 0;
  into->ops[i + 1].record = RECORD_NOTHING;
  return true;
}

static bool same_totals(const struct program *a, const struct program *b) {
  struct rows left = {0}, right = {0};
  model_run(a, &left);
  model_run(b, &right);
  bool same = rows_differ(&left, &right, NULL) == 0;
  rows_free(&left);
  rows_free(&right);
  return same;
}

/* The runtime must follow the broken program. So its totals pass for those of the
   sound one only where the model, too, says they are the same. */
static bool check_mutation(const struct program *sound, const struct program *broken,
                           struct tally *tally, uint32_t i, const char *how) {
  tally->made++;
  tally->unseen += same_totals(sound, broken);
  enum outcome outcome = compare(broken, true);
  if (outcome != DIFFER && outcome != BROKEN)
    return true;
  char what[64];
  snprintf(what, sizeof what, " with event %u %s", i, how);
  report(broken, what, compare, unlike_model);
  return false;
}

static bool check_mutations(const struct program *program) {
  static struct program broken;
  for (uint32_t i = 0; i < program->count; i++) {
    unsigned kind = program->ops[i].kind;
    if (kind == OP_NOP)
      continue;
    drop(&broken, program, i);
    if (!check_mutation(program, &broken, &dropped[kind], i, "dropped"))
      return false;
    if (twice(&broken, program, i) &&
        !check_mutation(program, &broken, &doubled[kind], i, "doubled"))
      return false;
  }
  return true;
}

/* No kind of event may be missing, nor begin twice, without a trace: only single
   ones of it, such as the await of no time at all in a program's last event. */
static bool check_tallies(void) {
  bool good = true;
  printf("event          dropped unseen   doubled unseen\n");
  for (unsigned kind = 1; kind < OP_KINDS; kind++) {
    struct tally *once = &dropped[kind], *more = &doubled[kind];
    if (!once->made)
      continue;
    printf("%-14s %7u %6u   %7u %6u\n", op_name(kind), once->made, once->unseen, more->made,
           more->unseen);
    bool matters = (op_opens(kind) || op_closes(kind)) && kind != OP_ABOUT && kind != OP_RUN_FOR;
    if (matters && ((once->made > 20 && once->unseen * 4 > once->made * 3) ||
                    (op_opens(kind) && more->made > 20 && more->unseen == more->made)))
      good = false;
  }
  if (!good)
    printf("random: a kind of event may be missing, or come twice, without a trace\n");
  return good;
}

/* -- programs ---------------------------------------------------------------- */

static void usage(FILE *file) {
  fputs("Usage: random [--seed N] [--count N] [--flavour N] [--most N] [--shed STEP]\n"
        "              [--mutate | --alike] [--verbose]\n"
        "       random [--fresh]\n"
        "Runs random async programs against the runtime and an independent model: without options\n"
        "always the same ones; --fresh: many more, of which most have never been seen.\n",
        file);
}

/* The runtime reads its options when it is loaded: they must be there before. */
static void with_options(char **argv) {
  char options[128];
  int length = snprintf(options, sizeof options, "clock:virtual,profile:memfd,exit:no,signal:none");
  if (most != APROF_REQUESTS)
    snprintf(options + length, sizeof options - (size_t)length, ",requests:%u", most);
  const char *now = getenv("APROF_OPTIONS");
  if (now && strcmp(now, options) == 0)
    return;
  setenv("APROF_OPTIONS", options, 1);
  execv("/proc/self/exe", argv);
  perror("random: exec");
  exit(2);
}

/* A process takes ten times as long to start and end under ThreadSanitizer, and a broken
   program is hundreds of them; under AddressSanitizer four times. --fresh runs all of them. */
#if defined __SANITIZE_THREAD__
#define SHARE 30
#define BROKEN_ONES 0
#elif defined __SANITIZE_ADDRESS__
#define SHARE 70
#define BROKEN_ONES 2
#else
#define SHARE 200
#define BROKEN_ONES 4
#endif
#define WHOLE 500

#define MUTATED_MOST 200 /* events: each is two processes */

static uint64_t passed, failed;

static const char *const step_names[APROF_STEPS] = {"", ", no histograms", ", no paths",
                                                    ", a coarse clock", ", counts only"};

static const char *const flavours[] = {"", " with requests", " with requests of no root",
                                       " of coroutines", " of any events"};

static void run_range(enum flavour flavour, uint64_t seed, uint64_t count, bool mutate,
                      uint32_t step) {
  static struct program program, begun;
  uint64_t events = 0, open_ones = 0, done = 0, before = failed;
  for (; done < count && failed < before + 3; done++) {
    program_generate(&program, seed + done, flavour);
    program.most = most;
    program_record(&program);
    shed_program(&program, step);
    events += program.count;
    enum outcome outcome = compare(&program, true), half;
    open_ones += outcome == OPEN;
    begun = program;
    begun.count = 1 + (uint32_t)((seed + done) * 2654435761u % begun.count);
    program_record(&begun);
    if (outcome == DIFFER || outcome == BROKEN) {
      report(&program, "", compare, unlike_model);
      failed++;
    } else if ((half = compare(&begun, true)) == DIFFER || half == BROKEN) {
      report(&begun, ", up to somewhere", compare, unlike_model);
      failed++;
    } else if (mutate && program.count <= MUTATED_MOST && outcome == AGREE &&
               !check_mutations(&program)) {
      failed++;
    }
  }
  if (mutate && !check_tallies())
    failed++;
  passed += done - (failed - before < done ? failed - before : done);
  printf(
      "random: %llu programs%s from seed %llu%s%s, %llu events, %llu left open by the semantics\n",
      (unsigned long long)done, flavours[flavour], (unsigned long long)seed,
      mutate ? ", each broken" : "", step_names[step], (unsigned long long)events,
      (unsigned long long)open_ones);
}

/* By fast events and by general ones. */
static void run_alike(enum flavour flavour, uint64_t seed, uint64_t count, uint32_t step) {
  static struct program program;
  struct alike_tally before = *alike_tally;
  uint64_t done = 0, wrong = 0, once = 0;
  for (; done < count && wrong < 3; done++) {
    program_generate(&program, seed + done, flavour);
    program.most = most;
    if (flavour != FLAVOUR_ANY) /* what its rounds leave behind goes on in the next */
      program.rounds = 1 + 4000 / program.count;
    program.traced = done % 4 < 2 ? TRACE_NOTHING : done % 4 == 2 ? TRACE_ALL : TRACE_SOME;
    shed_program(&program, step);
    if (alike(&program, true) == AGREE)
      continue;
    if (alike(&program, true) == AGREE) { /* it waits for a thread that lost its processor */
      printf("random: program %llu differed once, and does not again\n",
             (unsigned long long)(seed + done));
      once++;
      continue;
    }
    report(&program, "", alike, "fast and general events differ");
    wrong++;
  }
  if (once > 1 + done / 50) {
    printf("random: %llu programs differed once\n", (unsigned long long)once);
    wrong++;
  }
  uint64_t events = alike_tally->events - before.events, fast = alike_tally->fast - before.fast;
  if (fast * 100 < events * ALIKE_FAST_LEAST) {
    printf("random: too few events are fast to tell anything\n");
    wrong++;
  }
  failed += wrong;
  passed += done - (wrong < done ? wrong : done);
  printf("random: %llu programs%s from seed %llu%s, by fast events and general ones: of %llu "
         "events %llu are fast\n",
         (unsigned long long)done, flavours[flavour], (unsigned long long)seed, step_names[step],
         (unsigned long long)events, (unsigned long long)fast);
}

/* Programs of rare shapes: each once showed what no other one had. */
static void run_rare(void) {
  static const struct {
    enum flavour flavour;
    uint64_t seed;
  } rare[] = {
      {FLAVOUR_PLAIN, 900772},    {FLAVOUR_ROOTS, 7314},      {FLAVOUR_ROOTS, 8632},
      {FLAVOUR_IMPLICIT, 8008},   {FLAVOUR_IMPLICIT, 8086},   {FLAVOUR_IMPLICIT, 8418},
      {FLAVOUR_IMPLICIT, 60336},  {FLAVOUR_IMPLICIT, 61038},  {FLAVOUR_IMPLICIT, 100692},
      {FLAVOUR_IMPLICIT, 103712}, {FLAVOUR_IMPLICIT, 200914}, {FLAVOUR_ROOTS, 202370},
      {FLAVOUR_IMPLICIT, 302903},
  };
  for (unsigned i = 0; i < sizeof rare / sizeof *rare; i++)
    run_range(rare[i].flavour, rare[i].seed, 1, false, APROF_STEP_NONE);
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"seed", required_argument, NULL, 's'},
      {"count", required_argument, NULL, 'c'},
      {"mutate", no_argument, NULL, 'm'},
      {"fresh", no_argument, NULL, 'F'},
      {"verbose", no_argument, NULL, 'v'},
      {"flavour", required_argument, NULL, 'f'},
      {"most", required_argument, NULL, 'n'},
      {"shed", required_argument, NULL, 'S'},
      {"alike", no_argument, NULL, 'a'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  uint64_t seed = 1, count = 1000;
  uint32_t step = APROF_STEP_NONE;
  enum flavour flavour = FLAVOUR_PLAIN;
  bool mutate = false, fresh = false, twice_each = false;
  int option;
  while ((option = getopt_long(argc, argv, "s:c:f:n:S:Famvh", options, NULL)) != -1) {
    if (option == 's')
      seed = strtoull(optarg, NULL, 0);
    else if (option == 'c')
      count = strtoull(optarg, NULL, 0);
    else if (option == 'S' && strtoul(optarg, NULL, 0) < APROF_STEPS)
      step = (uint32_t)strtoul(optarg, NULL, 0);
    else if (option == 'f' && strtoul(optarg, NULL, 0) <= FLAVOUR_ANY)
      flavour = (enum flavour)strtoul(optarg, NULL, 0);
    else if (option == 'n')
      most = (uint32_t)strtoul(optarg, NULL, 0);
    else if (option == 'a')
      twice_each = true;
    else if (option == 'm')
      mutate = true;
    else if (option == 'v')
      report_all = true;
    else if (option == 'F')
      fresh = true;
    else
      return usage(option == 'h' ? stdout : stderr), option == 'h' ? 0 : 2;
  }
  if (flavour == FLAVOUR_ANY && !twice_each) {
    fputs("random: no model knows what programs of any events do; with --alike they run\n", stderr);
    return 2;
  }
  with_options(argv);
  places_init();
  alike_init();
  const uint64_t first = fresh ? (uint64_t)time(NULL) * 1000 : 100000;
  if (twice_each && !fresh) {
    run_alike(flavour, seed, count, step);
  } else if (argc > 1 && !fresh) {
    run_range(flavour, seed, count, mutate, step);
  } else { /* as a test: always the same ones, at each step too, and broken ones */
    const uint64_t share = fresh ? WHOLE : SHARE;
    run_range(FLAVOUR_PLAIN, 1, 3 * share, false, APROF_STEP_NONE);
    run_range(FLAVOUR_PLAIN, first, share, false, APROF_STEP_NONE);
    for (step = APROF_STEP_HISTOGRAMS; step < APROF_STEPS; step++)
      run_range(FLAVOUR_PLAIN, first, share / 4, false, step);
    if (BROKEN_ONES > 0)
      run_range(FLAVOUR_PLAIN, 1, BROKEN_ONES, true, APROF_STEP_NONE);
    run_range(FLAVOUR_ROOTS, 1, share / 5, false, APROF_STEP_NONE);
    run_range(FLAVOUR_IMPLICIT, 1, share / 5, false, APROF_STEP_NONE);
    run_range(FLAVOUR_STACKS, 1, share / 5, false, APROF_STEP_NONE);
    run_rare();
    run_alike(FLAVOUR_ANY, first, share * 6 / 5, APROF_STEP_NONE);
    for (flavour = FLAVOUR_PLAIN; flavour < FLAVOUR_ANY; flavour++)
      run_alike(flavour, first, share / 10, APROF_STEP_NONE);
    for (step = APROF_STEP_HISTOGRAMS; step < APROF_STEPS; step++)
      run_alike(FLAVOUR_ANY, first, share / 10, step);
  }
  printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
  return failed ? 1 : 0;
}
