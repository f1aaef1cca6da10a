/* SPDX-License-Identifier: MIT */
/* Epochs: off, on, reset and fork; what is of an older one does nothing. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/rt.h"
#include "unit.h"

FUNCTION_SITE(a);
FUNCTION_SITE(b);
CALLBACK_SITE(request);
AWAIT_SITE(nap);
IDLE_SITE(poller);
CREATE_SITE(create_it, APROF_ONCE, 1);
RUN_SITE(run_it, 0, 1);
WAKE_SITE(wake_it, 1);

static void one(struct aprof_site *function, uint64_t ns) {
  token t;
  enter(function, &t);
  pass(ns);
  leave(&t);
}

static uint64_t thread_total(const char *what) {
  char name[32];
  snprintf(name, sizeof name, "thread %d", (int)getpid());
  return total_of(name, what, true);
}

/* -- off and on ---------------------------------------------------------------- */

START_TEST(off_detaches_what_lives) {
  attach();
  token ta, tb, w;
  enter(&a, &ta);
  pass(1);
  enter(&b, &tb);
  pass(2);
  suspend(&nap, &w);
  pass(4);
  ck_assert_int_eq(gate.api_enable(0), 1);
  ck_assert_uint_eq(*gate.flag, 0);
  pass(100);
  expect("a", "detached", 1);
  expect("a", "live", 0);
  expect("a > b", "detached", 1);
  expect("a > b", "wall", 6);
  expect("a > b @ nap", "waiting", 4);
  expect("a", "wall", 7);
  /* Their closing events come, and do nothing. */
  resume(&w);
  leave(&tb);
  leave(&ta);
  expect("a", "detached", 1);
  expect("a", "done", 0);
  expect("health", "missed", 0);
}
END_TEST

START_TEST(off_while_running) {
  attach();
  token t;
  enter(&a, &t);
  pass(10);
  gate.api_enable(0);
  pass(100);
  expect("a", "exec", 10);
  expect("a", "detached", 1);
  leave(&t);
  expect("a", "exec", 10);
}
END_TEST

START_TEST(on_again) {
  attach();
  token t;
  one(&a, 10);
  enter(&a, &t);
  pass(10);
  gate.api_enable(0);
  pass(1000);
  one(&a, 10); /* not recorded */
  ck_assert_int_eq(gate.api_enable(1), 0);
  pass(5);
  leave(&t); /* of the epoch before */
  one(&a, 20);
  expect("a", "done", 2);
  expect("a", "detached", 1);
  expect("a", "created", 3);
  expect("a", "exec", 40);
  expect("a", "wall", 40);
  ck_assert_uint_eq(thread_total("elapsed"), 10 + 10 + 5 + 20);
  ck_assert_uint_eq(thread_total("exec"), 40);
  ck_assert_uint_eq(thread_total("other"), 5);
}
END_TEST

START_TEST(switching_twice_is_nothing) {
  attach();
  one(&a, 10);
  ck_assert_int_eq(gate.api_enable(1), 1);
  ck_assert_int_eq(gate.api_enable(0), 1);
  ck_assert_int_eq(gate.api_enable(0), 0);
  ck_assert_int_eq(gate.api_enable(1), 0);
  expect("a", "done", 1);
}
END_TEST

/* Who lives and keeps the switch is not pushed aside; who died with it is, but where that number is
   one of another PID namespace, or of nobody knows which. */
START_TEST(somebody_keeps_the_switch) {
  token t;
  attach();
  enter(&a, &t);
  uint32_t *lock = &rt.header->control_lock, epoch = rt.header->epoch;
  struct stat st;
  ck_assert_int_eq(stat("/proc/self/ns/pid", &st), 0);
  *lock = aprof_control_word((uint32_t)getppid(), st.st_ino);
  ck_assert_int_eq(gate.api_enable(0), -1);
  ck_assert_int_eq(gate.api_reset(), -1);
  ck_assert_uint_eq(rt.header->epoch, epoch);
  ck_assert_uint_eq(rt.header->enabled, 1);
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  waitpid(child, NULL, 0);
  *lock = aprof_control_word((uint32_t)child, st.st_ino + 1);
  ck_assert_int_eq(gate.api_enable(0), -1);
  *lock = aprof_control_word((uint32_t)child, 0);
  ck_assert_int_eq(gate.api_enable(0), -1);
  ck_assert_uint_eq(rt.header->epoch, epoch);
  *lock = aprof_control_word((uint32_t)child, st.st_ino);
  ck_assert_int_eq(gate.api_enable(0), 1);
  ck_assert_uint_eq(*lock, 0);
  ck_assert_uint_eq(rt.header->epoch, epoch + 1);
  leave(&t);
}
END_TEST

