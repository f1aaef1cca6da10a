/* SPDX-License-Identifier: MIT */
/* Watching; see watch.h. */
#include "watch.h"

#include "read/util.h"
#include "unwind.h"
#include "watch-state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  LOOK_MS = 50,       /* so often threads are looked for, and the rate */
  STACK_RETURN = 256, /* where it returns to stands in memory as long as it has not returned */
  STACK_LOCALS = 2048,
  STACK_ALL = 16384,
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

static uint64_t hits_now(const struct watching *w) {
  uint64_t hits = 0;
  for (size_t i = 0; i < w->result->places; i++)
    hits += breakpoints_count(w->breakpoints, w->result->place[i].address);
  return hits;
}

/* Now and then: new threads, and whether it comes by too often. False: it does. */
static bool look(struct watching *w, uint64_t now) {
  uint64_t passed = now - w->looked;
  if (passed < (uint64_t)LOOK_MS * 1000000u)
    return true;
  uint64_t hits = hits_now(w); /* a call of the kernel for each thread */
  bool hot = (double)(hits - w->looked_hits) * 1e9 > (double)w->watch->ceiling * (double)passed;
  w->looked = now;
  w->looked_hits = hits;
  if (hot) {
    breakpoints_stop(w->breakpoints);
    w->result->too_hot = true;
    return false;
  }
  breakpoints_threads(w->breakpoints, now);
  return true;
}

static bool is_over(const struct watching *w, uint64_t now) {
  const struct watch *asked = w->watch;
  uint64_t told = asked->duration && asked->over ? w->result->overs : w->result->matched;
  return interrupted || (asked->span && now - w->result->began >= asked->span) ||
         (asked->most && told >= asked->most);
}

/* Until the rings are empty; while the kernel still fills them, until then. */
static void take_all(struct watching *w, uint64_t until) {
  struct breakpoint_hit hit;
  while (breakpoints_next(w->breakpoints, &hit)) {
    if (!w->watch->most || !is_over(w, w->result->began))
      watch_hit(w, &hit);
    uint64_t now = until ? clock_monotonic() : 0;
    if (until && (is_over(w, now) || now >= until))
      return;
  }
}

/* -- code that is loaded later ---------------------------------------------------------- */

static void add_place(struct watching *w, const struct probe_place *p) {
  struct probe_result *r = w->result;
  for (size_t i = 0; i < r->places; i++)
    if (r->place[i].address == p->address)
      return;
  bool room = r->places + w->return_count < watch_most(w->watch);
  if (!room || (w->watch->duration && p->inlined) ||
      breakpoints_arm(w->breakpoints, p->address) != 0) {
    r->unwatched_places++;
    return;
  }
  r->place[r->places++] = *p;
  r->late_places++;
}

static void look_again(struct watching *w) {
  enum { MAPPED_NS = 1000000 }; /* until a library has all its parts */
  struct probe_result *r = w->result;
  struct places found;
  uint64_t when, before = r->late_places;
  if (!breakpoints_mapped(w->breakpoints, &when))
    return;
  nanosleep(&(struct timespec){.tv_nsec = MAPPED_NS}, NULL);
  debug_refresh(w->debug);
  complain_never(true);
  bool any = place_find(w->debug, &r->arena, w->watch->asked, &found);
  complain_never(false);
  for (size_t i = 0; any && i < found.count; i++)
    add_place(w, &found.place[i]);
  free(found.place);
  uint64_t now = clock_monotonic();
  if (r->late_places > before && now > when && now - when > r->late_places_most)
    r->late_places_most = now - when;
}

/* ---------------------------------------------------------------------------------------- */

bool watch_arm(struct watching *w) {
  struct probe_result *r = w->result;
  int nowhere = r->places == 0 ? breakpoints_arm(w->breakpoints, 0) : 0;
  if (nowhere) {
    breakpoints_refused(w->breakpoints, nowhere, w->watch->what);
    return false;
  }
  for (size_t i = 0; i < r->places; i++) {
    int error = breakpoints_arm(w->breakpoints, r->place[i].address);
    if (error) {
      breakpoints_refused(w->breakpoints, error, w->watch->what);
      return false;
    }
  }
  const struct sigaction action = {.sa_handler = on_interrupt};
  sigaction(SIGINT, &action, &w->before[0]);
  sigaction(SIGTERM, &action, &w->before[1]);
  w->ends = (int)syscall(SYS_pidfd_open, (pid_t)w->debug->pid, 0);
  w->armed = true;
  r->began = w->looked = clock_monotonic();
  breakpoints_threads(w->breakpoints, r->began);
  return true;
}

