/* Threads that end inside an async body: pthread_exit and cancellation unwind
   through C code that is compiled with -fexceptions. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define A(text) __attribute__((aprof(text)))

A("await") void wait_for(int what);
__attribute__((noinline)) void wait_for(int what) {
  printf("waits\n");
  if (what)
    pthread_exit(NULL);
}
A("await") extern int pause(void);

A("async") __attribute__((noinline)) void deep(int x) { wait_for(x); }

A("async") void *exits(void *arg) {
  deep(arg != NULL);
  return NULL;
}

A("async") void *sleeps(void *arg) {
  for (;;)
    pause();
  return arg;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, exits, "");
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, sleeps, NULL);
  usleep(100000);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
  return 0;
}
/* SPDX-License-Identifier: MIT */
