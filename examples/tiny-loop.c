/*
 * A scheduler of one page that aprof has never heard of, a weather station that
 * runs on it, and no word about either in this file: examples/tiny-loop.aprof
 * describes the scheduler in a few lines. doc/describe-your-library.md grows
 * that file step by step.
 *
 *     gcc -g -fplugin=aprof.so -fplugin-arg-aprof-bindings=tiny-loop.aprof tiny-loop.c
 *     aprof run --report -- ./a.out
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* ---- the scheduler: jobs in the order in which they are due ---- */

struct job;
typedef void job_fn(struct job *);

struct job {
  struct job *next;
  job_fn *run;
  uint64_t due_ns;
  unsigned every_ms; /* 0: once */
  int armed;         /* in the list of jobs */
};

static struct job *jobs;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void disarm(struct job *job) {
  struct job **at = &jobs;
  while (*at != NULL && *at != job)
    at = &(*at)->next;
  if (*at != NULL)
    *at = job->next;
  job->armed = 0;
}

static void arm(struct job *job, uint64_t due_ns) {
  struct job **at = &jobs;
  disarm(job);
  while (*at != NULL && (*at)->due_ns <= due_ns)
    at = &(*at)->next;
  job->due_ns = due_ns;
  job->next = *at;
  job->armed = 1;
  *at = job;
}

/* Runs as soon as the loop gets to it. */
static void tiny_post(struct job *job, job_fn *run) {
  job->run = run;
  job->every_ms = 0;
  arm(job, now_ns());
}

/* Runs once, later; called again before that, it starts over. */
static void tiny_after(struct job *job, unsigned ms, job_fn *run) {
  job->run = run;
  job->every_ms = 0;
  arm(job, now_ns() + ms * UINT64_C(1000000));
}

/* Runs every so often until it is cancelled. */
static void tiny_every(struct job *job, unsigned ms, job_fn *run) {
  job->run = run;
  job->every_ms = ms;
  arm(job, now_ns() + ms * UINT64_C(1000000));
}

/* Runs each time somebody rings. */
static void tiny_expect(struct job *job, job_fn *run) {
  job->run = run;
  job->every_ms = 0;
}

static void tiny_ring(struct job *job) {
  if (!job->armed)
    arm(job, now_ns());
}

static void tiny_cancel(struct job *job) {
  job->every_ms = 0;
  disarm(job);
}

/* Until there is nothing left to do. */
static void tiny_run(void) {
  struct job *job;
  while ((job = jobs) != NULL) {
    uint64_t now = now_ns();
    if (job->due_ns > now) {
      uint64_t rest = job->due_ns - now;
      struct timespec pause = {(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
      nanosleep(&pause, NULL);
    }
    disarm(job);
    if (job->every_ms != 0)
      arm(job, job->due_ns + job->every_ms * UINT64_C(1000000));
    job->run(job);
  }
}

/* ---- the program: a weather station ---- */

enum { SAMPLES = 12, BATCH = 3 };

static struct job sampler, averager, uploader, watchdog, bell;
static volatile double readings[BATCH];
static int samples, uploads;

static double smooth(unsigned rounds) {
  volatile double sum = 0;
  for (unsigned i = 0; i < rounds * 1000; i++)
    sum = sum + readings[i % BATCH];
  return sum / rounds / 1000;
}

static void on_bell(struct job *job) {
  (void)job;
  printf("upload %d has arrived\n", uploads);
}

static void on_upload(struct job *job) {
  (void)job;
  uploads++;
  tiny_ring(&bell);
}

static void on_average(struct job *job) {
  (void)job;
  printf("average %.2f\n", smooth(samples == SAMPLES ? 5000 : 300)); /* the last takes long */
  tiny_after(&uploader, 15, on_upload);
}

static void on_silence(struct job *job) {
  (void)job;
  printf("the sensor is silent\n");
}

static void on_sample(struct job *job) {
  readings[samples % BATCH] = 20 + samples;
  tiny_after(&watchdog, 200, on_silence);
  if (++samples % BATCH == 0)
    tiny_post(&averager, on_average);
  if (samples == SAMPLES) {
    tiny_cancel(job);
    tiny_cancel(&watchdog);
  }
}

int main(void) {
  tiny_expect(&bell, on_bell);
  tiny_every(&sampler, 10, on_sample);
  tiny_run();
  return 0;
}
/* SPDX-License-Identifier: MIT */
