/* SPDX-License-Identifier: MIT */
/* Threads: blocks and their leases, stacks that move, signal handlers. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "unit.h"

FUNCTION_SITE(work);
FUNCTION_SITE(child);
FUNCTION_SITE(handler);
AWAIT_SITE(nap);
IDLE_SITE(poller);
CREATE_SITE(spawn, 0, 1);
RUN_SITE(resume_it, 0, 1);
END_SITE(end_it, 1);
WAKE_SITE(wake_it, 1);
enum { KEY = 0x7f00 };

static void one(uint64_t ns) {
  token t;
  enter(&work, &t);
  pass(ns);
  leave(&t);
}

static uint64_t of_thread(pid_t tid, const char *what) {
  char name[32];
  snprintf(name, sizeof name, "thread %d", (int)tid);
  return total_of(name, what, true);
}

static void on_a_thread(void *(*function)(void *), void *argument) {
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, function, argument), 0);
  pthread_join(thread, NULL);
}

/* -- blocks ------------------------------------------------------------------- */

static void *works(void *tid) {
  *(pid_t *)tid = gettid();
  one(10);
  token i;
  idle(&poller, &i);
  pass(5);
  idled(&i);
  pass(2);
  one(1);
  return NULL;
}

START_TEST(each_thread_has_its_times) {
  attach();
  pid_t tid;
  one(100);
  on_a_thread(works, &tid);
  ck_assert_uint_eq(of_thread(tid, "exec"), 11);
  ck_assert_uint_eq(of_thread(tid, "idle"), 5);
  ck_assert_uint_eq(of_thread(tid, "other"), 2);
  ck_assert_uint_eq(of_thread(tid, "elapsed"), 18);
  ck_assert_uint_eq(of_thread(getpid(), "exec"), 100);
  ck_assert_uint_eq(of_thread(getpid(), "other"), 18);
  pass(1000); /* after its end a thread has no time */
  ck_assert_uint_eq(of_thread(tid, "elapsed"), 18);
  expect("work", "done", 3);
}
END_TEST

/* What free blocks have counted, and what of it was counted at a step: all. */
static void add_events(uint64_t *events, uint64_t *at_steps) {
  for (uint64_t at = profile()->header_size; at < profile()->used;) {
    const struct aprof_chunk *chunk = (const void *)((const char *)profile() + at);
    const struct aprof_block *b = (const void *)(chunk + 1);
    if (chunk->type == APROF_CHUNK_BLOCK && b->state == APROF_THREAD_FREE) {
      *events += b->sequence / 2;
      for (int step = 0; step < APROF_STEPS; step++)
        *at_steps += b->at_step[step].events;
    }
    at += chunk->size ? chunk->size : APROF_PAGE;
  }
}

START_TEST(blocks_are_leased_again) {
  attach();
  pid_t tid;
  for (unsigned i = 0; i < 200; i++)
    on_a_thread(works, &tid);
  ck_assert_uint_le(profile()->blocks, 2);
  uint64_t events = 0, at_steps = 0;
  add_events(&events, &at_steps);
  ck_assert_uint_ge(events, 200 * 4);
  ck_assert_uint_eq(at_steps, events);
  expect("work", "done", 400);
  expect("work", "exec", 200 * 11);
}
END_TEST

static void *counts_memory(void *taken) {
  token t;
  size_t before = mallinfo2().uordblks;
  enter(&work, &t);
  leave(&t);
  *(size_t *)taken = mallinfo2().uordblks - before;
  return NULL;
}

/* A thread's first event may be in a handler that interrupted its malloc; and what it left
   running is over once its block is wanted by others. */
START_TEST(a_first_event_takes_no_memory) {
  pthread_key_t key;
  for (int i = 0; i < 40; i++) /* the runtime's own is none of those that need none */
    ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
  attach();
  size_t taken = 1;
  for (unsigned i = 0; i < 100; i++) {
    on_a_thread(counts_memory, &taken);
    ck_assert_uint_eq(taken, 0);
  }
  ck_assert_uint_le(profile()->blocks, 64);
  expect("work", "done", 100);
}
END_TEST

enum { THREADS = 8, ROUNDS = 5000 };
static pthread_barrier_t together;

static void *hurries(void *unused) {
  (void)unused;
  pthread_barrier_wait(&together);
  for (unsigned i = 0; i < ROUNDS; i++) {
    token t, c, w;
    enter(&work, &t);
    enter(&child, &c);
    suspend(&nap, &w);
    pass(1);
    resume(&w);
    leave(&c);
    leave(&t);
  }
  return NULL;
}

