/* SPDX-License-Identifier: MIT */
/*
 * balance FILE.trace: whether a recording adds up, path by path, in ticks; and what it is made of.
 * Status 1 where it does not. Images of a process that did not hold still say nothing of that:
 * "images torn".
 */
#include "record/balance.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void print_sums(const char *who, const struct balance_sums *s) {
  printf("  %s exec %" PRIu64 " queued %" PRIu64 " waiting %" PRIu64 " waits %" PRIu64
         " ended %" PRIu64 "\n",
         who, s->exec, s->queued, s->waiting, s->waits, s->ended);
}

static int print_balance(const struct replay *r, bool whole) {
  struct balance *b = balance_new(r);
  struct balance_sums all = {0};
  int status = EXIT_SUCCESS;
  story_finish(r->story); /* for the texts of paths */
  for (uint32_t i = 0; i < r->story->paths_count; i++) {
    all.exec += b[i].told.exec;
    all.queued += b[i].told.queued;
    all.waiting += b[i].told.waiting;
    all.waits += b[i].told.waits;
    all.ended += b[i].told.ended;
    if (!whole || balance_holds(&b[i]))
      continue;
    printf("%s does not add up\n", r->story->paths[i].text);
    print_sums("events  ", &b[i].told);
    print_sums("counters", &b[i].counted);
    status = EXIT_FAILURE;
  }
  print_sums("all", &all);
  free(b);
  return status;
}

static void print_story(const struct story *s) {
  printf("events %" PRIu64 " lost %" PRIu64 " truncated %d\n", s->events, s->lost, s->truncated);
  printf("futures %u segments %u slices %u threads %u paths %u\n", s->futures_count,
         s->segments_count, s->slices_count, s->threads_count, s->paths_count);
  printf("requests %u partial %u\n", s->requests_count, s->partial);
}

int main(int argc, char **argv) {
  struct trace_error why = {""};
  struct trace *t = trace_open(argc > 1 ? argv[1] : "", &why);
  struct replay *r = t ? replay_new(t, &why) : NULL;
  if (!r) {
    fprintf(stderr, "%s\n", why.text);
    trace_close(t);
    return 2;
  }
  bool whole = (!t->base.magic || t->base.number) && t->last.number;
  int status = print_balance(r, whole);
  print_story(r->story);
  printf("end: told %" PRIu64 " missing %" PRIu64 "\n", t->end.number, t->end.lost);
  printf("images %s\n", whole ? "whole" : "torn");
  replay_free(r);
  trace_close(t);
  return status;
}
