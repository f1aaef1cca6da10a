/* SPDX-License-Identifier: MIT */
/* Findings among the futures alive: who holds the loop now, stuck ones, never run, leaked;
   see findings.h. */
#include "findings.h"

#include "format.h"
#include "read/governed.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* How often something must have ended for its p99 to say what is usual, and how
   far beyond it one that goes on is out of the ordinary. */
enum { USUAL_COUNT = 20, FAR_TIMES = 10 };

/* Futures alike: of one function, at one await or from one create site. */
struct group {
  enum finding_kind kind;
  const struct view_function *function, *creator;
  const struct view_await *await;
  const char *created_at, *created_by;
  const char *held_by, *held_from; /* see r_live */
  int64_t tid;
  bool ended;    /* the process has */
  bool unplaced; /* runs of unknown futures were seen */
  unsigned shed, lacks;
  uint64_t count, least, most;
};

static bool is_one_of(const char *text, const char *const *list) {
  while (*list && (!text || strcmp(text, *list)))
    list++;
  return *list != NULL;
}

/* How long something takes otherwise, and what that time is. */
struct usual {
  uint64_t time; /* 0: nobody knows */
  const char *is, *of;
};

static uint64_t far_beyond(uint64_t usual, uint64_t limit) {
  return usual > limit / FAR_TIMES ? usual * FAR_TIMES : limit;
}

/* The p99 of so many that ended; 0 of too few. */
static uint64_t p99_of(uint64_t ended, const struct distribution *d) {
  return ended >= USUAL_COUNT && d->count ? d->p99 : 0;
}

/* Without histograms the longest, which is no less than a p99; or else the mean. */
static struct usual usual_wait(const struct view_await *await) {
  uint64_t ended = await->count > await->immediate ? await->count - await->immediate : 0;
  if (ended < USUAL_COUNT)
    return (struct usual){0};
  if (await->waits.count)
    return (struct usual){await->waits.p99, "usually", "at most"};
  if (await->max != UNKNOWN)
    return (struct usual){await->max, "the others", "at most"};
  return (struct usual){await->ended / ended, "the others", "on average"};
}

static struct usual usual_life(const struct view_function *f) {
  if (f->done < USUAL_COUNT)
    return (struct usual){0};
  if (f->wall_of.count)
    return (struct usual){f->wall_of.p99, "such a life usually takes", "at most"};
  return (struct usual){f->wall_max != UNKNOWN ? f->wall_max : 0, "such a life took", "at most"};
}

/* What is usual where it waits; where too few waits have ended there, how long the lives
   of its function usually are. */
static struct usual usual_of(const struct view_function *f, const struct view_await *await) {
  struct usual wait = usual_wait(await);
  return wait.time ? wait : usual_life(f);
}

/* Who waits for what it called waits as long as that does, which is the one to name; and
   who waits for a time that is still to come waits as long as it should. */
static bool is_stuck(const struct view_live *live, const struct view_function *f,
                     const struct view_await *await, const struct ask_limits *limits) {
  if (!view_is(live, "waiting") || !await || await->background)
    return false;
  if (live->aside || live->due || (live->kind && !strcmp(live->kind, "call")))
    return false;
  struct usual usual = usual_of(f, await);
  return usual.time && live->since_min >= far_beyond(usual.time, limits->stuck);
}

/* Met in its first run since profiling began: whether it waits for new work is not known. */
static bool began_before(const struct view *v, const struct view_live *live) {
  return v->process.epoch > 1 && live->kind && !strcmp(live->kind, "run");
}

/* Ready all its life. One that waits for what it was created for is healthy. */
static bool has_never_run(const struct view_live *live, const struct view_function *f,
                          const struct ask_limits *limits) {
  return !live->started && (view_is(live, "queued") || !live->state) &&
         live->since_min >= far_beyond(p99_of(f->slices, &f->queued_of), limits->stuck);
}

/* Of totals that end with the last event there was, as nobody saw the process end: what ran on
   from there may have done so for long. */
static bool is_cut_short(const struct view *v, const struct view_live *live) {
  return !strcmp(v->process.reason, "recovered") && view_is(live, "running") && !live->since;
}

/* Left at the end. Those on a stack (they run, or wait for what does) are not
   leaked, nor those that wait for new work or for their time; the young are only under
   way. */
static bool is_left(const struct view *v, const struct view_live *live,
                    const struct view_function *f, const struct view_await *await,
                    const struct ask_limits *limits) {
  static const char *const on_stack[] = {"call", "run", "function", "idle", "switch", NULL};
  if (strcmp(v->process.reason, "exit") || view_is(live, "running"))
    return false;
  if (live->aside || live->due || is_one_of(live->kind, on_stack) || (await && await->background))
    return false;
  return live->age_min >= far_beyond(usual_life(f).time, limits->stuck);
}

