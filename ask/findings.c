/* SPDX-License-Identifier: MIT */
/* Findings: what the numbers mean, in words; see ask.h. */
#include "findings.h"

#include "format.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GROWING_LEAST = 100, GROWING_TIMES = 2 };
/* Of the runs so many (1/N) began late. */
enum { QUEUED_SHARE = 100 };

const struct ask_limits ask_defaults = ASK_DEFAULTS;

#define LIMIT(name, type, member, argument, help)                                                  \
  { name, 0, type, offsetof(struct ask_limits, member), argument, .text = help }
const struct option_row ask_options[] = {
    LIMIT("threshold", OPTION_MS, held, "MS",
          "A hold of the loop, a blocking call, a time in the queue longer than this are findings "
          "(default 10)"),
    LIMIT("stuck", OPTION_MS, stuck, "MS",
          "A wait ten times the usual, and this long, is a finding; as is a future that is ready "
          "this long and never ran (default 1000)"),
    LIMIT("leaked", OPTION_COUNT, leaked, "N",
          "So many old futures of one place at exit are a finding (default 10)"),
    LIMIT("spins", OPTION_COUNT, spins, "N",
          "So often waking itself for nothing is a finding (default 1000)"),
    {0}};

const char *const finding_kinds[] = {"held",   "stuck",  "blocking", "never_ran",
                                     "leaked", "queued", "spinning", "growing",
                                     "lost",   "reused", "unplaced"};

void findings_add(struct findings *list, struct finding finding) {
  if (list->count == list->room) {
    list->room = list->room ? list->room * 2 : 8;
    list->finding = reallocate(list->finding, list->room, sizeof *list->finding);
  }
  list->finding[list->count++] = finding;
}

char *findings_place(const char *file, uint64_t line) {
  return file ? print_string("%s", shown_place(file, line)) : NULL;
}

/* -- who held the loop ----------------------------------------------------- */

static uint64_t longer_than(const struct distribution *d, uint64_t threshold) {
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    if (d->bucket[i].lower >= threshold)
      count += d->bucket[i].count;
  return count;
}

uint64_t ask_longest_slice(const struct view_function *f) {
  if (f->slice_max != UNKNOWN)
    return f->slice_max;
  return buckets_percentile(f->slice_of.bucket, f->slice_of.count, 1000, HISTOGRAM_NO_MAX);
}

bool ask_lacks_histograms(const struct view_function *f) {
  return !f->shed && ((f->slices && !f->slice_of.count) || (f->done && !f->exec_of.count));
}

/* `own`: what the function's own place means there. */
static char *where(const char *place, const char *name, const struct view_function *f,
                   const char *own) {
  if (!place)
    return print_string("%s", name ? name : "an unknown place");
  if (name && strcmp(name, f->name))
    return print_string("%s %s", place, name);
  char *itself = findings_place(f->file, f->line);
  bool is_own = itself && !strcmp(itself, place);
  free(itself);
  return is_own ? print_string("%s (%s)", own, place) : print_string("%s", place);
}

/* Beneath the outermost future. */
static char *mostly(const struct view_function *f) {
  const char *time = shown_mark(LACKS(f->lacks, function, mostly_max), shown_time(f->mostly_max));
  if (!f->mostly)
    return print_string("%s", "");
  return f->mostly_at_once
             ? print_string(", mostly in `%s`: %s at worst", f->mostly, time)
             : print_string(", most likely in `%s`: its futures ran for up to %s", f->mostly, time);
}

/* So often at least: of the histogram's last bucket only a part may be over the threshold, and
   some slices may be in none. UNKNOWN: there is none. */
static uint64_t times_over(const struct view_function *f, uint64_t threshold) {
  uint64_t times = longer_than(&f->slice_of, threshold);
  return !f->slice_of.count ? UNKNOWN : times ? times : 1;
}

static char *how_often(const struct view_function *f, uint64_t times, uint64_t threshold) {
  const char *over = shown_time(threshold);
  if (times == UNKNOWN)
    return print_string("at least once over %s", over);
  bool less = !f->shed && longer_than(&f->slice_of, 0) < f->slices;
  return print_string("%s%s time%s over %s", less ? "at least " : "",
                      shown_mark(LACKS(f->lacks, function, slice_of), shown_count(times)),
                      times > 1 ? "s" : "", over);
}

/* A tenth of the hold is worth a word. */
enum { NOTABLE = 10 };

/* What the longest slice was: computing, or also waiting in the kernel. */
static char *on_cpu(const struct view_function *f) {
  uint64_t worst = f->slice_max, least = f->on_cpu_least, most = f->on_cpu_most;
  if (worst == UNKNOWN) /* of an interval: it is another slice */
    return print_string("%s", "");
  if (most == UNKNOWN || (least < worst / NOTABLE && most > worst - worst / NOTABLE))
    return print_string("%s", "; whether on the CPU is not known");
  if (most <= worst - worst / NOTABLE)
    return print_string("; at least %s of that off the CPU (blocked in the kernel, or preempted)",
                        shown_time(worst - most));
  return print_string("; on the CPU for at least %s", shown_time(least));
}