/* Counts and the partition hold whatever the interleaving. */
START_TEST(many_at_once) {
  attach();
  pthread_t threads[THREADS];
  pthread_barrier_init(&together, NULL, THREADS);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, hurries, NULL);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  expect("work", "done", THREADS * ROUNDS);
  expect("work > child", "done", THREADS * ROUNDS);
  expect("child @ nap", "count", THREADS * ROUNDS);
  expect("work @ child", "count", THREADS * ROUNDS);
  expect("work @ child", "immediate", 0);
  expect("health", "missed", 0);
  expect("health", "lost", 0);
  uint64_t parts = total("work", "exec") + total("work", "waiting") + total("work", "queued");
  expect("work", "wall", parts);
}
END_TEST

/* -- stacks that move ----------------------------------------------------------- */

static token body_token, nap_token;

static void *goes_on(void *unused) {
  (void)unused;
  one(0);
  pass(3);
  resume(&nap_token);
  pass(7);
  leave(&body_token);
  return NULL;
}

START_TEST(resumed_on_another_thread) {
  attach();
  enter(&work, &body_token);
  pass(5);
  suspend(&nap, &nap_token);
  on_a_thread(goes_on, NULL);
  expect("work", "exec", 12);
  expect("work @ nap", "waiting", 3);
  expect("work", "done", 2);
  expect("health", "migrations", 1);
  expect("health", "missed", 0);
}
END_TEST

/* What waited on one thread runs on another when the first, which has done nothing since, leaves
   its body: that is a missed event, of what runs elsewhere. */
static pthread_barrier_t both;

static void *runs_meanwhile(void *unused) {
  (void)unused;
  resume(&nap_token);
  pass(7);
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  leave(&body_token);
  return NULL;
}

START_TEST(left_where_it_waited) {
  enum { KNOWN = 20 };
  attach();
  for (unsigned i = 0; i < KNOWN; i++) { /* what usual events need is there */
    enter(&work, &body_token);
    pass(100);
    suspend(&nap, &nap_token);
    pass(100);
    resume(&nap_token);
    leave(&body_token);
  }
  enter(&work, &body_token);
  suspend(&nap, &nap_token);
  pthread_t thread;
  ck_assert_int_eq(pthread_barrier_init(&both, NULL, 2), 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, runs_meanwhile, NULL), 0);
  pthread_barrier_wait(&both);
  leave(&body_token);
  expect("work", "live", 1);
  expect("health", "missed", 1);
  pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
  expect("work", "done", KNOWN + 1);
  expect("work", "exec", 100 * KNOWN + 7);
  expect("health", "missed", 1);
}
END_TEST

static void *wakes_and_runs(void *unused) {
  (void)unused;
  pass(10);
  wake(&wake_it, KEY);
  pass(20);
  token r;
  run(&resume_it, &r, KEY, &work);
  pass(1);
  ran(&r, APROF_DONE);
  return NULL;
}

START_TEST(woken_and_run_by_another_thread) {
  attach();
  new_future(&spawn, &work, KEY);
  token r, t, w;
  run(&resume_it, &r, KEY, NULL);
  enter(&work, &t);
  suspend(&nap, &w);
  ran(&r, APROF_PENDING);
  on_a_thread(wakes_and_runs, NULL);
  expect("work", "queued", 20);
  expect("work @ nap", "waiting", 10);
  expect("work", "exec", 1);
  expect("work", "created", 1);
}
END_TEST

static void *ends_it(void *unused) {
  (void)unused;
  end(&end_it, KEY, APROF_CANCELLED);
  return NULL;
}

/* It runs here: it is over when its bracket closes, and its key is free at once. */
START_TEST(ended_by_another_thread_while_it_runs) {
  attach();
  token r;
  new_future(&spawn, &work, KEY);
  run(&resume_it, &r, KEY, &work);
  pass(5);
  on_a_thread(ends_it, NULL);
  expect("work", "live", 1);
  pass(5);
  ran(&r, APROF_PENDING);
  expect("work", "cancelled", 1);
  expect("work", "exec", 10);
}
END_TEST

enum { ASKED = 3000, AT_ONCE = 64 };

static uint32_t begun, asked;

