/* SPDX-License-Identifier: MIT */
/*
 * A host of the kill drill: requests on two threads until its standard input ends; then it prints
 * how many there were, and whether what they computed is right.
 */
#include <aprof.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, WAIT_NS = 200000 };

static atomic_bool over;

APROF_AWAIT static void db_query(void) {
  nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
}

APROF_ASYNC static uint64_t get_item(uint64_t i) {
  db_query();
  return i * i;
}

struct thread {
  pthread_t thread;
  uint64_t requests, sum, wanted;
};

static void *serve(void *argument) {
  struct thread *t = argument;
  for (uint64_t i = 0; !over; i++) {
    APROF_REQUEST("GET /item") {
      t->sum += get_item(i);
      t->sum += get_item(i + 1);
    }
    t->wanted += i * i + (i + 1) * (i + 1);
    t->requests++;
  }
  return NULL;
}

int main(void) {
  struct thread thread[THREADS] = {0};
  struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
  uint64_t requests = 0;
  int right = 1;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i].thread, NULL, serve, &thread[i]))
      return 1;
  poll(&end, 1, -1);
  over = 1;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i].thread, NULL);
    requests += thread[i].requests;
    right &= thread[i].sum == thread[i].wanted;
  }
  printf("%llu %s\n", (unsigned long long)requests, right ? "right" : "wrong");
  return 0;
}
