/* SPDX-License-Identifier: MIT */
/* What is in no number, and why. */
#include "findings.h"

#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>

/* Adds a count of the whole process. `one` and `many` say of what, and what it means. */
static void add_count(struct findings *list, uint64_t count, const char *one, const char *many) {
  if (count)
    findings_add(list, (struct finding){
                           .kind = FINDING_LOST,
                           .weight = count,
                           .severity = UNKNOWN,
                           .count = count,
                           .text = sentence("%s %s", told_count(count), count == 1 ? one : many)});
}

/* Why there was no room, and what that means for the rest. */
static void find_lost(struct findings *list, const struct view *v) {
  const char *why = v->health.confined
                        ? "lost: the program had given up system calls (seccomp), so "
                          "nothing new had room"
                        : "lost: the profile was full; raise memory: in APROF_OPTIONS, "
                          "or have profile:memfd where its file system is small";
  static const char rest[] =
      "; times and counts are too small by that, and who is stuck, never ran "
      "or was left was not looked for";
  add_count(list, v->health.lost_futures, turn_text("future is in no number here: it was %s", why),
            turn_text("futures are in no number here: they were %s", why));
  add_count(list, v->health.lost_events, turn_text("event was %s%s", why, rest),
            turn_text("events were %s%s", why, rest));
}

static void find_refused(struct findings *list, const struct view *v) {
#define REFUSED                                                                                    \
  "built by another version of the plugin than the runtime is for: no future of what is in it is " \
  "in any number here; rebuild it"
  const char *name = v->health.refused_module ? v->health.refused_module : "of several processes";
  add_count(list, v->health.refused_modules, turn_text("module (%s) was " REFUSED, name),
            turn_text("modules (%s and others) were " REFUSED, name));
#undef REFUSED
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  (void)limits;
  find_lost(list, v);
  find_refused(list, v);
#define NESTED                                                                                     \
  "in no number here, nor what would have begun then: in a signal handler, or a callback, that "   \
  "had interrupted another event; have the loop do it (signalfd, a pipe)"
  add_count(list, v->health.nested_events, "event is " NESTED, "events are " NESTED);
#undef NESTED
}

const struct finding_row finding_lost = {.judge = judge};
