/*
 * The scenarios that a profiler of futures must get right, as annotated programs
 * on the virtual clock: `scenarios NAME` runs one, scenarios-test.sh knows its
 * numbers. Three models: coroutines on a tiny scheduler (no prefix), functions
 * that are polled until they are ready (frame-), requests with a callback
 * (callback-).
 */
#include <aprof.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static uint64_t now_ms;

/* Time passes here and nowhere else. */
static void busy(unsigned ms) {
  now_ms += ms;
  aprof_clock_advance(ms * UINT64_C(1000000));
}

/* ---- coroutines: sleeping ones, the earliest runs first ----------------------- */

enum { STACK = 64 * 1024 };

struct coroutine {
  struct coroutine *next;
  ucontext_t context, *back;
  uint64_t due_ms;
  void (*run)(void);
  int over;
  char stack[STACK];
};

static struct coroutine *current, *sleeping;

static void sleep_until(struct coroutine *self, uint64_t due_ms) {
  struct coroutine **at = &sleeping;
  while (*at != NULL && (*at)->due_ms <= due_ms)
    at = &(*at)->next;
  self->due_ms = due_ms;
  self->next = *at;
  *at = self;
}

static void trampoline(void) {
  current->run();
  current->over = 1;
  setcontext(current->back);
}

/* Runs until it sleeps or is over; then 1. */
APROF("run key=c:a0 pending=0")
static int proceed(struct coroutine *self) {
  struct coroutine *before = current;
  ucontext_t here;
  self->back = &here;
  current = self;
  swapcontext(&here, &self->context);
  current = before;
  return self->over;
}

APROF("create key=c:ret fn=a0 ready")
static struct coroutine *spawn(void (*run)(void)) {
  struct coroutine *self = calloc(1, sizeof *self);
  if (self == NULL || getcontext(&self->context) != 0)
    abort();
  self->run = run;
  self->context.uc_stack.ss_sp = self->stack;
  self->context.uc_stack.ss_size = STACK;
  makecontext(&self->context, trampoline, 0);
  sleep_until(self, now_ms);
  return self;
}

APROF("end key=c:a0 how=cancelled")
static void destroy(struct coroutine *self) {
  for (struct coroutine **at = &sleeping; *at != NULL; at = &(*at)->next)
    if (*at == self) {
      *at = self->next;
      break;
    }
  free(self);
}

APROF_AWAIT static void pause_ms(unsigned ms) {
  struct coroutine *self = current;
  sleep_until(self, now_ms + ms);
  swapcontext(&self->context, self->back);
}

static void wait_until(uint64_t due_ms) {
  if (due_ms > now_ms)
    busy((unsigned)(due_ms - now_ms));
}

static void run_all(void) {
  while (sleeping != NULL) {
    struct coroutine *next = sleeping;
    sleeping = next->next;
    wait_until(next->due_ms);
    if (proceed(next))
      free(next);
  }
}

static void run_it(void (*body)(void)) {
  spawn(body);
  run_all();
}

/* ---- the scenarios, with coroutines --------------------------------------------- */

APROF("end key=cur how=failed") static void fails(void) {}

APROF_ASYNC static void blocking_child(void) {
  busy(20);
}

APROF_ASYNC static void pausing_child(void) {
  busy(10);
  pause_ms(20);
  busy(10);
}

APROF_ASYNC static void failing_child(void) {
  busy(10);
  fails();
}

APROF_ASYNC static void blocking(void) {
  busy(100);
}
APROF_ASYNC static void non_blocking(void) {
  pause_ms(100);
}

APROF_ASYNC static void pauses(void) {
  busy(10);
  pause_ms(10);
  busy(20);
  pause_ms(30);
  busy(20);
}

APROF_ASYNC static void with_blocking_child(void) {
  busy(10);
  blocking_child();
  busy(10);
}

APROF_ASYNC static void with_pausing_child(void) {
  busy(10);
  pausing_child();
  busy(10);
}

APROF_ASYNC static void with_mixed_children(void) {
  busy(10);
  blocking_child();
  busy(10);
  pausing_child();
  busy(10);
  pausing_child();
  busy(20);
}

APROF_ASYNC static void with_failing_child(void) {
  busy(10);
  failing_child();
  busy(10);
}

APROF_ASYNC static void doomed(void) {
  busy(10);
  pause_ms(1000);
  busy(1000);
}

