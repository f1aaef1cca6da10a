/* SPDX-License-Identifier: MIT */
/* What is known of arguments, and of pointers. */
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

/* What a caller says is known: a flag, a member of what it hands over. */
struct options {
  int wait, quiet;
};

static void write_out(int descriptor, int wait) {
  if (wait)
    fdatasync(descriptor);
}

static void write_all(int descriptor, const struct options *options) {
  if (options->wait)
    fsync(descriptor);
  if (!options->quiet)
    fdatasync(descriptor); /* BAD */
}

static void write_some(const struct options *options, int descriptor) {
  if (options && options->wait == 1)
    sync(); /* BAD */
  if (!options)
    usleep((unsigned)descriptor);
}

static void write_log(int descriptor) {
  struct options options = {0, 0}, other = {0, 0};
  write_out(descriptor, 0);
  options.wait = 0;
  write_all(descriptor, &options);
  write_some(&options, descriptor);
  other.wait = descriptor > 7;
  write_some(&other, descriptor);
}

/* -- through pointers ---------------------------------------------------------------- */

struct device {
  void (*flush)(int descriptor);
  void (*close)(int descriptor);
  void (*reset)(int descriptor);
};

static void flush_disk(int descriptor) {
  fsync(descriptor); /* BAD */
}

static void flush_none(int descriptor) {
  (void)descriptor;
}

static void close_disk(int descriptor) {
  fdatasync(descriptor);
}

static void reset_disk(int descriptor) {
  fdatasync(descriptor);
}

static const struct device disk = {flush_disk, flush_none, flush_none};
static const struct device none = {.flush = flush_none, .close = flush_none};

/* Who knows what its members are. */
struct hooks {
  void (*close)(int descriptor);
};
static struct hooks hooks = {close_disk};

void set_hooks(void (*close)(int descriptor)) {
  hooks.close = close;
}

static void each(int count, void (*visit)(int descriptor)) {
  for (int i = 0; i < count; i++)
    visit(i);
}

static void sync_one(int descriptor) {
  fdatasync(descriptor); /* BAD */
}

static void sync_other(int descriptor) {
  usleep((unsigned)descriptor); /* BAD */
}

static void (*const table[])(int) = {flush_none, sync_other};

static void write_devices(int which) {
  const struct device *device = which ? &disk : &none;
  void (*close)(int) = device->close;
  device->flush(which);
  close(which);
  hooks.close(which);
  each(which, sync_one);
  table[which & 1](which);
  if (which > 99)
    reset_disk(-1), abort();
}

/* What a function of the program's own hands on to the loop, also by way of a member. */
struct job {
  uv_idle_t idle;
  void (*run)(void *data);
};

static void run_job(uv_idle_t *idle) {
  struct job *job = (struct job *)idle->data;
  job->run(job);
}

static void later(uv_idle_t *idle, uv_idle_cb callback) {
  uv_idle_start(idle, callback);
}

static void add_job(struct job *job, void (*run)(void *data)) {
  job->run = run;
  later(&job->idle, run_job);
}

static void on_later(uv_idle_t *idle) {
  (void)idle;
  usleep(1); /* BAD */
}

#define JOB(NAME, CALL)                                                                            \
  static void NAME(void *data) {                                                                   \
    (void)data;                                                                                    \
    CALL;                                                                                          \
  }
JOB(job_1, usleep(1))    /* BAD */
JOB(job_2, sync())       /* BAD */
JOB(job_3, fsync(1))     /* BAD */
JOB(job_4, fdatasync(1)) /* BAD */
JOB(job_5, sleep(1))     /* BAD */

void start_jobs(struct job *job) {
  void (*all[])(void *) = {job_1, job_2, job_3, job_4, job_5};
  later(&job->idle, on_later);
  add_job(job, job_1);
  add_job(job, job_2);
  add_job(job, job_3);
  add_job(job, job_4);
  add_job(job, job_5);
  (void)all;
}

static void on_check(uv_check_t *check) {
  (void)check;
  write_log(1);
  write_devices(1);
}

void watch_devices(uv_check_t *check) {
  uv_check_start(check, on_check);
}