static void *ends_what_awaits(void *unused) {
  (void)unused;
  for (uint32_t i = 1; i <= ASKED; i++) {
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < i)
      sched_yield();
    end(&end_it, KEY + 16 * i, APROF_CANCELLED);
    __atomic_store_n(&asked, i, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* It is asked to end beside its state, which the same instruction must not write. */
START_TEST(ended_by_another_thread_while_it_awaits) {
#ifdef __SANITIZE_THREAD__
  return; /* two threads without an order between them are what it reports */
#endif
  attach();
  pthread_t thread;
  pthread_create(&thread, NULL, ends_what_awaits, NULL);
  for (uint32_t i = 1; i <= ASKED; i++) {
    token r, a;
    new_future(&spawn, &work, KEY + 16 * i);
    run(&resume_it, &r, KEY + 16 * i, &work);
    __atomic_store_n(&begun, i, __ATOMIC_RELEASE);
    for (unsigned awaits = 1; __atomic_load_n(&asked, __ATOMIC_ACQUIRE) < i; awaits++) {
      suspend(&nap, &a);
      resume(&a);
      if (awaits % AT_ONCE == 0) /* or who is to ask may not get the processor */
        sched_yield();
    }
    ran(&r, APROF_PENDING);
  }
  pthread_join(thread, NULL);
  expect("work", "cancelled", ASKED);
  expect("work", "live", 0);
}
END_TEST

/* -- threads that end -------------------------------------------------------------- */

static void *exits_inside(void *unused) {
  (void)unused;
  token t, c;
  enter(&work, &t);
  pass(3);
  enter(&child, &c);
  pass(4);
  pthread_exit(NULL);
}

START_TEST(thread_that_ends_inside_a_body) {
  attach();
  on_a_thread(exits_inside, NULL);
  pass(100);
  expect("work", "cancelled", 1);
  expect("work", "exec", 3);
  expect("work", "wall", 7);
  expect("work > child", "cancelled", 1);
  expect("work > child", "exec", 4);
}
END_TEST

static token elsewhere[2]; /* in no thread's own stack: as of a coroutine */

/* Cancelled in the call that it awaits; frames of others are gone with the stack. */
static void *ends_awaiting(void *poll) {
  token t, c, a;
  enter(&work, &t);
  pass(3);
  enter(&child, &c);
  pass(4);
  if (poll != NULL)
    idle(&poller, &a);
  else
    suspend(&nap, &a);
  pass(5);
  pthread_exit(NULL);
}

static void *leaves_a_coroutine(void *unused) {
  enter(&work, &elsewhere[0]);
  pass(3);
  suspend(&nap, &elsewhere[1]);
  pass(5);
  return unused;
}

START_TEST(thread_that_ends_in_an_await) {
  attach();
  on_a_thread(ends_awaiting, NULL);
  on_a_thread(ends_awaiting, &poller);
  pass(100);
  expect("work", "cancelled", 2);
  expect("work > child", "cancelled", 2);
  expect("work", "wall", 2 * 12);
  expect("work @ child", "waiting", 2 * 9);
  expect("work > child @ nap", "waiting", 5);
  expect("work > child @ poller", "waiting", 5);
  expect("work", "live", 0);
  on_a_thread(leaves_a_coroutine, NULL);
  expect("work", "live", 1);
  resume(&elsewhere[1]);
  leave(&elsewhere[0]);
  expect("work", "done", 1);
  expect("work @ nap", "waiting", 5);
}
END_TEST

/* -- signals ----------------------------------------------------------------------- */

static volatile unsigned interrupted;

static void on_signal(int number) {
  (void)number;
  token t;
  enter(&handler, &t);
  leave(&t);
  interrupted++;
}

/* A handler in the middle of an event is not recorded, but counted; elsewhere it is
   a body like any other. Whatever it hits, nothing else changes. */
START_TEST(handlers_between_and_inside_events) {
  attach();
  one(0);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, NULL);
  unsigned rounds = 0;
  while (interrupted < 2000 && rounds < 3000000) {
    one(1);
    rounds++;
  }
  struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  expect("work", "done", rounds + 1);
  expect("work", "live", 0);
  expect("work", "exec", rounds);
  uint64_t seen = total("handler", "done"), nested = total("health", "nested");
  ck_assert_uint_le(seen, interrupted);
  ck_assert_uint_le(interrupted - seen, nested);
  expect("handler", "live", 0);
  expect("health", "missed", 0);
  ck_assert_uint_eq(of_thread(getpid(), "exec"), rounds);
}
END_TEST

#if defined __x86_64__
enum { STEPS = 28 };
#define TRAPS 0x100ll /* of the processor's flags: a signal behind each instruction */

static volatile long steps_before;

static void on_step(int number, siginfo_t *info, void *context) {
  (void)info;
  if (steps_before-- > 0)
    return;
  on_signal(number);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAPS;
}

static void stepped_from_here(void) {
  __asm__ volatile("leaq -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; "
                   "leaq 128(%%rsp), %%rsp" ::
                       : "memory", "cc");
}

static void *first_is_an_enter(void *unused) {
  token t;
  stepped_from_here();
  enter(&work, &t);
  leave(&t);
  return unused;
}
static void *first_is_a_create(void *unused) {
  token t;
  stepped_from_here();
  create(&spawn, &t, &child, NULL);
  created(&t, KEY, 1);
  return unused;
}
static void *first_is_a_run(void *unused) {
  token t;
  stepped_from_here();
  run(&resume_it, &t, KEY, &child);
  ran(&t, APROF_DONE);
  return unused;
}
static void *first_is_an_await(void *unused) {
  token t;
  stepped_from_here();
  suspend(&nap, &t);
  resume(&t);
  return unused;
}

/* How the process ended in which a handler comes after so many instructions of a thread. */
static int stepped(void *(*first)(void *), long steps) {
  int status = 0;
  pid_t child_pid = fork();
  if (child_pid == 0) {
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    one(1);
    steps_before = steps;
    on_a_thread(first, NULL);
    _exit(interrupted == 1 ? 0 : 1);
  }
  ck_assert_int_eq(waitpid(child_pid, &status, 0), child_pid);
  return status;
}

/* The thread and its block are two words: whichever a handler comes between, that makes the
   thread's first event. Where signals are blocked the kernel ends who is stepped. */
START_TEST(a_handler_makes_the_first_event_inside_the_first) {
  attach();
  one(1);
  void *(*const firsts[])(void *) = {first_is_an_enter, first_is_a_create, first_is_a_run,
                                     first_is_an_await};
  for (size_t i = 0; i < 4; i++)
    for (long steps = 0; steps < (suite_is_slow() ? 0 : STEPS); steps++) {
      int status = stepped(firsts[i], steps);
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP && steps > 12)
        break;
      ck_assert_msg(status == 0, "event %zu, %ld steps: status %x", i, steps, status);
    }
}
END_TEST