static int by_id(const void *a, const void *b) {
  const struct view_live *x = *(const struct view_live *const *)a,
                         *y = *(const struct view_live *const *)b;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* The function of the future that created this one, if that lives. `ids`: all that
   live, by their ids. */
static const struct view_function *creator(const struct view *v, const struct view_live *const *ids,
                                           const struct view_live *live) {
  const struct view_live key = {.id = live->parent}, *wanted = &key;
  const struct view_live *const *found =
      live->parent ? bsearch(&wanted, ids, v->lives, sizeof *ids, by_id) : NULL;
  return found && (*found)->function < v->functions ? &v->function[(*found)->function] : NULL;
}

static int compare_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "");
}

static int compare_address(const void *a, const void *b) {
  return (const char *)a < (const char *)b ? -1 : (const char *)a > (const char *)b;
}

/* Alike: of one function, and stuck in one await, or else created at one place. */
static int by_likeness(const void *a, const void *b) {
  const struct group *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->function != y->function)
    return compare_address(x->function, y->function);
  return x->kind == FINDING_STUCK ? compare_address(x->await, y->await)
                                  : compare_text(x->created_at, y->created_at);
}

/* -- in words -------------------------------------------------------------- */

static const char *time_of(const struct group *g, uint64_t time) {
  return shown_mark(LACKS(g->lacks, live, since), shown_time(time));
}

static char *cut_short_text(const struct group *g, const char *by) {
  bool inside = g->held_by && strcmp(g->held_by, g->function->name) != 0;
  return print_string(
      "`%s`%s%s%s was running when its process ended, since the last event: for how "
      "long is not known%s",
      g->function->name, inside ? " inside `" : "", inside ? g->held_by : "", inside ? "`" : "",
      by);
}

/* It has no place yet where it lets go: only a debugger sees where it is. */
static char *holds_text(const struct group *g, const char *by) {
  if (g->ended && !g->most)
    return cut_short_text(g, by);
  bool inside = g->held_by && strcmp(g->held_by, g->function->name) != 0;
  char *within = inside ? print_string(" inside `%s`", g->held_by) : print_string("%s", "");
  bool told = !g->held_from || (g->created_at && !strcmp(g->held_from, g->created_at));
  char *since = told ? print_string("%s", "") : print_string(", since %s", g->held_from);
  char *text =
      g->ended ? print_string(
                     "`%s`%s held the loop for %s without a pause%s, to the end of the process%s",
                     g->function->name, within, time_of(g, g->most), since, by)
               : print_string("`%s`%s holds the loop now, for %s without a pause%s (thread %lld)%s",
                              g->function->name, within, time_of(g, g->most), since,
                              (long long)g->tid, by);
  free(within);
  free(since);
  return text;
}

static char *stuck_text(const struct group *g, const char *by) {
  struct usual usual = usual_of(g->function, g->await);
  return print_string("%s `%s` %s waited over %s (%s %s %s) at %s %s%s", shown_count(g->count),
                      g->function->name, g->count == 1 ? "future has" : "futures have",
                      time_of(g, g->least), usual.is,
                      shown_mark(LACKS(g->lacks, function, wall_of), shown_time(usual.time)),
                      usual.of, shown_place(g->await->file, g->await->line), g->await->callee, by);
}

/* ", of 100 alive,": the young are not counted, nor those of other places. */
static char *of_alive(const struct group *g) {
  uint64_t live = g->function->live;
  return g->count >= live ? print_string("%s", "")
                          : print_string(", of %s alive,", shown_count(live));
}

static bool is_unseen(const struct group *g) {
  return g->kind == FINDING_NEVER_RAN && view_unseen(g->function);
}

static char *never_ran_text(const struct group *g, const char *by) {
  char *of = of_alive(g);
  if (is_unseen(g)) {
    char *text = print_string(
        "whether %s `%s` future%s%s ever ran is not known%s: no event of that function was seen. "
        "It never ran, or its code was compiled without the plugin, as `aprof coverage PROG` "
        "tells: then its time is in no number until that is",
        shown_count(g->count), g->function->name, g->count == 1 ? "" : "s", of, by);
    free(of);
    return text;
  }
  const char *perhaps = g->unplaced ? "; or ran where an event could not be placed" : "";
  char *text = print_string("%s `%s` future%s%s ha%s never run, ready since %s%s%s",
                            shown_count(g->count), g->function->name, g->count == 1 ? "" : "s", of,
                            g->count == 1 ? "s" : "ve", time_of(g, g->most), by, perhaps);
  free(of);
  return text;
}

static char *leaked_text(const struct group *g, const char *by) {
  char *of = of_alive(g);
  char *text = print_string("%s `%s` futures%s were left at exit, the oldest %s old%s",
                            shown_count(g->count), g->function->name, of, time_of(g, g->most), by);
  free(of);
  return text;
}