/* A run of such a key is another future's, which was created before anybody looked. */
START_TEST(keys_of_an_older_epoch_are_unknown) {
  attach();
  new_future(&create_it, &request, 0x7f00);
  pass(10);
  gate.api_enable(0);
  gate.api_enable(1);
  token r;
  run(&run_it, &r, 0x7f00, &request);
  pass(3);
  ran(&r, APROF_DONE);
  expect("request", "created", 2);
  expect("request", "detached", 1);
  expect("request", "done", 1);
  expect("request", "wall", 13);
  expect("request", "exec", 3);
  expect("health", "missed", 0);
  new_future(&create_it, &request, 0x7f00);
  expect("health", "reused", 0);
  expect("request", "live", 1);
}
END_TEST

START_TEST(many_epochs) {
  attach();
  for (unsigned i = 0; i < 1000; i++) {
    one(&a, 1);
    gate.api_enable(0);
    pass(1);
    gate.api_enable(1);
  }
  expect("a", "done", 1000);
  expect("a", "exec", 1000);
  ck_assert_uint_eq(thread_total("elapsed"), 1000);
}
END_TEST

/* What waited when profiling went off is known for ever, not until the ring of epochs comes round;
   and the number of an epoch is 16 bits in an id. */
START_TEST(older_than_the_ring) {
  attach();
  new_future(&create_it, &request, 0x7f00);
  pass(10);
  wake(&wake_it, 0x7f00);
  pass(5);
  for (unsigned i = 0; i < 65536 / 2; i++) {
    gate.api_enable(0);
    gate.api_enable(1);
    one(&a, 1);
  }
  expect("request", "created", 1);
  expect("request", "detached", 1);
  expect("request", "live", 0);
  expect("request", "wall", 15);
  expect("request", "waiting", 10);
  expect("request", "queued", 5);
  token r;
  run(&run_it, &r, 0x7f00, &request); /* of another one: that is over */
  expect("request", "created", 2);
  expect("request", "wall", 15);
}
END_TEST

/* -- reset ---------------------------------------------------------------------- */

START_TEST(reset_starts_from_zero) {
  attach();
  token ta, t, i;
  one(&a, 10);
  idle(&poller, &i);
  pass(50);
  idled(&i);
  enter(&a, &ta);
  pass(5);
  ck_assert_int_eq(gate.api_reset(), 0);
  expect("a", "created", 0);
  expect("a", "exec", 0);
  ck_assert_uint_eq(thread_total("idle"), 0);
  pass(3);
  leave(&ta);
  enter(&b, &t);
  pass(7);
  leave(&t);
  one(&a, 11);
  expect("a", "created", 1);
  expect("a", "exec", 11);
  expect("a", "exec_max", 11);
  expect("b", "exec", 7);
  expect("a", "detached", 0);
  ck_assert_uint_eq(thread_total("elapsed"), 3 + 7 + 11);
  ck_assert_uint_eq(thread_total("other"), 3);
}
END_TEST

static void falls_asleep(token *i) {
  attach();
  one(&a, 10);
  idle(&poller, i);
  pass(50);
}

/* A loop that sleeps is idle, also in what began meanwhile: nothing else tells so. */
START_TEST(reset_while_idle) {
  token i;
  falls_asleep(&i);
  ck_assert_int_eq(gate.api_reset(), 0);
  pass(30);
  ck_assert_uint_eq(thread_total("idle"), 30);
  ck_assert_uint_eq(thread_total("other"), 0);
  idled(&i);
  ck_assert_uint_eq(thread_total("idle"), 30);
  pass(2);
  one(&a, 5);
  ck_assert_uint_eq(thread_total("idle"), 30);
  ck_assert_uint_eq(thread_total("other"), 2);
  ck_assert_uint_eq(thread_total("elapsed"), 37);
}
END_TEST

START_TEST(off_and_on_while_idle) {
  token i;
  falls_asleep(&i);
  gate.api_enable(0);
  pass(1000);
  gate.api_enable(1);
  pass(30);
  ck_assert_uint_eq(thread_total("idle"), 80);
  one(&a, 5); /* of a handler */
  pass(20);
  idled(&i);
  ck_assert_uint_eq(thread_total("idle"), 100);
  ck_assert_uint_eq(thread_total("other"), 0);
}
END_TEST

