/* SPDX-License-Identifier: MIT */
/* The shortest program found that fails as a long one does. */
#include "shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum outcome judged_apart(judges *judge, const struct program *program, bool quiet) {
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    perror("random: fork");
    exit(2);
  }
  if (child == 0) {
    alarm(60);
    _exit(judge(program, quiet));
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    ;
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  if (!quiet)
    fprintf(stderr, "random: killed by signal %d\n", WTERMSIG(status));
  return BROKEN;
}

static time_t shrink_until;

static bool same_outcome(const struct program *program, judges *judge, enum outcome outcome) {
  return time(NULL) < shrink_until && judge(program, true) == outcome;
}

bool report_all;

/* Drops events while the outcome stays, then time, then what was dropped; a
   dropped opening event stays, it zeroes a token that later ones may look at. */
static void shrink(struct program *program, judges *judge, enum outcome outcome) {
  static struct program smaller;
  shrink_until = time(NULL) + 20;
  for (unsigned piece = program->count / 2; piece >= 1; piece /= 2)
    for (unsigned from = 0; from < program->count; from += piece) {
      smaller = *program;
      for (unsigned i = from; i < from + piece && i < smaller.count; i++)
        smaller.ops[i].dropped = true;
      if (same_outcome(&smaller, judge, outcome))
        *program = smaller;
    }
  for (unsigned i = 0; i < program->count; i++) {
    smaller = *program;
    bool moves = i && program->ops[i].thread != program->ops[i - 1].thread;
    smaller.ops[i].dt = moves ? 1 : 0; /* see program_record */
    if (program->ops[i].dt > smaller.ops[i].dt && same_outcome(&smaller, judge, outcome))
      *program = smaller;
  }
  for (unsigned i = program->count; i-- > 0;) {
    const struct op *op = &program->ops[i];
    if (!op->dropped || op->dt || op->record)
      continue;
    smaller = *program;
    smaller.count--;
    memmove(&smaller.ops[i], &smaller.ops[i + 1], (smaller.count - i) * sizeof *smaller.ops);
    if (smaller.count && (!op_opens(op->kind) || same_outcome(&smaller, judge, outcome)))
      *program = smaller;
  }
}

void report(const struct program *failing, const char *what, judges *judge, const char *differ) {
  static struct program shortest;
  shortest = *failing;
  enum outcome outcome = judge(failing, true);
  fprintf(stderr, "random: program %llu%s: %s\n", (unsigned long long)failing->seed, what,
          outcome == DIFFER  ? differ
          : outcome == AGREE ? "passes for the sound one"
                             : "it does not come to an end");
  if (report_all)
    program_print(stderr, failing);
  shrink(&shortest, judge, outcome);
  fprintf(stderr, "random: the shortest that does:\n");
  program_print(stderr, &shortest);
  judge(&shortest, false);
}
