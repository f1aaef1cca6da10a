/* SPDX-License-Identifier: MIT */
/* The process behind a key-value server that has the values. kv-db SOCKET STAMPS; prints a line
   once it listens, and ends with its one client. */
#include <aprof.h>
#include <uv.h>

#include "kv-stamps.h"

enum { ENTRIES = 4096 };

struct question {
  char line[256], method[16], key[32], value[64], token[56], answer[96];
  struct bracket at[TIERS];
};

static struct store {
  uv_loop_t loop;
  uv_pipe_t listener, client;
  char read[65536];
  size_t length;
  struct entry {
    char key[32], value[64];
  } entry[ENTRIES];
  unsigned long bytes, entries;
} store;

APROF("create key=q:ret root ready token=a0")
__attribute__((noinline)) static struct question *question_new(const char *token) {
  struct question *q = calloc(1, sizeof *q);
  snprintf(q->token, sizeof q->token, "%s", token);
  return q;
}

APROF("end key=q:a0") __attribute__((noinline)) static void question_end(struct question *q) {
  uv_buf_t buffer = uv_buf_init(q->answer, (unsigned)strlen(q->answer));
  if (uv_try_write((uv_stream_t *)&store.client, &buffer, 1) != (int)buffer.len)
    abort();
}

APROF("span tier=parsing") __attribute__((noinline)) static void parse(struct question *q) {
  INSIDE(q->at[PARSING]);
  sscanf(q->line, "%15s %31s %63s", q->method, q->key, q->value);
  LEAVES(q->at[PARSING]);
}

/* The place of a key, or the one where it would be. */
static struct entry *find(const char *key) {
  unsigned place = 5381;
  for (const char *c = key; *c != '\0'; c++)
    place = place * 33 + (unsigned char)*c;
  struct entry *e = &store.entry[place % ENTRIES];
  while (e->key[0] != '\0' && strcmp(e->key, key) != 0)
    e = e + 1 < store.entry + ENTRIES ? e + 1 : store.entry;
  return e;
}

APROF("span tier=accounting") __attribute__((noinline)) static void account(struct question *q) {
  INSIDE(q->at[ACCOUNTING]);
  store.entries += q->method[0] == 'c';
  store.bytes += strlen(q->value);
  LEAVES(q->at[ACCOUNTING]);
}

/* A key that is deleted keeps its place, without a value. */
APROF("span tier=db") __attribute__((noinline)) static void apply(struct question *q) {
  INSIDE(q->at[DB]);
  struct entry *e = find(q->key);
  if (q->method[0] == 'd')
    e->value[0] = '\0';
  else if (q->method[0] != 'r') {
    memcpy(e->key, q->key, sizeof e->key);
    memcpy(e->value, q->value, sizeof e->value);
    AROUND(q->at[ACCOUNTING], account(q));
  }
  snprintf(q->answer, sizeof q->answer, "%s\n", e->value[0] != '\0' ? e->value : "none");
  LEAVES(q->at[DB]);
}

APROF("run key=q:a0 multi label=a0->method:str")
__attribute__((noinline)) static void answer(struct question *q) {
  AROUND(q->at[DB], apply(q));
  question_end(q);
  LEAVES(q->at[TOTAL]); /* what ends a request is a part of it, to its last line */
}

APROF("run key=q:a0 multi") __attribute__((noinline)) static void begin(struct question *q) {
  AROUND(q->at[PARSING], parse(q));
}

static void take(const char *line, size_t length) {
  uint64_t before = now();
  const char *token = memrchr(line, ' ', length);
  char text[56];
  snprintf(text, sizeof text, "%.*s", (int)(line + length - token - 1), token + 1);
  before = now();
  struct question *q = question_new(text);
  q->at[TOTAL].outer[0] = before;
  q->at[TOTAL].inner[0] = now();
  snprintf(q->line, sizeof q->line, "%.*s", (int)length, line);
  begin(q);
  answer(q);
  q->at[TOTAL].outer[1] = now();
  stamps_book(kind_of(q->method), q->at);
  free(q);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  (void)handle, (void)suggested;
  *buffer = uv_buf_init(store.read + store.length, (unsigned)(sizeof store.read - store.length));
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
  char *end;
  (void)buffer;
  if (length < 0) {
    uv_close((uv_handle_t *)stream, NULL);
    uv_close((uv_handle_t *)&store.listener, NULL);
    return;
  }
  store.length += (size_t)length;
  while ((end = memchr(store.read, '\n', store.length)) != NULL) {
    take(store.read, (size_t)(end - store.read));
    store.length -= (size_t)(++end - store.read);
    memmove(store.read, end, store.length);
  }
}

static void on_client(uv_stream_t *listener, int status) {
  if (status != 0)
    abort();
  uv_pipe_init(&store.loop, &store.client, 0);
  uv_accept(listener, (uv_stream_t *)&store.client);
  uv_read_start((uv_stream_t *)&store.client, on_alloc, on_read);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  uv_loop_init(&store.loop);
  uv_pipe_init(&store.loop, &store.listener, 0);
  if (uv_pipe_bind(&store.listener, argv[1]) != 0 ||
      uv_listen((uv_stream_t *)&store.listener, 1, on_client) != 0)
    return 1;
  puts("listening");
  fflush(stdout);
  uv_run(&store.loop, UV_RUN_DEFAULT);
  stamps_print(argv[2]);
  return uv_loop_close(&store.loop) == 0 ? 0 : 1;
}
