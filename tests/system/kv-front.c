/* SPDX-License-Identifier: MIT */
/*
 * The front of a key-value server: commands on standard input, answers on standard output, values
 * in another process. kv-front SOCKET STAMPS.
 */
#include <aprof.h>
#include <uv.h>

#include "kv-stamps.h"

enum { AT_ONCE = 4 };

struct request {
  struct request *next; /* that waits for the database, too */
  char line[128], method[16], key[32], value[64], answer[128], reply[256];
  struct bracket at[TIERS];
};

static struct front {
  uv_loop_t loop;
  uv_pipe_t in, db;
  char read[65536], answers[4096];
  size_t length, answered;
  int going, ended;
  struct request *first, **last;
  unsigned long counted[KINDS];
} front;

/* -- a request ------------------------------------------------------------------------- */

APROF("create key=r:ret root ready")
__attribute__((noinline)) static struct request *request_new(void) {
  return calloc(1, sizeof(struct request));
}

APROF("end key=r:a0") __attribute__((noinline)) static void request_end(struct request *r) {
  printf("%s\n", r->reply);
  front.going--;
}

APROF("label key=r:a0 value=a0->method:str")
__attribute__((noinline)) static void method_known(struct request *r) {
  __asm__ volatile("" ::"r"(r) : "memory");
}

APROF("span tier=parsing") __attribute__((noinline)) static void parse(struct request *r) {
  INSIDE(r->at[PARSING]);
  sscanf(r->line, "%15s %31s %63s", r->method, r->key, r->value);
  LEAVES(r->at[PARSING]);
}

APROF("span tier=accounting") __attribute__((noinline)) static void account(struct request *r) {
  INSIDE(r->at[ACCOUNTING]);
  front.counted[kind_of(r->method)]++;
  LEAVES(r->at[ACCOUNTING]);
}

APROF("span tier=formatter") __attribute__((noinline)) static void format(struct request *r) {
  INSIDE(r->at[FORMATTER]);
  snprintf(r->reply, sizeof r->reply, "%s %s: %s", r->method, r->key, r->answer);
  LEAVES(r->at[FORMATTER]);
}

/* -- the database ------------------------------------------------------------------------ */

__attribute__((noinline)) static void on_answer(struct request *r) {
  r->at[DB].outer[1] = now();
  AROUND(r->at[FORMATTER], format(r));
  request_end(r);
  LEAVES(r->at[TOTAL]); /* what ends a request is a part of it, to its last line */
}

APROF("create key=d:a0 fn=a1 tier=db | run key=d:a0 once")
__attribute__((noinline)) static void db_ask(struct request *r, void (*then)(struct request *)) {
  char token[56] = "", line[256];
  r->at[DB].inner[0] = now(); /* from where it is called on the database's time runs */
  (void)then;
  aprof_token(token);
  int length = snprintf(line, sizeof line, "%s %s %s %s\n", r->method, r->key,
                        r->value[0] != '\0' ? r->value : "-", token);
  uv_buf_t buffer = uv_buf_init(line, (unsigned)length);
  r->next = NULL;
  *front.last = r;
  front.last = &r->next;
  if (uv_try_write((uv_stream_t *)&front.db, &buffer, 1) != length)
    abort();
}

APROF("span tier=handle") __attribute__((noinline)) static void handle(struct request *r) {
  INSIDE(r->at[HANDLE]);
  AROUND(r->at[ACCOUNTING], account(r));
  r->at[DB].outer[0] = now();
  db_ask(r, on_answer);
  LEAVES(r->at[HANDLE]);
}

APROF("run key=r:a0 multi") __attribute__((noinline)) static void start(struct request *r) {
  AROUND(r->at[PARSING], parse(r));
  method_known(r);
  AROUND(r->at[HANDLE], handle(r));
}

/* -- the loop ------------------------------------------------------------------------------ */

static void start_some(void) {
  char *end;
  while (front.going < AT_ONCE && (end = memchr(front.read, '\n', front.length)) != NULL) {
    uint64_t before = now();
    struct request *r = request_new();
    r->at[TOTAL].outer[0] = before;
    r->at[TOTAL].inner[0] = now();
    front.going++;
    snprintf(r->line, sizeof r->line, "%.*s", (int)(end - front.read), front.read);
    front.length -= (size_t)(++end - front.read);
    memmove(front.read, end, front.length);
    start(r);
  }
  if (front.ended && front.going == 0) {
    uv_close((uv_handle_t *)&front.db, NULL);
    front.ended = 0;
  }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  (void)suggested;
  *buffer =
      handle == (uv_handle_t *)&front.in
          ? uv_buf_init(front.read + front.length, (unsigned)(sizeof front.read - front.length))
          : uv_buf_init(front.answers + front.answered,
                        (unsigned)(sizeof front.answers - front.answered));
}

static void answer_first(const char *text, size_t length) {
  struct request *r = front.first;
  front.first = r->next;
  if (front.first == NULL)
    front.last = &front.first;
  snprintf(r->answer, sizeof r->answer, "%.*s", (int)length, text);
  r->at[DB].inner[1] = now();
  on_answer(r);
  r->at[TOTAL].outer[1] = now();
  stamps_book(kind_of(r->method), r->at);
  free(r);
}

static void on_db(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
  char *end;
  (void)stream, (void)buffer;
  if (length < 0)
    abort();
  front.answered += (size_t)length;
  while ((end = memchr(front.answers, '\n', front.answered)) != NULL) {
    answer_first(front.answers, (size_t)(end - front.answers));
    front.answered -= (size_t)(++end - front.answers);
    memmove(front.answers, end, front.answered);
  }
  start_some();
}

static void on_command(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
  (void)buffer;
  if (length < 0) {
    uv_close((uv_handle_t *)stream, NULL);
    front.ended = 1;
  } else
    front.length += (size_t)length;
  start_some();
}

static void on_connect(uv_connect_t *connect, int status) {
  (void)connect;
  if (status != 0)
    abort();
  uv_read_start((uv_stream_t *)&front.db, on_alloc, on_db);
  uv_read_start((uv_stream_t *)&front.in, on_alloc, on_command);
}

int main(int argc, char **argv) {
  uv_connect_t connect;
  if (argc != 3)
    return 2;
  front.last = &front.first;
  uv_loop_init(&front.loop);
  uv_pipe_init(&front.loop, &front.in, 0);
  uv_pipe_init(&front.loop, &front.db, 0);
  uv_pipe_open(&front.in, 0);
  uv_pipe_connect(&connect, &front.db, argv[1], on_connect);
  uv_run(&front.loop, UV_RUN_DEFAULT);
  stamps_print(argv[2]);
  return uv_loop_close(&front.loop) == 0 ? 0 : 1;
}
