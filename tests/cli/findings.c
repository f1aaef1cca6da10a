/*
 * One fault of each kind that a report finds, on the virtual clock; as C, and as C++
 * (then everything lies in a namespace).
 *
 *   findings [KIND...]
 *
 * Each KIND that is named is done once; without any, the program is healthy. Comments
 * "at KIND" mark the line that the finding has to tell.
 */
#include <aprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
namespace demo {
#endif

enum { MS = 1000000, MANY = 40 };

struct job {
  int rounds;
  struct job *other;
};
typedef void job_fn(struct job *);

/* A loop's calls: a callback is due later, a job may run at once. */
APROF("create key=a0 fn=a1 | run key=a0 once") static void start(struct job *, job_fn *);
APROF("create key=a0 fn=a1 due=a2:ms | run key=a0 once")
static void start_timer(struct job *, job_fn *, int ms);
APROF("create key=a0 fn=a1 ready") static void post(struct job *, job_fn *);
APROF("run key=a0 once=a0->rounds==0") static void dispatch(struct job *, job_fn *);
APROF("wake key=a0") static void kick(struct job *);
APROF("end key=a0") static void finish(struct job *);
APROF("blocking") static void read_disk(void);
APROF("await") static void give_way(struct job *);
APROF("async") static void step(struct job *);

/* Not inlined, so that each is a call. */
#define CALL __attribute__((noinline))
static CALL void start(struct job *job, job_fn *fn) {
  (void)job, (void)fn;
}
static CALL void start_timer(struct job *job, job_fn *fn, int ms) {
  (void)job, (void)fn, (void)ms;
}
static CALL void post(struct job *job, job_fn *fn) {
  (void)job, (void)fn;
}
static CALL void kick(struct job *job) {
  (void)job;
}
static CALL void finish(struct job *job) {
  (void)job;
}
static CALL void dispatch(struct job *job, job_fn *fn) { /* at unplaced */
  fn(job);
}
static CALL void call_back(struct job *job, job_fn *fn) {
  fn(job);
}
static CALL void give_way(struct job *job) {
  kick(job);
  aprof_clock_advance(100);
}
static CALL void read_disk(void) {
  aprof_clock_advance(30 * MS);
}

static struct job job[MANY];

static void quick(struct job *j) { /* at function */
  aprof_clock_advance(1000);
  j->rounds = 0;
}

static void task(struct job *j) { /* at queued */
  aprof_clock_advance(1000);
  j->rounds = 0;
}

static void crunch(struct job *j) { /* at held */
  aprof_clock_advance(50 * MS);
  j->rounds = 0;
}

static void leave(struct job *j) { /* at leaves */
  (void)j;
  aprof_clock_advance(30 * MS);
  exit(0);
}

/* A look at it while it runs. */
static void hang(struct job *j) { /* at holds */
  (void)j;
  aprof_clock_advance(20 * MS);
  aprof_snapshot();
  getchar();
}

/* None of its calls holds the loop for long. */
static CALL void step(struct job *j) { /* at steps */
  aprof_clock_advance(8 * MS);
  if (++j->rounds < 3)
    return;
  aprof_snapshot();
  getchar();
}

static void plod(struct job *j) {
  for (int i = 0; i < 3; i++)
    step(j);
  j->rounds = 0;
}

static void save(struct job *j) {
  aprof_clock_advance(1000);
  read_disk(); /* at blocking */
  j->rounds = 0;
}

/* Two of them wake each other, and nothing comes of it. */
static void poll_again(struct job *j) {
  aprof_clock_advance(1000);
  if (--j->rounds > 0)
    kick(j->other); /* at spinning */
}

/* Nobody wakes it: the loop runs it in each turn. */
static void idle(struct job *j) {
  aprof_clock_advance(1000);
  j->rounds--;
}

/* It is ready again before it has waited at all. */
static void chat(struct job *j) {
  while (j->rounds-- > 0) {
    aprof_clock_advance(500);
    give_way(j); /* at yielding */
  }
  j->rounds = 0;
}

/* What was started is called when it is due. */
static void call_after(struct job *j, job_fn *fn, unsigned ms) {
  aprof_clock_advance(ms * MS);
  call_back(j, fn);
}

/* What was posted runs until it has no rounds left. */
static void run_for(struct job *j, job_fn *fn, int rounds, unsigned wait_ms) {
  aprof_clock_advance(wait_ms * MS);
  for (j->rounds = rounds; j->rounds > 0;)
    dispatch(j, fn);
}

static void healthy(void) {
  for (int i = 0; i < MANY; i++) {
    start(&job[0], quick);
    call_after(&job[0], quick, 5);
  }
}

static void spin(void) {
  struct job *pair = &job[32];
  for (int i = 0; i < 2; i++) {
    pair[i].rounds = 3000;
    pair[i].other = &pair[1 - i];
    post(&pair[i], poll_again);
  }
  for (int i = 0; pair[i % 2].rounds > 0; i++) {
    dispatch(&pair[i % 2], poll_again);
    aprof_clock_advance(100);
  }
}

static void do_one(const char *kind) {
  if (!strcmp(kind, "held")) {
    start(&job[2], crunch);
    call_after(&job[2], crunch, 1);
  } else if (!strcmp(kind, "blocking")) {
    start(&job[3], save);
    call_after(&job[3], save, 1);
  } else if (!strcmp(kind, "spinning")) {
    spin();
  } else if (!strcmp(kind, "queued")) {
    post(&job[5], task);
    run_for(&job[5], task, 1, 400);
  } else if (!strcmp(kind, "reused")) {
    start(&job[6], quick);
    start(&job[6], quick); /* at reused */
    call_after(&job[6], quick, 1);
  } else if (!strcmp(kind, "unplaced")) {
    run_for(&job[7], task, 1, 1); /* nobody created it */
  } else if (!strcmp(kind, "never_ran")) {
    post(&job[8], task); /* at never_ran */
    aprof_clock_advance(5000ul * MS);
  } else if (!strcmp(kind, "leaked")) {
    for (int i = 10; i < 25; i++)
      start(&job[i], save); /* at leaked */
    aprof_clock_advance(5000ul * MS);
  } else if (!strcmp(kind, "stuck")) {
    for (int i = 0; i < MANY; i++) {
      int last = i == MANY - 1;
      start(&job[9], quick); /* at stuck */
      if (!last)
        call_after(&job[9], quick, 5);
    }
    aprof_clock_advance(5000ul * MS);
  } else if (!strcmp(kind, "not_due")) { /* one way to set them, for short and for long times */
    for (int i = 0; i < MANY; i++) {
      int last = i >= MANY - 12;
      start_timer(&job[i], quick, last ? 60000 : 5);
      if (!last)
        call_after(&job[i], quick, 5);
    }
    aprof_clock_advance(5000ul * MS);
  } else if (!strcmp(kind, "leaves")) {
    start(&job[31], leave);
    call_after(&job[31], leave, 1);
  } else if (!strcmp(kind, "holds")) {
    start(&job[26], hang);
    call_after(&job[26], hang, 1);
  } else if (!strcmp(kind, "steps")) {
    start(&job[30], plod); /* at plod */
    call_after(&job[30], plod, 1);
  } else if (!strcmp(kind, "polling")) {
    post(&job[27], idle); /* at polling */
    job[27].rounds = 5000;
    while (job[27].rounds > 0) {
      aprof_clock_advance(100);
      dispatch(&job[27], idle);
    }
  } else if (!strcmp(kind, "yielding")) {
    post(&job[29], chat);
    run_for(&job[29], chat, 5000, 0);
  } else if (!strcmp(kind, "stuck_elsewhere")) {
    start(&job[28], quick); /* at stuck_elsewhere */
    aprof_clock_advance(5000ul * MS);
  } else if (!strcmp(kind, "growing")) {
    static struct job more[200];
    aprof_snapshot();
    getchar(); /* they are written once this comes */
    for (int i = 0; i < 200; i++)
      start(&more[i], quick);
  }
}

#ifdef __cplusplus
}
using namespace demo;
#endif

int main(int argc, char **argv) {
  healthy();
  for (int i = 1; i < argc; i++)
    do_one(argv[i]);
  finish(&job[39]);
  return 0;
}
/* SPDX-License-Identifier: MIT */
