/* SPDX-License-Identifier: MIT */
/* Requests that go on far longer than those of their kind took, and the future that holds them. */
#include "findings.h"
#include "requests.h"

#include "read/util.h"
#include "sentence.h"

#include <string.h>

static bool is_of(const struct view_pending *p, const struct view_kind *k) {
  return !strcmp(p->kind, k->kind) && !strcmp(p->function, k->function);
}

/* What one of the kind takes: of few the longest, or the mean. */
static uint64_t usual_of(const struct view_kind *k) {
  uint64_t p99 = findings_p99(k->count, &k->wall.of);
  return p99 ? p99 : k->wall.max != UNKNOWN ? k->wall.max : ask_each(k->wall.sum, k->count);
}

static bool is_endless(const struct view_pending *p, const struct view_kind *k, uint64_t limit) {
  return p->age >= findings_far_beyond(usual_of(k), limit);
}

/* "which waits at db.c:77 pool_get" */
static const char *shown_wait(const struct view_live *live) {
  if (!live->state)
    return "of which nobody knows whether it ran";
  if (view_is(live, "running"))
    return "which runs";
  if (!live->place)
    return view_is(live, "queued") ? "which is ready, and does not run" : "which waits";
  return turn_text("which waits at %s%s%s", live->place, live->callee ? " " : "",
                   live->callee ? live->callee : "");
}

static const char *shown_holder(const struct view *v, const struct view_pending *p,
                                const struct view_live *holder) {
  if (holder)
    return turn_text("it is held by `%s`, %s, for %s so far", holder->name, shown_wait(holder),
                     told_time(holder->since));
  if (v->processes || v->lives >= VIEW_LIVE_LIMIT)
    return "which future holds it is not listed";
  return p->rootless ? "no future that is a part of it is known"
                     : "none of its futures lives: nobody ends it";
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  for (size_t i = 0; i < v->kinds; i++) {
    const struct view_kind *k = &v->kind[i];
    const struct view_pending *oldest = NULL;
    uint64_t count = 0;
    for (size_t j = 0; j < v->pendings && k->count; j++)
      if (is_of(&v->pending[j], k) && is_endless(&v->pending[j], k, limits->of[FINDING_ENDLESS])) {
        oldest = oldest ? oldest : &v->pending[j];
        count++;
      }
    if (!oldest)
      continue;
    const struct view_live *holder = ask_holder(v, oldest);
    const struct view_function *f =
        holder && holder->function < v->functions ? &v->function[holder->function] : NULL;
    findings_add(list,
                 (struct finding){
                     .kind = FINDING_ENDLESS,
                     .weight = oldest->age,
                     .severity = oldest->age,
                     .count = count,
                     .alive = true,
                     .function = f,
                     .at = holder && holder->place ? print_string("%s", holder->place)
                                                   : findings_place(oldest->file, oldest->line),
                     .text = sentence(
                         "%s `%s` request%s on for up to %s, where such a request usually "
                         "takes %s at most; %s%s",
                         told_count(count), ask_kind_name(v, k), count == 1 ? " goes" : "s go",
                         told_time(oldest->age), told_time(usual_of(k)),
                         count == 1 ? "" : "of the oldest, ", shown_holder(v, oldest, holder))});
  }
}

const struct finding_row finding_endless = {
    .limit = {"endless", 0, OPTION_MS, 0, "TIME",
              .text = "A request that goes on for ten times what those of its kind took, and this "
                      "long, is a finding (default 10s)"},
    .judge = judge,
    .next = NEXT_ALIVE};