static char *place_of(const struct group *g) {
  if (g->kind == FINDING_STUCK)
    return findings_place(g->await->file, g->await->line);
  if (g->kind != FINDING_HELD && g->created_at)
    return print_string("%s", g->created_at);
  return findings_place(g->function->file, g->function->line);
}

static void add_group(struct findings *list, const struct group *g) {
  const char *by = g->creator ? g->creator->name : g->created_by;
  const char *at = g->created_at;
  char *creator = by && at ? print_string(", created by `%s` at %s", by, at)
                  : by     ? print_string(", created by `%s`", by)
                  : at     ? print_string(", created at %s", at)
                           : print_string("%s", "");
  char *text = g->kind == FINDING_HELD        ? holds_text(g, creator)
               : g->kind == FINDING_STUCK     ? stuck_text(g, creator)
               : g->kind == FINDING_NEVER_RAN ? never_ran_text(g, creator)
                                              : leaked_text(g, creator);
  free(creator);
  bool known = !is_unseen(g) && (g->kind != FINDING_HELD || g->most);
  findings_add(list, (struct finding){
                         .kind = g->kind,
                         .weight = is_unseen(g) ? 0 : g->most, /* the last of its kind */
                         .severity = known ? g->most : UNKNOWN,
                         .count = g->count,
                         .goes_on = g->kind == FINDING_HELD,
                         .shed = g->shed,
                         .function = g->function,
                         .at = place_of(g),
                         .created_at = at,
                         .created_by = by,
                         .text = text,
                     });
}

/* -- the whole ------------------------------------------------------------- */

static bool has_unplaced_runs(const struct view *v) {
  for (size_t i = 0; i < v->misses; i++)
    if (!strcmp(v->miss[i].kind, "run") && v->miss[i].count)
      return true;
  return false;
}

/* True where the future is a finding: a group of its own for now. Where events were lost
   nobody knows what it has done since. */
static bool classify(const struct view *v, const struct view_live *live,
                     const struct ask_limits *limits, struct group *g) {
  if (live->function >= v->functions)
    return false;
  *g = (struct group){.function = &v->function[live->function],
                      .await = live->await,
                      .created_at = live->created_at,
                      .created_by = live->created_by,
                      .held_by = live->held_by,
                      .held_from = live->held_from,
                      .tid = live->tid,
                      .shed = live->shed,
                      .lacks = live->lacks,
                      .ended = !strcmp(v->process.reason, "exit") ||
                               !strcmp(v->process.reason, "recovered"),
                      .count = live->count};
  if (live->holds > limits->held || is_cut_short(v, live))
    g->kind = FINDING_HELD;
  else if (v->health.lost_events)
    return false;
  else if (is_stuck(live, g->function, g->await, limits) && !began_before(v, live))
    g->kind = FINDING_STUCK;
  else if (has_never_run(live, g->function, limits))
    g->kind = FINDING_NEVER_RAN;
  else if (is_left(v, live, g->function, g->await, limits))
    g->kind = view_unseen(g->function) ? FINDING_NEVER_RAN : FINDING_LEAKED;
  else
    return false;
  bool leaked = g->kind == FINDING_LEAKED;
  g->least = leaked ? live->age_min : live->since_min;
  g->most = leaked ? live->age : g->kind == FINDING_HELD ? live->holds : live->since;
  return true;
}

static size_t merge(struct group *group, size_t count) {
  size_t kept = 0;
  qsort(group, count, sizeof *group, by_likeness);
  for (size_t i = 0; i < count; i++) {
    struct group *last = kept ? &group[kept - 1] : NULL;
    if (!last || by_likeness(last, &group[i])) {
      group[kept++] = group[i];
      continue;
    }
    last->count += group[i].count;
    last->shed |= group[i].shed;
    last->lacks |= group[i].lacks;
    if (group[i].least < last->least)
      last->least = group[i].least;
    if (group[i].most > last->most)
      last->most = group[i].most;
    if (!last->creator)
      last->creator = group[i].creator;
  }
  return kept;
}

void findings_of_live(struct findings *list, const struct view *v,
                      const struct ask_limits *limits) {
  struct group *group = allocate(v->lives, sizeof *group);
  const struct view_live **ids = allocate(v->lives, sizeof *ids);
  size_t count = 0;
  bool unplaced = has_unplaced_runs(v);
  for (size_t i = 0; i < v->lives; i++)
    ids[i] = &v->live[i];
  qsort(ids, v->lives, sizeof *ids, by_id);
  for (size_t i = 0; i < v->lives; i++)
    if (classify(v, &v->live[i], limits, &group[count])) {
      group[count].creator = creator(v, ids, &v->live[i]);
      group[count].unplaced = unplaced;
      count++;
    }
  count = merge(group, count);
  for (size_t i = 0; i < count; i++)
    if (group[i].kind != FINDING_LEAKED || group[i].count >= limits->leaked)
      add_group(list, &group[i]);
  free(ids);
  free(group);
}
