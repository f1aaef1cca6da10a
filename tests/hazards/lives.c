/* Hazards to the life of threads, stacks and modules. */
#define _GNU_SOURCE
#include "hazard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *run_some(void *result) {
  for (unsigned i = 0; i < 10; i++)
    *(unsigned long *)result += small_future(i);
  return NULL;
}

/* Born and gone by thousands, eight at a time. */
static unsigned long many_threads(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pthread_t threads[8];
    unsigned long results[8] = {0};
    for (int n = 0; n < 8; n++)
      must(pthread_create(&threads[n], NULL, run_some, &results[n]) == 0, "pthread_create");
    for (int n = 0; n < 8; n++) {
      pthread_join(threads[n], NULL);
      sum += results[n];
    }
  }
  return sum + work(1);
}

APROF_AWAIT static __attribute__((noinline)) void sleep_long(void) {
  struct timespec long_time = {100, 0};
  nanosleep(&long_time, NULL);
}

APROF_ASYNC static __attribute__((noinline)) unsigned long sleeper(unsigned n) {
  unsigned long sum = small_future(n);
  sleep_long();
  return sum;
}

static void *be_cancelled(void *how) {
  if (how != NULL)
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (unsigned i = 0; how != NULL; i++)
    small_future(i);
  sleeper(1);
  return NULL;
}

/* Cancelled while they wait, and in the middle of anything. */
static unsigned long cancelled_threads(void) {
  unsigned long sum = work(1);
  unsigned state = 1;
  for (unsigned i = 0; i < count; i++) {
    pthread_t thread;
    void *result;
    must(pthread_create(&thread, NULL, be_cancelled, i & 1 ? &state : NULL) == 0,
         "pthread_create");
    struct timespec shortly = {0, (long)next_random(&state, 300) * 1000};
    nanosleep(&shortly, NULL);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    must(result == PTHREAD_CANCELED, "pthread_cancel");
  }
  return sum + work(1);
}

/* Ended behind the back of the C library. */
static void *vanish(void *done) {
  small_future(3);
  __atomic_store_n((int *)done, 1, __ATOMIC_RELEASE);
  syscall(SYS_exit, 0);
  return NULL;
}

static unsigned long vanished_threads(void) {
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    pthread_t thread;
    int done = 0;
    must(pthread_create(&thread, NULL, vanish, &done) == 0, "pthread_create");
    pthread_join(thread, NULL); /* the kernel clears the tid all the same */
    must(done, "thread");
  }
  return sum + work(1);
}

/* Destructors of thread-specific data that run futures. */
static pthread_key_t late_key;
static void run_late(void *value) {
  small_future(5);
  if (value != (void *)1)
    pthread_setspecific(late_key, (char *)value - 1);
}

static void *set_late(void *unused) {
  (void)unused;
  pthread_setspecific(late_key, (void *)3);
  small_future(2);
  return NULL;
}

static unsigned long late_destructors(void) {
  unsigned long sum = work(1);
  must(pthread_key_create(&late_key, run_late) == 0, "pthread_key_create");
  for (unsigned i = 0; i < count; i++) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, set_late, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
  }
  return sum + work(1);
}

/* Out of the middle of futures, to below all of them. */
static jmp_buf below;
static unsigned jump_state = 1;
static void jump_sometimes(void) {
  if (next_random(&jump_state, 20) == 0)
    longjmp(below, 1);
}

static unsigned long longjmp_out(void) {
  unsigned long sum = work(1);
  volatile unsigned jumps = 0;
  hook = jump_sometimes;
  if (setjmp(below) != 0)
    jumps++;
  while (jumps < count)
    work(1);
  hook = NULL;
  must(work(1) == sum, "work");
  return sum;
}

static unsigned long destroyed(void) {
  unsigned long sum = work(1);
  destroy_suspended = true;
  for (unsigned i = 0; i < count; i++)
    sum += work(8);
  destroy_suspended = false;
  return sum + work(1);
}

/* From the very first future on, which makes the profile. */
static unsigned long tiny_stacks(void) {
  stack_size = 4096;
  unsigned long sum = 0;
  for (unsigned i = 0; i < count; i++)
    sum += work(1);
  return sum;
}

static unsigned long reload_module(void) {
  const char *path = getenv("HAZARD_MODULE");
  must(path != NULL, "HAZARD_MODULE");
  unsigned long sum = work(1);
  for (unsigned i = 0; i < count; i++) {
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
      fprintf(stderr, "%s\n", dlerror());
    must(module != NULL, "dlopen");
    unsigned long (*run)(unsigned) = (unsigned long (*)(unsigned))dlsym(module, "module_run");
    must(run != NULL, "dlsym");
    sum += run(i);
    must(dlclose(module) == 0, "dlclose");
  }
  return sum + work(1);
}

/* The runtime is loaded by the module, and by nothing else. */
static unsigned long reload_first(void) {
  const char *path = getenv("HAZARD_MODULE");
  void *module = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  must(module != NULL && dlclose(module) == 0, "dlopen");
  return reload_module();
}

const struct hazard thread_hazards[] = {
    {"many-threads", many_threads, false},
    {"cancelled-threads", cancelled_threads, false},
    {"vanished-threads", vanished_threads, false},
    {"late-destructors", late_destructors, false},
    {"longjmp", longjmp_out, true},
    {"destroyed", destroyed, true},
    {"tiny-stacks", tiny_stacks, true},
    {"reload-module", reload_module, false},
    {"reload-first", reload_first, false},
    {NULL, NULL, false},
};
/* SPDX-License-Identifier: MIT */