START_TEST(reset_zeroes_histograms_and_health) {
  attach();
  token t;
  one(&a, 10);
  enter(&a, &t);
  leave(&t);
  leave(&t);
  expect("health", "missed", 1);
  gate.api_reset();
  one(&a, 20);
  expect("a", "exec histogram from 10", 0);
  expect("a", "exec histogram from 20", 1);
  expect("health", "missed", 0);
}
END_TEST

/* -- before there is anything ----------------------------------------------------- */

START_TEST(no_footprint_before_the_first_future) {
  attach();
  ck_assert_ptr_null(reader_find());
  token t;
  suspend(&nap, &t);
  resume(&t);
  wake(&wake_it, 0x7f00);
  call_from(&nap);
  ck_assert_int_eq(gate.api_reset(), -1);
  ck_assert_int_eq(gate.api_snapshot(), -1);
  ck_assert_ptr_null(reader_find());
  one(&a, 1);
  ck_assert_ptr_nonnull(reader_find());
}
END_TEST

START_TEST(attach_is_idempotent) {
  attach();
  attach();
  struct aprof_gate second = {.flag = &second.closed, .abi = APROF_ABI, .size = sizeof second};
  ck_assert_int_eq(__aprof_attach(&second), 0);
  ck_assert(second.flag == gate.flag);
  one(&a, 1);
  expect("a", "done", 1);
}
END_TEST

/* -- fork ------------------------------------------------------------------------ */

/* In a child: the exit status tells whether `check` got through. */
static void in_child(void (*check)(void)) {
  fflush(NULL);
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    check();
    _exit(0);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed: status %x",
                status);
}

static token over_fork, await_over_fork;

static void child_must(bool ok) {
  if (!ok)
    _exit(1);
}

/* A profile that is this process's own. The parent's header may still be mapped. */
static bool has_profile(void) {
  const struct aprof_header *header = reader_find();
  return header && header->pid == getpid();
}

static void child_starts_afresh(void) {
  child_must(!has_profile());
  resume(&await_over_fork);
  leave(&over_fork);
  child_must(!has_profile()); /* what closes the parent's futures opens nothing */
  one(&b, 3);
  child_must(profile()->pid == getpid());
  child_must(total("b", "exec") == 3 && total("b", "done") == 1);
  child_must(total("a", "created") == 0 && total("health", "missed") == 0);
}

START_TEST(fork_gives_the_child_a_profile_of_its_own) {
  attach();
  enter(&a, &over_fork);
  pass(1);
  suspend(&nap, &await_over_fork);
  pass(2);
  in_child(child_starts_afresh);
  resume(&await_over_fork);
  pass(4);
  leave(&over_fork);
  expect("a", "done", 1);
  expect("a", "exec", 5);
  expect("b", "created", 0);
  ck_assert_int_eq(profile()->pid, getpid());
}
END_TEST

static void child_without_futures(void) {
  child_must(!has_profile());
}

START_TEST(fork_without_futures_leaves_nothing) {
  attach();
  one(&a, 1);
  in_child(child_without_futures);
}
END_TEST

static void grandchild_too(void) {
  one(&b, 1);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    one(&a, 7);
    _exit(total("a", "exec") == 7 && total("b", "created") == 0 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  child_must(status == 0 && total("b", "done") == 1);
}

START_TEST(fork_of_a_fork) {
  attach();
  one(&a, 1);
  in_child(grandchild_too);
}
END_TEST

static void child_before_any_future(void) {
  one(&a, 2);
  child_must(total("a", "exec") == 2);
}

START_TEST(fork_before_the_first_future) {
  attach();
  in_child(child_before_any_future);
  ck_assert_ptr_null(reader_find());
  one(&a, 1);
  expect("a", "exec", 1);
}
END_TEST

static void child_with_a_clock(void) {
  uint64_t now = gate.api_clock_now();
  pass(1000);
  child_must(gate.api_clock_now() == now + 1000);
  one(&a, 2);
  child_must(gate.api_clock_now() == now + 1000 + 2);
}

START_TEST(fork_gives_the_child_a_clock_of_its_own) {
  attach();
  one(&a, 1);
  uint64_t now = gate.api_clock_now();
  in_child(child_with_a_clock);
  ck_assert_uint_eq(gate.api_clock_now(), now);
}
END_TEST

/* The child takes a page where its parent's profile lies: 1 if it gets that very one and
   loses what it wrote there, 2 if it keeps it, 3 if it gets none. */
static int page_of_a_child(char *there, int how) {
  char *page = mmap(there, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | how, -1, 0);
  if (page != MAP_FAILED)
    page[100] = 42;
  one(&b, 1);
  return page != there ? 3 : page[100] == 42 ? 2 : 1;
}

static int page_after(long child, char *there, int how) {
  int status = 0;
  if (child == 0)
    _exit(page_of_a_child(there, how));
  ck_assert_int_eq(waitpid((pid_t)child, &status, 0), (pid_t)child);
  ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
  return WEXITSTATUS(status);
}

START_TEST(memory_of_a_child_stays_its_own) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",memory:2M", 1); /* memcheck faults at each word of it */
  attach();
  one(&a, 1);
  char *there = (char *)(uintptr_t)profile() + profile()->header_size;
  ck_assert_int_eq(page_after(fork(), there, MAP_FIXED_NOREPLACE), 3);
  /* Forced: valgrind does not know that the range is free. It is not profiled, then. */
  ck_assert_int_eq(page_after(syscall(SYS_fork), there, MAP_FIXED), 2);
}
END_TEST

