/* SPDX-License-Identifier: MIT */
/*
 * A server some of whose requests are slow, for one reason at a time, which it knows itself.
 *
 *   causes pool|disk|hog|cache|retry
 *
 * Requests come every 10 ms. Each takes a connection of a pool, asks a database, reads a disk, and
 * ends. A thread of its own ends these waits, as devices do, and has the loop told.
 *
 *   pool   there are two connections, and now and then many requests at once
 *   disk   every 16th key lies on a slow disk
 *   hog    now and then an upload holds the loop for 120 ms
 *   cache  every 16th key is not in the cache, and has to be read in three blocks
 *   retry  every 16th query fails, and is tried again six times
 *
 * It stamps each request, and what the cause took of it, and at its end prints of the slowest 5 %
 * and of the others: how many, their mean wall, the mean of the cause; ns.
 */
#include <aprof.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

enum { REQUESTS = 240, EVERY = 10, ODD = 16, HOGS = 64, POOL = 2, BURST = 14 };
#define MS 1000000u

struct request;
typedef void step(struct request *);

struct request {
  unsigned number, tries, blocks;
  bool connected;
  uint64_t begin, end, cause; /* ns */
  /* What it waits for. */
  step *then;
  uint64_t asked, due, woken;
  struct request *next;
};

struct list {
  struct request *first, **last;
};

static const char *mode;
static uv_loop_t *loop;
static uv_timer_t arrival, upload;
static uv_async_t completed;
static struct request request[REQUESTS];
static unsigned born, over;
static struct { uint64_t begin, end; } hog[HOGS];
static unsigned hogs;

static bool is(const char *name) {
  return !strcmp(mode, name);
}

static bool is_odd(const struct request *r) {
  return r->number % ODD == ODD - 1;
}

static void append(struct list *list, struct request *r) {
  r->next = NULL;
  if (!list->first)
    list->last = &list->first;
  *list->last = r;
  list->last = &r->next;
}

static struct request *take(struct list *list) {
  struct request *r = list->first;
  if (r)
    list->first = r->next;
  return r;
}

/* -- what ends waits --------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more;
static struct request *devices; /* the next first */
static struct list done;

#define CALL __attribute__((noinline))

/* From here on it is ready. */
APROF("wake key=o:a0") static void wake(struct request *r);
static CALL void wake(struct request *r) {
  pthread_mutex_lock(&lock);
  append(&done, r);
  pthread_mutex_unlock(&lock);
  uv_async_send(&completed);
}

static void complete(struct request *r) {
  r->woken = uv_hrtime();
  wake(r);
}

