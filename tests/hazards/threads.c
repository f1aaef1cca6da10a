/* Two threads and a queue: requests are created here, run by whoever is free, woken
   and ended from the other side. */
#include "hazard.h"

#include <pthread.h>

const bool children_may_exit = true;
const bool work_is_simple = false;

enum { REQUESTS = 32, RUNS = 3 };

struct request {
  unsigned number, runs;
  unsigned long result;
};

struct queue {
  pthread_mutex_t lock;
  struct request requests[REQUESTS];
  unsigned first, last; /* of ring */
  struct request *ring[REQUESTS + 1];
  unsigned over;
};

APROF("create key=a1 root ready")
static __attribute__((noinline)) void submit(struct queue *q, struct request *r) {
  pthread_mutex_lock(&q->lock);
  q->ring[q->last] = r;
  q->last = (q->last + 1) % (REQUESTS + 1);
  pthread_mutex_unlock(&q->lock);
}

APROF("wake key=a1")
static __attribute__((noinline)) void again(struct queue *q, struct request *r) {
  pthread_mutex_lock(&q->lock);
  q->ring[q->last] = r;
  q->last = (q->last + 1) % (REQUESTS + 1);
  pthread_mutex_unlock(&q->lock);
}

APROF("run key=a0 pending=0")
static __attribute__((noinline)) int serve(struct request *r) {
  call_hook();
  r->result += small_future(r->number);
  return ++r->runs == RUNS;
}

static void *serve_all(void *argument) {
  struct queue *q = argument;
  for (;;) {
    pthread_mutex_lock(&q->lock);
    struct request *r = NULL;
    bool over = q->over == REQUESTS;
    if (q->first != q->last) {
      r = q->ring[q->first];
      q->first = (q->first + 1) % (REQUESTS + 1);
    }
    pthread_mutex_unlock(&q->lock);
    if (over)
      return NULL;
    if (r == NULL)
      continue;
    if (!serve(r)) {
      again(q, r);
      continue;
    }
    pthread_mutex_lock(&q->lock);
    q->over++;
    pthread_mutex_unlock(&q->lock);
  }
}

unsigned long work(unsigned rounds) {
  unsigned long sum = 0;
  for (unsigned round = 0; round < rounds; round++) {
    struct queue q = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t other;
    must(pthread_create(&other, NULL, serve_all, &q) == 0, "pthread_create");
    for (unsigned i = 0; i < REQUESTS; i++) {
      q.requests[i].number = round + i;
      submit(&q, &q.requests[i]);
    }
    serve_all(&q);
    pthread_join(other, NULL);
    for (unsigned i = 0; i < REQUESTS; i++)
      sum += q.requests[i].result;
  }
  return sum;
}
/* SPDX-License-Identifier: MIT */
