/* SPDX-License-Identifier: MIT */
/*
 * A server with one bug at a time, and none: what an expert who is short of time has to be told.
 *
 *   planted [BUG] [SECONDS]
 *
 * Each request is a byte on a connection. A worker answers it within some milliseconds, on an
 * eventfd that the loop watches; then the answer is written. A child is the load: as many
 * connections as below, a request at a time each; after SECONDS (2.5) it ends the server.
 *
 *   sync   every 100th answer is logged by a call that blocks
 *   slow   every 200th request takes the worker 150 ms
 *   retry  every 200th is tried again after 150 ms, by the timer that makes others wait 2 ms
 *   pool   there are two workers for 16 connections
 *   leak   every 20th answer is forgotten: its eventfd is watched for ever
 *   storm  somebody forgot to stop what runs when the loop is idle
 *   lost   a worker does not say that it has answered, once
 *
 * Comments "at BUG" mark the lines that may be told of it. With REQUESTS the program says what its
 * requests are, in four lines.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#ifdef REQUESTS
#include <aprof.h>
#else
#define APROF(lines)
#endif

enum { CONNECTIONS = 16, WORKERS = 16, MS = 1000 };

struct request {
  uv_stream_t *client;
  uv_poll_t ready;
  uv_timer_t later;
  uv_write_t write;
  struct request *next;
  int done; /* eventfd */
  unsigned number, open;
};

static const char *bug = "";
static uv_loop_t *loop;
static unsigned requests;

static bool has(const char *name) {
  return strcmp(bug, name) == 0;
}

/* -- workers ------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct request *first, **last = &first;

static void *work(void *nothing) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!first)
      pthread_cond_wait(&more, &lock);
    struct request *r = first;
    first = r->next;
    last = first ? last : &first;
    pthread_mutex_unlock(&lock);
    int fd = r->done;
    unsigned number = r->number;
    usleep((has("slow") && number % 200 == 199 ? 150 : has("pool") ? 8 : 2) * MS);
    if (!has("lost") || number != 1000)
      eventfd_write(fd, 1);
  }
  return nothing;
}

static void hand_over(struct request *r) {
  pthread_mutex_lock(&lock);
  r->next = NULL;
  *last = r;
  last = &r->next;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
}

/* -- requests ------------------------------------------------------------------------ */

APROF("create key=ret root ready") static struct request *request_new(uv_stream_t *client);
APROF("run key=a0") static void request_handle(struct request *r);
APROF("wake key=a0") static void request_wake(struct request *r);
APROF("end key=a0") static void request_end(struct request *r);

#define CALL __attribute__((noinline))

static CALL struct request *request_new(uv_stream_t *client) {
  struct request *r = calloc(1, sizeof *r);
  r->client = client;
  r->number = requests++;
  r->done = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  r->open = 2;
  return r;
}

static void on_closed(uv_handle_t *handle) {
  struct request *r = handle->data;
  if (--r->open == 0) {
    close(r->done);
    free(r);
  }
}

static CALL void request_end(struct request *r) {
  uv_close((uv_handle_t *)&r->ready, on_closed);
  uv_close((uv_handle_t *)&r->later, on_closed);
}

static void on_written(uv_write_t *write, int status) {
  struct request *r = write->data;
  (void)status;
  if (!has("leak") || r->number % 20 != 19)
    request_end(r);
}

static void answer(struct request *r) {
  static char byte = '.';
  uv_buf_t buffer = uv_buf_init(&byte, 1);
  r->write.data = r;
  uv_write(&r->write, r->client, &buffer, 1, on_written);
}

static CALL void write_log(void) {
  usleep(40 * MS); /* at sync */
}

static CALL void request_wake(struct request *r) {
  r->open |= 4;
}

static void on_ready(uv_poll_t *poll, int status, int events) {
  struct request *r = poll->data;
  eventfd_t value;
  (void)status, (void)events;
  eventfd_read(r->done, &value);
  if (!has("leak") || r->number % 20 != 19)
    uv_poll_stop(poll);
  if (has("sync") && r->number % 100 == 99)
    write_log(); /* at sync */
  request_wake(r);
  request_handle(r);
}