static void find_held(struct findings *list, const struct view *v, const struct view_function *f,
                      uint64_t threshold) {
  uint64_t worst = ask_longest_slice(f);
  if (worst <= threshold || (f->slice_max == UNKNOWN && !longer_than(&f->slice_of, threshold)))
    return;
  uint64_t times = times_over(f, threshold);
  const char *held = shown_mark(LACKS(f->lacks, function, slice_max), shown_time(worst));
  char *often = how_often(f, times, threshold);
  char *text, *in = mostly(f), *cpu = on_cpu(f);
  const char *begun = v->is_interval && worst > v->process.elapsed ? ", from before on," : "";
  if (f->slice_between[0] || f->slice_between[1]) {
    char *from = f->slice_at_start == true
                     ? print_string("%s", "its start")
                     : where(f->slice_between[0], f->slice_names[0], f, "its start");
    char *to = where(f->slice_between[1], f->slice_names[1], f, "its return");
    text = print_string("`%s` held the loop for %s%s between %s and %s (%s)%s%s", f->name, held,
                        begun, from, to, often, in, cpu);
    free(from);
    free(to);
  } else
    text = print_string("`%s` held the loop for about %s%s (%s)", f->name, held, begun, often);
  free(cpu);
  free(in);
  free(often);
  findings_add(list, (struct finding){
                         .kind = FINDING_HELD,
                         .weight = worst,
                         .severity = worst,
                         .count = times,
                         .function = f,
                         .at = f->slice_between[1] ? print_string("%s", f->slice_between[1]) : NULL,
                         .text = text});
}

/* -- calls that block ------------------------------------------------------ */

/* libuv's calls are the synchronous ones of their name for want of a callback. */
static const char *blocking_way(const char *callee) {
  return strncmp(callee, "uv_", 3) ? ", which blocks," : " without a callback";
}

/* One that held for long, or all together for a share (1/N) of the loop's time:
   now and then a short one does no harm, however long the program runs. */
enum { BLOCKING_SHARE = 100 };

static bool is_blocking(const struct view_blocking *b, uint64_t elapsed, uint64_t threshold) {
  if (b->max != UNKNOWN && b->max > threshold)
    return b->count != 0;
  return b->held > threshold && b->held >= elapsed / BLOCKING_SHARE;
}

static void find_blocking(struct findings *list, const struct view_function *f, uint64_t elapsed,
                          uint64_t threshold) {
  if (!f->slices && !f->exec) /* (other): nothing ran that could be held */
    return;
  for (size_t i = 0; i < f->blockings; i++) {
    const struct view_blocking *b = &f->blocking[i];
    if (!is_blocking(b, elapsed, threshold))
      continue;
    const char *max = shown_mark(LACKS(f->lacks, blocking, max), shown_time(b->max));
    const char *held = shown_mark(LACKS(f->lacks, blocking, held), shown_time(b->held));
    char *worst = b->max != UNKNOWN ? print_string(", %s at worst", max) : print_string("%s", "");
    char *text = print_string("`%s` calls %s%s at %s: %s of loop time (%s time%s%s)", f->name,
                              b->callee, blocking_way(b->callee), shown_place(b->file, b->line),
                              held, shown_count(b->count), b->count == 1 ? "" : "s", worst);
    free(worst);
    findings_add(list, (struct finding){.kind = FINDING_BLOCKING,
                                        .weight = b->held,
                                        .severity = b->held,
                                        .count = b->count,
                                        .function = f,
                                        .at = findings_place(b->file, b->line),
                                        .text = text});
  }
}

/* -- the rest -------------------------------------------------------------- */

static void add_queued(struct findings *list, const struct view_function *f, uint64_t count,
                       char *text) {
  findings_add(list, (struct finding){.kind = FINDING_QUEUED,
                                      .weight = f->queued,
                                      .severity = f->queued,
                                      .count = count,
                                      .function = f,
                                      .at = findings_place(f->file, f->line),
                                      .text = text});
}

/* Without histograms: the longest after any waker, else the mean. */
static void find_queued_once(struct findings *list, const struct view_function *f,
                             uint64_t threshold) {
  uint64_t worst = 0, mean = f->slices ? f->queued / f->slices : 0;
  for (size_t i = 0; i < f->wakers; i++)
    if (f->waker[i].max != UNKNOWN && f->waker[i].max > worst)
      worst = f->waker[i].max;
  if (worst > threshold)
    add_queued(list, f, UNKNOWN,
               print_string("`%s` was ready but did not run for %s at worst (%s in all)", f->name,
                            shown_time(worst), shown_time(f->queued)));
  else if (mean > threshold)
    add_queued(list, f, UNKNOWN,
               print_string("`%s` was ready but did not run for %s on average (%s in all)", f->name,
                            shown_time(mean), shown_time(f->queued)));
}