bool watch_go(struct watching *w, uint64_t ns) {
  const uint64_t often = (uint64_t)LOOK_MS * 1000000u;
  struct probe_result *r = w->result;
  uint64_t now = clock_monotonic(), until = now + (ns < often ? ns : often);
  if (w->watch->span && r->began + w->watch->span < until)
    until = r->began + w->watch->span;
  if (is_over(w, now))
    return false;
  int ms = until > now ? (int)((until - now) / 1000000) + 1 : 0;
  r->ended = breakpoints_wait(w->breakpoints, w->ends, ms);
  take_all(w, r->ended ? 0 : until > now ? until : now + 1);
  if (!r->ended)
    look_again(w);
  return !r->ended && look(w, clock_monotonic()) && !is_over(w, clock_monotonic());
}

void watch_stop(struct watching *w) {
  if (!w->armed)
    return;
  w->armed = false;
  breakpoints_stop(w->breakpoints);
  take_all(w, 0);
  while (w->opens)
    watch_unpaired(w, &w->open[--w->opens].hit);
  w->result->elapsed = clock_monotonic() - w->result->began;
  sigaction(SIGINT, &w->before[0], NULL);
  sigaction(SIGTERM, &w->before[1], NULL);
  if (w->ends >= 0)
    close(w->ends);
}

void watch_count(struct watching *w, size_t hit, const char *above) {
  tally_hit(&w->tally, &w->result->hit[hit], above);
}

void watch_settle(struct watching *w) {
  struct probe_result *r = w->result;
  for (size_t i = 0; i < r->places; i++) {
    r->place[i].hits = breakpoints_count(w->breakpoints, r->place[i].address);
    r->hits += r->place[i].hits;
  }
  breakpoints_say(w->breakpoints, r);
  /* The kernel tells of what it lost with the next record only. */
  if (!w->is_copy && !w->watch->most && r->hits > r->seen && r->hits - r->seen > r->lost)
    r->lost = r->hits - r->seen;
  tally_settle(&w->tally);
}

void watch_so_far(struct watching *w) {
  w->is_copy = true;
  w->result->unpaired += w->opens;
  w->result->elapsed = clock_monotonic() - w->result->began;
  watch_settle(w);
}

static bool parse_all(struct watching *w) {
  for (size_t i = 0; i < w->watch->showns; i++) {
    w->result->shown[i].text = w->watch->shown[i];
    if (!(w->shown[i] = expression_parse(w->watch->shown[i])))
      return false;
  }
  w->result->showns = w->watch->showns;
  w->result->condition = w->watch->condition;
  return !w->watch->condition || (w->condition = expression_parse(w->watch->condition)) != NULL;
}

static uint32_t stack_wanted(const struct watch *watch) {
  if (watch->stack)
    return STACK_ALL;
  if (watch->showns || watch->condition)
    return STACK_LOCALS;
  return watch->duration ? STACK_RETURN : 0;
}

struct watching *watch_new(struct debug *d, const struct places *places, const struct watch *watch,
                           struct probe_result *r) {
  struct watching *w = allocate(1, sizeof *w);
  *w = (struct watching){.debug = d, .places = places, .watch = watch, .result = r, .ends = -1};
  w->tally.result = r;
  r->what = watch->what;
  r->asked = watch->asked;
  r->pid = d->pid;
  r->has_duration = watch->duration;
  r->over = watch->over;
  r->ceiling = watch->ceiling;
  r->places = places->count < PROBE_ADDRESSES ? places->count : PROBE_ADDRESSES;
  memcpy(r->place, places->place, r->places * sizeof *r->place);
  if (parse_all(w) && (!watch->stack || unwind_start(d))) {
    w->breakpoints = breakpoints_new(d->pid, stack_wanted(watch), watch->instructions);
    return w;
  }
  watch_free(w);
  return NULL;
}

void watch_free(struct watching *w) {
  if (!w)
    return;
  watch_stop(w);
  for (size_t i = 0; i < w->watch->showns; i++)
    expression_free(w->shown[i]);
  expression_free(w->condition);
  if (w->breakpoints)
    breakpoints_free(w->breakpoints);
  free(w->open);
  free(w);
}

void watch_release(struct probe_result *r) {
  for (size_t i = 0; i < r->showns; i++) {
    for (size_t j = 0; j < r->shown[i].values; j++)
      free(r->shown[i].value[j].text);
    free(r->shown[i].value);
    free(r->shown[i].why);
  }
  for (size_t i = 0; i < r->stacks; i++)
    free(r->stack[i].stack);
  free(r->stack);
  for (size_t i = 0; i < r->kept; i++)
    tally_drop(r, &r->hit[i]);
  free(r->hit);
  free(r->kind);
  arena_free(&r->arena);
}