static bool in_kernel_code(uintptr_t at) {
  uintptr_t image = getauxval(AT_SYSINFO_EHDR);
  return image != 0 && at - image < 4 * 4096;
}

static void on_step_of_the_clock(int number, siginfo_t *info, void *context) {
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  (void)info;
  if (!in_kernel_code((uintptr_t)regs[REG_RIP]))
    return;
  on_signal(number);
  regs[REG_EFL] &= ~TRAPS;
}

/* A long slice asks the kernel for the thread's CPU time, by code that the kernel has mapped: who
   is interrupted there is inside the event. */
START_TEST(a_handler_comes_while_the_kernel_is_asked_for_the_time) {
  setenv("APROF_OPTIONS", "profile:memfd,exit:no,signal:none", 1); /* a real clock */
  attach();
  bool mapped = getauxval(AT_SYSINFO_EHDR) != 0; /* valgrind has none */
  struct sigaction action = {.sa_sigaction = on_step_of_the_clock, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  for (int i = 0; i < 2; i++) {
    token t;
    enter(&work, &t);
    usleep(2000);
    if (mapped && i == 1)
      stepped_from_here();
    leave(&t);
  }
  ck_assert_uint_eq(interrupted, mapped);
  expect("health", "nested", mapped);
  expect("health", "missed", 0);
  expect("work", "done", 2);
  expect("handler", "done", 0);
}
END_TEST
#define STEPPED                                                                                    \
  a_handler_makes_the_first_event_inside_the_first,                                                \
      a_handler_comes_while_the_kernel_is_asked_for_the_time,
#else
#define STEPPED
#endif

UNIT_MAIN("thread", STEPPED a_first_event_takes_no_memory, each_thread_has_its_times,
          blocks_are_leased_again, resumed_on_another_thread, left_where_it_waited,
          woken_and_run_by_another_thread, ended_by_another_thread_while_it_runs,
          thread_that_ends_inside_a_body, thread_that_ends_in_an_await,
          handlers_between_and_inside_events, RACES, many_at_once,
          ended_by_another_thread_while_it_awaits)