APROF_ASYNC static void cancels_its_child(void) {
  busy(10);
  struct coroutine *child = spawn(doomed);
  sleeping = sleeping->next; /* it runs at once */
  proceed(child);
  busy(10);
  destroy(child);
  busy(10);
}

APROF_ASYNC static void one_of_ten(void) {
  busy(10);
}
APROF_ASYNC static void of_some_length(unsigned ms) {
  busy(ms);
}

APROF_ASYNC static void three_lengths(void) {
  of_some_length(10);
  of_some_length(50);
  of_some_length(30);
}

static void tidy_up(int *unused) {
  (void)unused;
  busy(5);
  pause_ms(10);
  busy(5);
}

APROF_ASYNC static int with_cleanup(void) {
  __attribute__((cleanup(tidy_up))) int guarded = 1;
  busy(10);
  pause_ms(20);
  return guarded;
}

static void call_with_cleanup(void) {
  with_cleanup();
}

APROF_ASYNC static void born_done(void) {}

APROF_ASYNC static void late_child(void) {
  busy(20);
}

APROF_ASYNC static void ends_first(void) {
  spawn(late_child);
  busy(10);
}

APROF_ASYNC static void grandchild(void) {
  busy(10);
  pause_ms(50);
  busy(10);
  pause_ms(50);
  busy(10);
}

APROF_ASYNC static void child(void) {
  busy(10);
  grandchild();
  busy(10);
}

APROF_ASYNC static void grandparent(void) {
  busy(10);
  child();
  busy(10);
}

static void ten_calls(void) {
  for (int i = 0; i < 10; i++)
    one_of_ten();
}

/* ---- polled functions ------------------------------------------------------------ */

struct frame {
  int line, turn;
  uint64_t due_ms;
  struct frame *child;
};

#define FRAME APROF("run key=f:a0 pending=0") static int
#define BEGIN(f)                                                                                   \
  switch ((f)->line) {                                                                             \
  case 0:
#define UNTIL(f, condition)                                                                        \
  do {                                                                                             \
    (f)->line = __LINE__;                                                                          \
    /* fall through */                                                                             \
  case __LINE__:                                                                                   \
    if (!(condition))                                                                              \
      return 0;                                                                                    \
  } while (0)
#define END                                                                                        \
  }                                                                                                \
  return 1

static int slept(struct frame *f, unsigned ms) {
  if (f->due_ms == 0)
    f->due_ms = now_ms + ms;
  if (now_ms < f->due_ms)
    return 0;
  f->due_ms = 0;
  return 1;
}

/* Polls until it is over; the loop sleeps as long as the innermost frame does. */
static void poll_all(int (*function)(struct frame *), struct frame *f) {
  while (!function(f))
    for (struct frame *inner = f; inner != NULL; inner = inner->child)
      wait_until(inner->due_ms);
}

FRAME frame_blocking_child(struct frame *f) {
  (void)f;
  busy(20);
  return 1;
}

FRAME frame_pausing_child(struct frame *f) {
  BEGIN(f);
  busy(10);
  UNTIL(f, slept(f, 20));
  busy(10);
  END;
}

FRAME frame_blocking(struct frame *f) {
  (void)f;
  busy(100);
  return 1;
}

FRAME frame_pauses(struct frame *f) {
  BEGIN(f);
  busy(10);
  UNTIL(f, slept(f, 10));
  busy(20);
  UNTIL(f, slept(f, 30));
  busy(20);
  END;
}

FRAME frame_mixed(struct frame *f) {
  BEGIN(f);
  busy(10);
  frame_blocking_child(f->child);
  busy(10);
  UNTIL(f, frame_pausing_child(f->child));
  busy(10);
  f->child->line = 0;
  UNTIL(f, frame_pausing_child(f->child));
  busy(20);
  END;
}

FRAME frame_doomed(struct frame *f) {
  BEGIN(f);
  busy(10);
  UNTIL(f, slept(f, 1000));
  END;
}

APROF("end key=f:a0 how=cancelled") static void abandon(struct frame *f) {
  f->line = 0;
}

FRAME frame_cancels(struct frame *f) {
  busy(10);
  frame_doomed(f->child);
  busy(10);
  abandon(f->child);
  busy(10);
  return 1;
}

