/* SPDX-License-Identifier: MIT */
/* Who held the loop, or holds it now. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* -- of those that are over, by functions ------------------------------------------ */

/* `own`: what the function's own place means there. */
static const char *where(const char *place, const char *name, const struct view_function *f,
                         const char *own) {
  if (!place)
    return name ? name : "an unknown place";
  if (name && strcmp(name, f->name))
    return turn_text("%s %s", place, name);
  return strcmp(place_text(f->file, f->line), place) ? place : turn_text("%s (%s)", own, place);
}

/* Where inside it the longest hold went. */
struct inside {
  const char *name; /* NULL: not known */
  uint64_t longest; /* run of it */
  bool at_once;     /* for sure */
};

/* Its longest run fills a slice of that length. */
static bool fills(const struct view_function *g, uint64_t slice) {
  return g->exec_max != UNKNOWN && g->exec_max <= slice && g->exec_max >= slice - g->exec_max;
}

/* Beneath the outermost future; else a callback that never runs but on others' stacks, whose
   longest run fits no other function's. */
static struct inside inside_of(const struct view *v, const struct view_function *f) {
  const struct view_function *most = NULL;
  if (f->mostly || f->slice_max == UNKNOWN)
    return (struct inside){f->mostly, f->mostly_max, f->mostly_at_once == true};
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *g = &v->function[i];
    if (g->process == f->process && !g->slices && !g->pool_exec && fills(g, f->slice_max) &&
        (!most || g->exec_max > most->exec_max))
      most = g;
  }
  for (size_t i = 0; most && i < v->functions; i++)
    if (&v->function[i] != f && v->function[i].slice_max != UNKNOWN &&
        v->function[i].slice_max >= most->exec_max)
      return (struct inside){0};
  return most ? (struct inside){most->name, most->exec_max, false} : (struct inside){0};
}

/* " (it.c:8)" of the function of that name; nothing where several have it. */
static const char *place_of(const struct view *v, const char *name) {
  const struct view_function *found = NULL;
  for (size_t i = 0; i < v->functions; i++)
    if (!strcmp(v->function[i].name, name)) {
      if (found && (found->line != v->function[i].line))
        return "";
      found = &v->function[i];
    }
  return found && found->file ? turn_text(" (%s)", place_text(found->file, found->line)) : "";
}

static const char *mostly(const struct view *v, const struct view_function *f,
                          const struct inside *in) {
  if (!in->name)
    return "";
  const char *time = told_mark(LACKS(f->lacks, function, mostly_max), told_time(in->longest));
  const char *place = place_of(v, in->name);
  return in->at_once ? turn_text(", mostly in `%s`%s: %s at worst", in->name, place, time)
                     : turn_text(", most likely in `%s`%s: its futures ran for up to %s", in->name,
                                 place, time);
}

/* So often at least: of the histogram's last bucket only a part may be over the threshold, and
   some slices may be in none. UNKNOWN: there is none. */
static uint64_t times_over(const struct view_function *f, uint64_t threshold) {
  uint64_t times = findings_longer(&f->slice_of, threshold);
  return !f->slice_of.count ? UNKNOWN : times ? times : 1;
}

static const char *how_often(const struct view_function *f, uint64_t times, uint64_t threshold) {
  const char *over = told_time(threshold);
  if (times == UNKNOWN)
    return turn_text("at least once over %s", over);
  bool less = !f->shed && findings_longer(&f->slice_of, 0) < f->slices;
  return turn_text("%s%s time%s over %s", less ? "at least " : "",
                   told_mark(LACKS(f->lacks, function, slice_of), told_count(times)),
                   times > 1 ? "s" : "", over);
}

/* A tenth of the hold is worth a word. */
enum { NOTABLE = 10 };

/* What the longest slice was: computing, or also waiting in the kernel. */
static const char *on_cpu(const struct view_function *f) {
  uint64_t worst = f->slice_max, least = f->on_cpu_least, most = f->on_cpu_most;
  if (worst == UNKNOWN) /* of an interval: it is another slice */
    return "";
  if (most == UNKNOWN || (least < worst / NOTABLE && most > worst - worst / NOTABLE))
    return "; whether on the CPU is not known";
  if (most <= worst - worst / NOTABLE)
    return turn_text("; at least %s of that off the CPU (blocked in the kernel, or preempted)",
                     told_time(worst - most));
  return turn_text("; on the CPU for at least %s", told_time(least));
}

/* On the CPU the limit is not proven to be passed, and short: others may have had the processor, or
   whoever had what it waited for was kept from it. A machine does so now and then: one run of
   RUNS_BUSY at most. Where the kernel does not say how much of that there was, it has to be rare,
   and off the CPU for long. */
enum { RARE = 100, SHORT = 5, SHORT_BUSY = 10, RUNS_BUSY = 10 };
/* A longer one may be, too, where these are as rare as that and a small part of what the machine
   took. */
enum { LONG_BUSY = 30, PART_BUSY = 4 };

static uint64_t blocked(const struct view_function *f) {
  uint64_t all = 0;
  for (size_t i = 0; i < f->blockings; i++)
    add_to(&all, f->blocking[i].held);
  return all;
}

