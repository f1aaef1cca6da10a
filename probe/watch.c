/* SPDX-License-Identifier: MIT */
/* Watching; see watch.h. */
#include "watch.h"

#include "breakpoint.h"
#include "read/util.h"
#include "tally.h"
#include "unwind.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  LOOK_MS = 50,       /* so often threads are looked for, and the rate */
  OPEN_MOST = 65536,  /* calls whose return is waited for */
  STACK_RETURN = 256, /* where it returns to stands in memory as long as it has not returned */
  STACK_LOCALS = 2048,
  STACK_ALL = 16384,
};

/* A call whose return is to come. */
struct open_call {
  uint64_t frame, time;
};

struct watching {
  struct debug *debug;
  const struct places *places;
  const struct watch *watch;
  struct probe_result *result;
  struct breakpoints *breakpoints;
  struct expression *shown[PROBE_SHOWN], *condition;
  struct open_call *open;
  size_t opens;
  uint64_t returns[PROBE_ADDRESSES];
  size_t return_count;
  struct histogram durations;
  uint64_t duration_max;
  uint64_t began, looked, looked_hits;
  bool is_copy; /* what the kernel fills is the other process's */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* -- calls and returns -------------------------------------------------------------- */

static bool is_return(const struct watching *w, uint64_t address) {
  for (size_t i = 0; i < w->return_count; i++)
    if (w->returns[i] == address)
      return true;
  return false;
}

/* The call that has that frame; taken off. 0: there is none. */
static uint64_t call_closes(struct watching *w, uint64_t frame) {
  for (size_t i = w->opens; i > 0; i--)
    if (w->open[i - 1].frame == frame) {
      uint64_t time = w->open[i - 1].time;
      w->open[i - 1] = w->open[--w->opens];
      return time;
    }
  return 0;
}

static void call_opens(struct watching *w, const struct hit *h) {
  uint64_t frame = location_frame(h), back = 0;
  bool late = false;
  if (frame == 0 || !hit_read(h, frame - 8, &back, sizeof back, &late) || back == 0) {
    w->result->unpaired++;
    return;
  }
  if (call_closes(w, frame) != 0)
    w->result->unpaired++; /* its frame is used again: it has returned elsewhere */
  if (!is_return(w, back)) {
    if (w->places->count + w->return_count == PROBE_ADDRESSES ||
        breakpoints_arm(w->breakpoints, back) != 0) {
      w->result->unpaired++;
      return;
    }
    w->returns[w->return_count++] = back;
  }
  if (w->opens == OPEN_MOST) {
    w->result->unpaired++;
    return;
  }
  w->open = reallocate(w->open, w->opens + 1, sizeof *w->open);
  w->open[w->opens++] = (struct open_call){frame, h->time};
}

/* -- hits -------------------------------------------------------------------------- */

static void tell(struct watching *w, const struct hit *h, const struct probe_place *place,
                 uint64_t duration, char *const *value) {
  const struct watch_hit told = {.at = h->time > w->began ? h->time - w->began : 0,
                                 .tid = h->tid,
                                 .place = place,
                                 .duration = duration,
                                 .value = value,
                                 .values = w->watch->showns};
  if (w->watch->tell)
    w->watch->tell(&told, w->watch->context);
}

/* `place`: where it is, or NULL: a return. */
static void locate(struct watching *w, const struct breakpoint_hit *b,
                   const struct probe_place *place, struct hit *h) {
  *h = (struct hit){.debug = w->debug,
                    .stack = b->stack,
                    .stack_size = b->stack_size,
                    .time = b->time,
                    .tid = b->tid,
                    .function = place && w->places->entry ? place->function : NULL};
  memcpy(h->reg, b->reg, sizeof h->reg);
  h->module = dwfl_addrmodule(w->debug->dwfl, b->address);
  h->unit = h->module ? dwfl_module_addrdie(h->module, b->address, &h->bias) : NULL;
  h->pc = b->address - h->bias;
}

static void returned(struct watching *w, const struct hit *h) {
  uint64_t began = call_closes(w, h->reg[MACHINE_STACK]);
  if (began == 0 || h->time < began)
    return;
  uint64_t took = h->time - began;
  struct probe_result *r = w->result;
  r->durations++;
  r->duration_sum += took;
  if (took > w->duration_max)
    w->duration_max = took;
  w->durations.count[aprof_bucket_of(took)]++;
  w->durations.total++;
  if (took < w->watch->over)
    return;
  r->overs++;
  tell(w, h, NULL, took, NULL);
}

static void sum_up(struct watching *w, const struct hit *h, const struct probe_place *place) {
  struct probe_result *r = w->result;
  char *value[PROBE_SHOWN] = {NULL};
  for (size_t i = 0; i < w->watch->showns; i++) {
    struct value v = h->unit ? expression_value(w->shown[i], h)
                             : (struct value){.fault = "no debug information is here"};
    bool is_number = false;
    int64_t number = 0;
    char *text = value_text(h, &v, &is_number, &number);
    if (text) {
      value[i] = print_string("%s", text);
      tally_value(&r->shown[i], text, is_number ? &number : NULL, v.late);
    } else {
      tally_unknown(&r->shown[i], v.fault);
    }
  }
  if (w->watch->stack)
    tally_stack(r, unwind_text(h));
  if (!w->watch->duration)
    tell(w, h, place, UINT64_MAX, value);
  for (size_t i = 0; i < w->watch->showns; i++)
    free(value[i]);
}

static const struct probe_place *place_of(const struct probe_result *r, uint64_t address) {
  for (size_t i = 0; i < r->places; i++)
    if (r->place[i].address == address)
      return &r->place[i];
  return NULL;
}

static void handle(struct watching *w, const struct breakpoint_hit *b) {
  struct probe_result *r = w->result;
  bool is_back = w->watch->duration && is_return(w, b->address);
  const struct probe_place *place = is_back ? NULL : place_of(r, b->address);
  struct hit h;
  if (!is_back && !place)
    return;
  locate(w, b, place, &h);
  if (is_back) {
    returned(w, &h);
    return;
  }
  r->seen++;
  if (w->condition) {
    const char *fault = NULL;
    bool holds = h.unit && expression_holds(w->condition, &h, &fault);
    if (fault || !h.unit) {
      r->undecided++;
      r->why_undecided = fault ? fault : "no debug information is here";
    }
    if (!holds)
      return;
  }
  r->matched++;
  sum_up(w, &h, place);
  if (w->watch->duration)
    call_opens(w, &h);
}

/* -- all of it --------------------------------------------------------------------- */

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
  return interrupted || (asked->span && now - w->began >= asked->span) ||
         (asked->most && told >= asked->most);
}