/* -- a thread that stands still in an event while an epoch ends ------------------------ */

enum { STOPPED_US = 3000, STOPS = 1500, BURST = 200 };
CALLBACK_SITE(stands);
CREATE_SITE(create_standing, APROF_ONCE, 2);
RUN_SITE(run_standing, 0, 2);
static uint32_t stops_over, unfound;

static void stopped(int number) {
  (void)number;
  usleep(STOPPED_US);
}

static void *is_stopped(void *unused) {
  for (unsigned i = 0; !__atomic_load_n(&stops_over, __ATOMIC_ACQUIRE); i++) {
    token r;
    run(&run_standing, &r, 0x7f00, &stands);
    if (r.word[0] == 0)
      new_future(&create_standing, &stands, 0x7f00);
    ran(&r, i % 64 == 0 ? APROF_DONE : APROF_PENDING);
  }
  return unused;
}

static uint32_t epoch_now(void) {
  return __atomic_load_n(&profile()->epoch, __ATOMIC_ACQUIRE);
}

/* Takes the records of what is detached, an epoch after the other. */
static void *goes_on_in_each(void *unused) {
  for (uint64_t i = 0; !__atomic_load_n(&stops_over, __ATOMIC_ACQUIRE); i++) {
    uint32_t epoch = epoch_now();
    token r = {.word = {1}};
    for (unsigned k = 0; k < BURST; k++)
      new_future(&create_it, &request, i << 20 | k << 4);
    usleep(STOPPED_US);
    for (unsigned k = 0; k < BURST && r.word[0] != 0; k++) {
      run(&run_it, &r, i << 20 | k << 4, &request);
      unfound += r.word[0] == 0 && epoch_now() == epoch;
      ran(&r, k % 2 ? APROF_PENDING : APROF_DONE);
    }
    while (epoch_now() == epoch && !__atomic_load_n(&stops_over, __ATOMIC_ACQUIRE))
      usleep(50);
  }
  return unused;
}

/* What it was about to run is detached meanwhile, and its record another future's: that one is
   found as ever. */
START_TEST(stopped_while_an_epoch_ends) {
#ifdef __SANITIZE_THREAD__
  return; /* records go from thread to thread by epochs and sequences, of which it knows nothing */
#endif
  attach();
  one(&a, 1);
  signal(SIGUSR2, stopped);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, is_stopped, NULL);
  pthread_create(&threads[1], NULL, goes_on_in_each, NULL);
  for (unsigned i = 0; i < STOPS; i++) {
    pthread_kill(threads[0], SIGUSR2);
    usleep(20);
    gate.api_reset();
    usleep(STOPPED_US + STOPPED_US / 10);
  }
  __atomic_store_n(&stops_over, 1, __ATOMIC_RELEASE);
  for (unsigned i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  ck_assert_uint_eq(unfound, 0);
}
END_TEST

UNIT_MAIN("control", off_detaches_what_lives, off_while_running, on_again,
          switching_twice_is_nothing, somebody_keeps_the_switch, keys_of_an_older_epoch_are_unknown,
          many_epochs, older_than_the_ring, reset_starts_from_zero, reset_while_idle,
          off_and_on_while_idle, reset_zeroes_histograms_and_health,
          no_footprint_before_the_first_future, attach_is_idempotent,
          fork_gives_the_child_a_profile_of_its_own, fork_without_futures_leaves_nothing,
          fork_of_a_fork, fork_before_the_first_future, memory_of_a_child_stays_its_own,
          fork_gives_the_child_a_clock_of_its_own, RACES, stopped_while_an_epoch_ends)