static void on_later(uv_timer_t *timer) {
  struct request *r = timer->data;
  uv_poll_start(&r->ready, UV_READABLE, on_ready); /* at slow, pool, leak, lost */
  hand_over(r);
}

static CALL void request_handle(struct request *r) {
  if (r->open & 4) {
    r->open &= ~4u;
    answer(r);
    return;
  }
  uv_poll_init(loop, &r->ready, r->done);
  uv_timer_init(loop, &r->later);
  r->ready.data = r->later.data = r;
  unsigned ms = has("retry") && r->number % 200 == 199 ? 150 : 2;
  uv_timer_start(&r->later, on_later, ms, 0); /* at retry */
}

/* -- connections --------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
  static char room[64];
  (void)handle, (void)size;
  *buffer = uv_buf_init(room, sizeof room);
}

static void on_byte(uv_stream_t *client, ssize_t length, const uv_buf_t *buffer) {
  (void)buffer;
  if (length > 0)
    request_handle(request_new(client));
  else if (length < 0)
    uv_read_stop(client);
}

static void on_connection(uv_stream_t *server, int status) {
  uv_pipe_t *client = calloc(1, sizeof *client);
  uv_pipe_init(loop, client, 0);
  if (status == 0 && uv_accept(server, (uv_stream_t *)client) == 0)
    uv_read_start((uv_stream_t *)client, on_room, on_byte);
}

static void on_term(uv_signal_t *signal, int number) {
  (void)signal, (void)number;
  uv_stop(loop);
}

static void on_idle(uv_idle_t *idle) {
  volatile unsigned sum = 0;
  (void)idle;
  for (unsigned i = 0; i < 2000; i++)
    sum += i;
}

/* -- load ------------------------------------------------------------------------------ */

static struct sockaddr_un place = {.sun_family = AF_UNIX};

static void *ask(void *until) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  char byte = '?';
  if (connect(fd, (struct sockaddr *)&place, sizeof place))
    return NULL;
  while (uv_hrtime() < *(uint64_t *)until && write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1)
    usleep(1 * MS);
  return NULL;
}

/* Whoever waits for an answer that never comes is not waited for. */
static void load(double seconds) {
  pthread_t thread;
  uint64_t until = uv_hrtime() + (uint64_t)(seconds * 1e9);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int i = 0; i < CONNECTIONS; i++)
    pthread_create(&thread, NULL, ask, &until);
  while (uv_hrtime() < until)
    usleep(20 * MS);
  kill(getppid(), SIGTERM);
  _exit(0);
}

int main(int argc, char **argv) {
  uv_pipe_t server;
  uv_signal_t term;
  uv_idle_t idle;
  pthread_t thread;
  bug = argc > 1 ? argv[1] : "";
  signal(SIGPIPE, SIG_IGN); /* who asks goes without reading the last answer */
  dup2(0, 1000); /* the kernel holds whoever makes a table of files grow that threads share */
  snprintf(place.sun_path, sizeof place.sun_path, "planted.%ld", (long)getpid());
  loop = uv_default_loop();
  uv_pipe_init(loop, &server, 0);
  if (uv_pipe_bind(&server, place.sun_path) || uv_listen((uv_stream_t *)&server, 64, on_connection))
    return 1;
  if (fork() == 0)
    load(argc > 2 ? atof(argv[2]) : 2.5);
  for (int i = 0; i < (has("pool") ? 2 : WORKERS); i++)
    pthread_create(&thread, NULL, work, NULL);
  uv_signal_init(loop, &term);
  uv_signal_start(&term, on_term, SIGTERM);
  if (has("storm")) {
    uv_idle_init(loop, &idle);
    uv_idle_start(&idle, on_idle); /* at storm */
  }
  uv_run(loop, UV_RUN_DEFAULT);
  unlink(place.sun_path);
  return 0;
}