/* Until the rings are empty; while the kernel still fills them, until it is time to look. */
static void take_all(struct watching *w, bool filling) {
  struct breakpoint_hit hit;
  while (breakpoints_next(w->breakpoints, &hit)) {
    if (!w->watch->most || !is_over(w, w->began))
      handle(w, &hit);
    uint64_t now = filling ? breakpoints_now() : 0;
    if (filling && (is_over(w, now) || now - w->looked >= (uint64_t)LOOK_MS * 1000000u))
      return;
  }
}

static void go(struct watching *w) {
  int ends = (int)syscall(SYS_pidfd_open, (pid_t)w->debug->pid, 0);
  struct sigaction action = {.sa_handler = on_interrupt}, before[2];
  sigaction(SIGINT, &action, &before[0]);
  sigaction(SIGTERM, &action, &before[1]);
  w->began = w->looked = breakpoints_now();
  breakpoints_threads(w->breakpoints, w->began);
  if (w->watch->started)
    w->watch->started(w->watch->context);
  for (uint64_t now = w->began;; now = breakpoints_now()) {
    if (is_over(w, now))
      break;
    uint64_t left = w->watch->span ? (w->watch->span - (now - w->began)) / 1000000 + 1 : LOOK_MS;
    w->result->ended = breakpoints_wait(w->breakpoints, ends, left < LOOK_MS ? (int)left : LOOK_MS);
    take_all(w, !w->result->ended);
    uint64_t looked = w->looked;
    if (w->result->ended || !look(w, breakpoints_now()))
      break;
    if (w->looked != looked && w->watch->look && w->watch->look(w->watch->context)) {
      w->is_copy = true;
      w->result->elapsed = breakpoints_now() - w->began;
      return;
    }
  }
  breakpoints_stop(w->breakpoints);
  take_all(w, false);
  w->result->elapsed = breakpoints_now() - w->began;
  sigaction(SIGINT, &before[0], NULL);
  sigaction(SIGTERM, &before[1], NULL);
  if (ends >= 0)
    close(ends);
}

static void settle(struct watching *w) {
  struct probe_result *r = w->result;
  for (size_t i = 0; i < r->places; i++) {
    r->place[i].hits = breakpoints_count(w->breakpoints, r->place[i].address);
    r->hits += r->place[i].hits;
  }
  breakpoints_say(w->breakpoints, r);
  /* The kernel tells of what it lost with the next record only. */
  if (!w->is_copy && !w->watch->most && r->hits > r->seen && r->hits - r->seen > r->lost)
    r->lost = r->hits - r->seen;
  r->unpaired += w->opens;
  if (r->durations)
    r->duration = histogram_convert(&r->arena, &w->durations, (uint64_t)1 << 32, w->duration_max);
  tally_settle(r);
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

static bool arm_all(struct watching *w) {
  for (size_t i = 0; i < w->result->places; i++) {
    int error = breakpoints_arm(w->breakpoints, w->result->place[i].address);
    if (error) {
      breakpoints_refused(error, w->watch->what, w->debug->pid);
      return false;
    }
  }
  return true;
}

static uint32_t stack_wanted(const struct watch *watch) {
  if (watch->stack)
    return STACK_ALL;
  if (watch->showns || watch->condition)
    return STACK_LOCALS;
  return watch->duration ? STACK_RETURN : 0;
}

bool watch_run(struct debug *d, const struct places *places, const struct watch *watch,
               struct probe_result *r) {
  struct watching w = {.debug = d, .places = places, .watch = watch, .result = r};
  r->what = watch->what;
  r->asked = watch->asked;
  r->pid = d->pid;
  r->has_duration = watch->duration;
  r->over = watch->over;
  r->ceiling = watch->ceiling;
  r->places = places->count < PROBE_ADDRESSES ? places->count : PROBE_ADDRESSES;
  memcpy(r->place, places->place, r->places * sizeof *r->place);
  bool ok = parse_all(&w) && (!watch->stack || unwind_start(d));
  w.breakpoints = breakpoints_new(d->pid, stack_wanted(watch));
  ok = ok && arm_all(&w);
  if (ok) {
    go(&w);
    settle(&w);
  }
  breakpoints_free(w.breakpoints);
  for (size_t i = 0; i < watch->showns; i++)
    expression_free(w.shown[i]);
  expression_free(w.condition);
  free(w.open);
  return ok;
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
  arena_free(&r->arena);
}
