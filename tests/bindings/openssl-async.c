/* OpenSSL's ASYNC_JOB: jobs that pause several times, taken in turns, and ones that never
   pause. */
#include <openssl/async.h>
#include <stdlib.h>

#include "count.h"

/* One function to the totals: the call that starts them. */
static struct count job_counts = {.name = "ASYNC_start_job"};

static int pause_some(void *arg) {
  for (int i = 0; i < *(int *)arg; i++) {
    job_counts.waits++;
    ASYNC_pause_job();
  }
  job_counts.done++;
  return 1;
}

static int go_straight(void *arg) {
  (void)arg;
  job_counts.done++;
  return 1;
}

/* 1 once the job is over. */
static int over_after(int status) {
  if (status != ASYNC_PAUSE && status != ASYNC_FINISH)
    abort();
  return status == ASYNC_FINISH;
}

int main(void) {
  enum { JOBS = 4 };
  ASYNC_JOB *jobs[JOBS] = {NULL}, *job = NULL;
  ASYNC_WAIT_CTX *context = ASYNC_WAIT_CTX_new();
  int over[JOBS] = {0}, left = JOBS, result;
  if (!context || !ASYNC_is_capable())
    return 1;
  job_counts.created = JOBS;
  while (left > 0)
    for (int i = 0; i < JOBS; i++)
      if (!over[i]) {
        int pauses = i + 1;
        over[i] = over_after(
            ASYNC_start_job(&jobs[i], context, &result, pause_some, &pauses, sizeof pauses));
        left -= over[i];
      }
  for (int i = 0; i < 3; i++) {
    job_counts.created++;
    if (!over_after(ASYNC_start_job(&job, context, &result, go_straight, NULL, 0)))
      abort();
  }
  ASYNC_WAIT_CTX_free(context);
  ASYNC_cleanup_thread();
  count_print(&job_counts);
  return 0;
}
/* SPDX-License-Identifier: MIT */