/* The histogram has the times that something was queued at all; a timer that ran in
   time is none, so the runs count. */
static void find_queued(struct findings *list, const struct view_function *f, uint64_t threshold) {
  if (view_unseen(f))
    return;
  uint64_t over = longer_than(&f->queued_of, threshold), runs = longer_than(&f->queued_of, 0);
  if (ask_lacks_histograms(f) && !f->queued_of.count)
    find_queued_once(list, f, threshold);
  if (f->slices > runs)
    runs = f->slices;
  if (!over || over < runs / QUEUED_SHARE)
    return;
  add_queued(list, f, over,
             print_string("`%s` was ready but did not run for over %s, %s of %s times (%s in all)",
                          f->name, shown_time(threshold),
                          shown_mark(LACKS(f->lacks, function, queued_of), shown_count(over)),
                          shown_count(runs),
                          shown_mark(LACKS(f->lacks, function, queued), shown_time(f->queued))));
}

static void find_growing(struct findings *list, const struct view_function *f) {
  uint64_t before = f->live_before;
  if (before == UNKNOWN || view_unseen(f) || f->live / GROWING_TIMES < before ||
      f->live - before < GROWING_LEAST)
    return;
  findings_add(list,
               (struct finding){
                   .kind = FINDING_GROWING,
                   .weight = f->live - before,
                   .severity = UNKNOWN,
                   .count = f->live - before,
                   .function = f,
                   .at = findings_place(f->file, f->line),
                   .text = print_string("`%s` grows: %s lived at the beginning, %s at the end",
                                        f->name, shown_count(before), shown_count(f->live)),
               });
}

/* Counts of the whole process: `one` and `many` say what of, then what it means. */
static void add_count(struct findings *list, enum finding_kind kind, uint64_t count,
                      const char *one, const char *many) {
  if (count)
    findings_add(list, (struct finding){.kind = kind,
                                        .weight = count,
                                        .severity = UNKNOWN,
                                        .count = count,
                                        .text = print_string("%s %s", shown_count(count),
                                                             count == 1 ? one : many)});
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
  char *one = print_string("future is in no number here: it was %s", why);
  char *many = print_string("futures are in no number here: they were %s", why);
  add_count(list, FINDING_LOST, v->health.lost_futures, one, many);
  free(one);
  free(many);
  one = print_string("event was %s%s", why, rest);
  many = print_string("events were %s%s", why, rest);
  add_count(list, FINDING_LOST, v->health.lost_events, one, many);
  free(one);
  free(many);
}

static void find_refused(struct findings *list, const struct view *v) {
#define REFUSED                                                                                    \
  "built by another version of the plugin than the runtime is for: no future of what is in it is " \
  "in any number here; rebuild it"
  const char *name = v->health.refused_module ? v->health.refused_module : "of several processes";
  char *one = print_string("module (%s) was " REFUSED, name);
  char *many = print_string("modules (%s and others) were " REFUSED, name);
#undef REFUSED
  add_count(list, FINDING_LOST, v->health.refused_modules, one, many);
  free(one);
  free(many);
}

static void find_faults(struct findings *list, const struct view *v) {
  find_lost(list, v);
  find_refused(list, v);
#define NESTED                                                                                     \
  "in no number here, nor what would have begun then: in a signal handler, or a callback, that "   \
  "had interrupted another event; have the loop do it (signalfd, a pipe)"
  add_count(list, FINDING_LOST, v->health.nested_events, "event is " NESTED, "events are " NESTED);
#undef NESTED
}

static int by_kind(const void *a, const void *b) {
  const struct finding *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  return strcmp(x->text, y->text);
}

struct finding *ask_findings(const struct view *v, const struct ask_limits *limits, size_t *count) {
  struct findings list = {0};
  uint64_t elapsed = ask_loop(v).elapsed;
  for (size_t i = 0; i < v->functions; i++) {
    find_held(&list, v, &v->function[i], limits->held);
    find_blocking(&list, &v->function[i], elapsed, limits->held);
    findings_of_spinning(&list, v, &v->function[i], elapsed, limits);
    find_queued(&list, &v->function[i], limits->held);
    find_growing(&list, &v->function[i]);
  }
  findings_of_live(&list, v, limits);
  findings_of_misses(&list, v);
  find_faults(&list, v);
  if (list.count)
    qsort(list.finding, list.count, sizeof *list.finding, by_kind);
  *count = list.count;
  return list.finding;
}

void findings_free(struct finding *findings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    free(findings[i].text);
    free(findings[i].at);
  }
  free(findings);
}