static bool may_be_preempted(const struct view *v, const struct view_function *f,
                             uint64_t threshold) {
  uint64_t worst = f->slice_max, least = f->on_cpu_least, most = f->on_cpu_most;
  uint64_t times = findings_longer(&f->slice_of, threshold), held = times * worst;
  bool known = ask_loop(v).run_delay != UNKNOWN;
  uint64_t all = findings_over(&f->slice_of, threshold);
  all = worst != UNKNOWN && worst > all ? worst : all;
  bool rare = known && times <= f->slices / RARE && findings_is_machines(v, all * PART_BUSY, 0);
  if (worst == UNKNOWN || (most != UNKNOWN && least > threshold) ||
      worst / (rare    ? LONG_BUSY
               : known ? SHORT_BUSY
                       : SHORT) >=
          threshold)
    return false;
  if (known) /* the kernel says how busy the machine was */
    return times <= f->slices / RUNS_BUSY && blocked(f) < all / 2 &&
           findings_is_machines(v, all, 0);
  return most != UNKNOWN && most <= worst - worst / NOTABLE && held < ask_loop(v).elapsed / RARE;
}

static void find_held(struct findings *list, const struct view *v, const struct view_function *f,
                      uint64_t threshold) {
  uint64_t worst = ask_longest_slice(f);
  if (worst <= threshold || (f->slice_max == UNKNOWN && !findings_longer(&f->slice_of, threshold)))
    return;
  if (may_be_preempted(v, f, threshold))
    return;
  uint64_t times = times_over(f, threshold);
  const char *held = told_mark(LACKS(f->lacks, function, slice_max), told_time(worst));
  const char *often = how_often(f, times, threshold), *cpu = on_cpu(f);
  struct inside inside = inside_of(v, f);
  const char *in = mostly(v, f, &inside);
  struct sentence text;
  const char *begun = v->is_interval && worst > v->process.elapsed ? ", from before on," : "";
  if (f->slice_between[0] || f->slice_between[1]) {
    const char *from = f->slice_at_start == true
                           ? "its start"
                           : where(f->slice_between[0], f->slice_names[0], f, "its start");
    const char *to = where(f->slice_between[1], f->slice_names[1], f, "its return");
    text = sentence("`%s` held the loop for %s%s between %s and %s (%s)%s%s", f->name, held, begun,
                    from, to, often, in, cpu);
  } else
    text = sentence("`%s` held the loop for about %s%s (%s)", f->name, held, begun, often);
  findings_add(list, (struct finding){
                         .kind = FINDING_HELD,
                         .weight = worst,
                         .severity = worst,
                         .count = times,
                         .held = worst,
                         .from = f->slice_between[0],
                         .to = f->slice_between[1],
                         .mostly = inside.name,
                         .mostly_max = inside.longest,
                         .function = f,
                         .at = f->slice_between[1] ? print_string("%s", f->slice_between[1]) : NULL,
                         .text = text});
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  for (size_t i = 0; i < v->functions; i++)
    find_held(list, v, &v->function[i], limits->of[FINDING_HELD]);
}

/* -- of those that go on, among the futures alive ------------------------------------ */

/* Of totals that end with the last event there was, as nobody saw the process end: what ran on
   from there may have done so for long. */
static bool is_cut_short(const struct view *v, const struct view_live *live) {
  return !strcmp(v->process.reason, "recovered") && view_is(live, "running") && !live->since;
}

static bool claims(const struct live_case *c, struct alike *g) {
  if (c->live->holds <= c->limits->of[FINDING_HELD] && !is_cut_short(c->view, c->live))
    return false;
  g->most = c->live->holds;
  return true;
}

static struct sentence cut_short_text(const struct alike *g, const char *by) {
  bool inside = g->held_by && strcmp(g->held_by, g->function->name) != 0;
  return sentence("`%s`%s%s%s was running when its process ended, since the last event: for how "
                  "long is not known%s",
                  g->function->name, inside ? " inside `" : "", inside ? g->held_by : "",
                  inside ? "`" : "", by);
}

/* It has no place yet where it lets go: only a debugger sees where it is. */
static struct sentence holds_text(const struct alike *g, const char *by) {
  if (g->ended && !g->most)
    return cut_short_text(g, by);
  bool inside = g->held_by && strcmp(g->held_by, g->function->name) != 0;
  const char *within = inside ? turn_text(" inside `%s`", g->held_by) : "";
  bool told = !g->held_from || (g->created_at && !strcmp(g->held_from, g->created_at));
  const char *since = told ? "" : turn_text(", since %s", g->held_from);
  return g->ended
             ? sentence(
                   "`%s`%s held the loop for %s without a pause%s, to the end of the process%s",
                   g->function->name, within, findings_time(g, g->most), since, by)
             : sentence("`%s`%s holds the loop now, for %s without a pause%s (thread %lld)%s",
                        g->function->name, within, findings_time(g, g->most), since,
                        (long long)g->tid, by);
}

static void tell(const struct alike *g, const char *by, struct finding *finding) {
  finding->text = holds_text(g, by);
  finding->at = findings_place(g->function->file, g->function->line);
  finding->held = g->most;
  finding->severity = g->most ? g->most : UNKNOWN;
}

const struct finding_row finding_held = {
    .limit = {"threshold", 0, OPTION_MS, 0, "TIME",
              .text = "A hold of the loop, a blocking call, a time in the queue longer than this "
                      "are findings (default 10ms)"},
    .judge = judge,
    .claims = claims,
    .despite_loss = true,
    .tell = tell,
    .next = NEXT_FUNCTION,
    .cost = COST_HOLDS};