static void poll_it(int (*function)(struct frame *)) {
  struct frame inner = {0, 0, 0, NULL}, outer = {0, 0, 0, &inner};
  poll_all(function, &outer);
}

/* ---- requests ------------------------------------------------------------------- */

struct request {
  struct request *next;
  uint64_t due_ms;
  void (*done)(struct request *);
};

static struct request *pending;

APROF("create key=r:a0 fn=a1 ok=ret==0 | run key=r:a0 once")
static int submit(struct request *r, void (*done)(struct request *), unsigned ms) {
  struct request **at = &pending;
  r->due_ms = now_ms + ms;
  r->done = done;
  while (*at != NULL && (*at)->due_ms <= r->due_ms)
    at = &(*at)->next;
  r->next = *at;
  *at = r;
  return 0;
}

APROF("end key=r:a0 how=cancelled")
static void cancel(struct request *r) {
  for (struct request **at = &pending; *at != NULL; at = &(*at)->next)
    if (*at == r) {
      *at = r->next;
      break;
    }
}

static void serve(void) {
  while (pending != NULL) {
    struct request *r = pending;
    pending = r->next;
    wait_until(r->due_ms);
    r->done(r);
  }
}

static struct request first, second;

static void on_blocking(struct request *r) {
  (void)r;
  busy(100);
}

static void on_child(struct request *r) {
  (void)r;
  busy(20);
}

static void on_parent(struct request *r) {
  (void)r;
  submit(&second, on_child, 0);
  busy(10);
}

static void on_again(struct request *r) {
  static int left = 2;
  busy(10);
  if (left-- > 0)
    submit(r, on_again, 30);
}

static void on_canceller(struct request *r) {
  (void)r;
  busy(20);
  submit(&second, on_child, 1000);
  busy(20);
  cancel(&second);
}

/* Each names its callback at the call: this is how the plugin knows its body. */
static void request_blocking(void) {
  submit(&first, on_blocking, 0);
}
static void request_parent(void) {
  submit(&first, on_parent, 0);
}
static void request_again(void) {
  submit(&first, on_again, 0);
}
static void request_canceller(void) {
  submit(&first, on_canceller, 0);
}

/* ---- the command ------------------------------------------------------------------ */

static const struct {
  const char *name;
  void (*coroutine)(void);
  int (*frame)(struct frame *);
  void (*request)(void);
} scenarios[] = {
    {"blocking", blocking, NULL, NULL},
    {"non-blocking", non_blocking, NULL, NULL},
    {"pauses", pauses, NULL, NULL},
    {"blocking-child", with_blocking_child, NULL, NULL},
    {"pausing-child", with_pausing_child, NULL, NULL},
    {"mixed", with_mixed_children, NULL, NULL},
    {"failing-child", with_failing_child, NULL, NULL},
    {"cancelled-child", cancels_its_child, NULL, NULL},
    {"ten-calls", ten_calls, NULL, NULL},
    {"maximum", three_lengths, NULL, NULL},
    {"cleanup", call_with_cleanup, NULL, NULL},
    {"born-done", born_done, NULL, NULL},
    {"late-child", ends_first, NULL, NULL},
    {"grandchildren", grandparent, NULL, NULL},
    {"frame-blocking", NULL, frame_blocking, NULL},
    {"frame-pauses", NULL, frame_pauses, NULL},
    {"frame-mixed", NULL, frame_mixed, NULL},
    {"frame-cancelled-child", NULL, frame_cancels, NULL},
    {"callback-blocking", NULL, NULL, request_blocking},
    {"callback-late-child", NULL, NULL, request_parent},
    {"callback-reused", NULL, NULL, request_again},
    {"callback-cancelled", NULL, NULL, request_canceller},
};

int main(int argc, char **argv) {
  for (unsigned i = 0; argc == 2 && i < sizeof scenarios / sizeof *scenarios; i++) {
    if (strcmp(argv[1], scenarios[i].name) != 0)
      continue;
    if (scenarios[i].coroutine != NULL)
      run_it(scenarios[i].coroutine);
    if (scenarios[i].frame != NULL)
      poll_it(scenarios[i].frame);
    if (scenarios[i].request != NULL)
      scenarios[i].request();
    serve();
    return 0;
  }
  fprintf(stderr, "Usage: scenarios NAME\n");
  return 2;
}
/* SPDX-License-Identifier: MIT */