static struct timespec at(uint64_t ns) {
  return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static void *work(void *nothing) {
  pthread_mutex_lock(&lock);
  for (;;) {
    struct request *r = devices;
    struct timespec until = r ? at(r->due) : at(0);
    if (!r)
      pthread_cond_wait(&more, &lock);
    else if (uv_hrtime() < r->due)
      pthread_cond_timedwait(&more, &lock, &until);
    else {
      devices = r->next;
      pthread_mutex_unlock(&lock);
      complete(r);
      pthread_mutex_lock(&lock);
    }
  }
  return nothing;
}

static void ask_device(struct request *r, unsigned ms) {
  struct request **place = &devices;
  pthread_mutex_lock(&lock);
  r->due = r->asked + ms * (uint64_t)MS;
  while (*place && (*place)->due <= r->due)
    place = &(*place)->next;
  r->next = *place;
  *place = r;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
}

/* -- what is waited for ------------------------------------------------------------------ */

APROF("create key=r:ret root") static struct request *request_new(void);
APROF("run key=r:a0") static void handle(struct request *r);
APROF("end key=r:a0") static void request_end(struct request *r);
APROF("create key=o:a0 fn=a1 | run key=o:a0 once")
static void pool_get(struct request *r, step *then);
APROF("create key=o:a0 fn=a1 | run key=o:a0 once")
static void db_query(struct request *r, step *then, unsigned ms);
APROF("create key=o:a0 fn=a1 | run key=o:a0 once")
static void disk_read(struct request *r, step *then, unsigned ms);
APROF("create key=o:a0 fn=a1 | run key=o:a0 once")
static void read_block(struct request *r, step *then, unsigned ms);
#define STEP static void

static struct list waiting; /* for a connection */
static unsigned used;

static void ask(struct request *r, step *then) {
  r->asked = uv_hrtime();
  r->then = then;
}

static CALL void db_query(struct request *r, step *then, unsigned ms) {
  ask(r, then);
  ask_device(r, ms);
}

static CALL void disk_read(struct request *r, step *then, unsigned ms) {
  ask(r, then);
  ask_device(r, ms);
}

static CALL void read_block(struct request *r, step *then, unsigned ms) {
  ask(r, then);
  ask_device(r, ms);
}

static void serve_pool(void) {
  while (waiting.first && used < (is("pool") ? POOL : REQUESTS)) {
    used++;
    complete(take(&waiting));
  }
}

static CALL void pool_get(struct request *r, step *then) {
  ask(r, then);
  append(&waiting, r);
}

static void pool_put(void) {
  used--;
  serve_pool();
}

/* -- a request --------------------------------------------------------------------------- */

static uint64_t waited(const struct request *r) {
  return r->woken - r->asked;
}

/* Of the time that it was ready, what a hog took. */
static void add_hogs(struct request *r) {
  uint64_t now = uv_hrtime();
  for (unsigned i = 0; is("hog") && i < hogs; i++) {
    uint64_t begin = hog[i].begin > r->woken ? hog[i].begin : r->woken;
    uint64_t end = hog[i].end < now ? hog[i].end : now;
    r->cause += end > begin ? end - begin : 0;
  }
}

static CALL struct request *request_new(void) {
  struct request *r = &request[born];
  r->number = born++;
  r->begin = uv_hrtime();
  return r;
}

static void on_end(uv_handle_t *handle) {
  (void)handle;
}

static CALL void request_end(struct request *r) {
  r->end = uv_hrtime();
  if (++over < REQUESTS)
    return;
  uv_close((uv_handle_t *)&completed, on_end);
  uv_close((uv_handle_t *)&upload, on_end);
}

STEP on_read(struct request *r) {
  r->cause += is("disk") ? waited(r) : 0;
  add_hogs(r);
  request_end(r);
}

STEP on_block(struct request *r) {
  r->cause += waited(r);
  if (++r->blocks < 3)
    read_block(r, on_block, 50);
  else
    disk_read(r, on_read, 4);
}

STEP on_row(struct request *r) {
  r->cause += is("retry") ? waited(r) : 0;
  add_hogs(r);
  if (is("retry") && is_odd(r) && ++r->tries < 7) {
    db_query(r, on_row, 25);
    return;
  }
  pool_put();
  if (is("cache") && is_odd(r))
    read_block(r, on_block, 50);
  else
    disk_read(r, on_read, is("disk") && is_odd(r) ? 150 : 4);
}

STEP on_connection(struct request *r) {
  r->cause += is("pool") ? waited(r) : 0;
  add_hogs(r);
  db_query(r, on_row, is("pool") ? 15 : is("retry") ? 25 : 10);
}

static CALL void handle(struct request *r) {
  pool_get(r, on_connection);
  serve_pool();
}

/* -- the loop ---------------------------------------------------------------------------- */

static void on_completed(uv_async_t *async) {
  struct list list;
  struct request *r;
  (void)async;
  pthread_mutex_lock(&lock);
  list = done;
  done.first = NULL;
  pthread_mutex_unlock(&lock);
  while ((r = take(&list)))
    r->then(r);
}

static void on_arrival(uv_timer_t *timer) {
  unsigned count = is("pool") && born % 60 == 30 ? BURST : 1;
  while (count-- && born < REQUESTS)
    handle(request_new());
  if (born == REQUESTS)
    uv_close((uv_handle_t *)timer, on_end);
}

static void save_upload(uv_timer_t *timer) {
  uint64_t begin = uv_hrtime();
  (void)timer;
  if (!is("hog") || hogs == HOGS)
    return;
  while (uv_hrtime() - begin < 120 * MS)
    ;
  hog[hogs].begin = begin;
  hog[hogs++].end = uv_hrtime();
}

/* -- what it knows ----------------------------------------------------------------------- */

static int by_wall(const void *a, const void *b) {
  const struct request *x = a, *y = b;
  uint64_t one = x->end - x->begin, other = y->end - y->begin;
  return (one < other) - (one > other);
}

static void print(const struct request *from, unsigned count) {
  uint64_t wall = 0, cause = 0;
  for (unsigned i = 0; i < count; i++) {
    wall += from[i].end - from[i].begin;
    cause += from[i].cause;
  }
  printf("%u %llu %llu\n", count, (unsigned long long)(wall / count),
         (unsigned long long)(cause / count));
}

int main(int argc, char **argv) {
  enum { SLOW = REQUESTS / 20 };
  pthread_condattr_t monotonic;
  pthread_t device;
  if (argc != 2)
    return 2;
  mode = argv[1];
  loop = uv_default_loop();
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&more, &monotonic);
  uv_async_init(loop, &completed, on_completed);
  uv_timer_init(loop, &arrival);
  uv_timer_init(loop, &upload);
  uv_timer_start(&arrival, on_arrival, EVERY, EVERY);
  uv_timer_start(&upload, save_upload, 350, 900);
  pthread_create(&device, NULL, work, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  qsort(request, REQUESTS, sizeof *request, by_wall);
  print(request, SLOW);
  print(request + SLOW, REQUESTS - SLOW);
  return 0;
}
