/* SPDX-License-Identifier: MIT */
/*
 * Makes the first seeds of the recording target, from the layout as it is:
 *   recordings DIRECTORY            one of the rings, one with both images
 *   recordings --tighten SEED FILE  a recording of what was found, to be asked
 */
#include "loose.h"
#include "record/recorder.h"
#include "record/trace-read.h"
#include "synthetic.h"

#include <aprof/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BITS = 10, START = 10000, THREADS = 2 };

static struct aprof_block *block[THREADS];
static struct aprof_trace_event *ring[THREADS];
static uint32_t get, pool, put, span, kind;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct synthetic *make(void) {
  struct synthetic *s = synthetic_new();
  uint32_t site[] = {synthetic_site(s, APROF_SITE_FUNCTION, "get", "item.c", 5, 1),
                     synthetic_site(s, APROF_SITE_AWAIT, "pool_get", "db.c", 77, 3),
                     synthetic_site(s, APROF_SITE_FUNCTION, "put", "item.c", 50, 1),
                     synthetic_site(s, APROF_SITE_SPAN, "parse", "item.c", 60, 1)};
  get = synthetic_node(s, 0, site[0], APROF_NODE_FUNCTION);
  pool = synthetic_node(s, get, site[1], APROF_NODE_AWAIT);
  put = synthetic_node(s, 0, site[2], APROF_NODE_FUNCTION);
  span = synthetic_node(s, get, site[3], APROF_NODE_SPAN);
  kind = (uint32_t)(synthetic_kind(s, "GET /", site[0]) - s->kinds) + 1;
  synthetic_tier(s, "db");
  for (uint32_t i = 0; i < THREADS; i++) {
    block[i] = synthetic_block(s, i + 1);
    ring[i] = synthetic_chunk(s, APROF_CHUNK_RING, i + 1, 0, 1u << BITS, sizeof **ring);
    block[i]->ring = (uint64_t)((unsigned char *)ring[i] - s->bytes);
    block[i]->ring_bits = BITS;
  }
  return s;
}

/* -- events ------------------------------------------------------------------------ */

static void add(uint32_t thread, uint32_t what, uint64_t a, uint64_t b) {
  uint64_t number = block[thread]->ring_head++;
  aprof_trace_put(ring[thread] + (number & ((1u << BITS) - 1)), aprof_trace_lap(number, BITS), what,
                  a, b);
}

static void event(uint32_t thread, uint32_t what, uint32_t future, uint32_t node, uint64_t tick) {
  add(thread, what, tick, aprof_trace_what(future, node));
  block[thread]->last = tick;
  block[thread]->sequence += 2;
}

static void more(uint32_t thread, uint64_t a, uint64_t b) {
  add(thread, APROF_TRACE_MORE, a, b);
}

static void begin_thread(uint32_t t) {
  event(t, APROF_TRACE_THREAD, 0, 0, START);
  more(t, 1 | (uint64_t)APROF_THREAD_IDLE << 32 | (uint64_t)APROF_THREAD_IDLE << 40, 0);
  more(t, 1, 0);
}

/* A request in a tier, which waits until the other thread's future wakes it. */
static void tell(uint32_t number, uint64_t at) {
  uint32_t f = 2 * number + 1, w = f + 1;
  uint64_t request = aprof_trace_request(number + 1, number + 1);
  event(0, APROF_TRACE_REQUEST_BEGIN, f, get, at);
  more(0, request, 0);
  event(0, APROF_TRACE_BORN, f, get, at);
  more(0, f, 0);
  event(0, APROF_TRACE_JOIN, f, 0, at);
  more(0, request, APROF_TRACE_ROOT);
  event(0, APROF_TRACE_RUNNING, f, get, at + 10);
  event(0, APROF_TRACE_NODE, f, span, at + 20);
  event(0, APROF_TRACE_TIER, f, 1, at + 25);
  event(0, APROF_TRACE_NODE, f, get, at + 30);
  event(0, APROF_TRACE_WAITING, f, pool, at + 40);
  event(0, APROF_TRACE_IDLE, 0, 0, at + 40);
  event(1, APROF_TRACE_BORN, w, put, at + 40);
  more(1, w, f);
  event(1, APROF_TRACE_RUNNING, w, put, at + 45);
  event(1, APROF_TRACE_WAKE, f, 0, at + 60 + number * number);
  event(1, APROF_TRACE_DONE, w, 0, at + 65 + number * number);
  event(0, APROF_TRACE_READY, f, 0, at + 60 + number * number);
  event(0, APROF_TRACE_RUNNING, f, get, at + 70 + number * number);
  event(0, number % 4 ? APROF_TRACE_DONE : APROF_TRACE_FAILED, f, 0, at + 90 + number * number);
  event(0, APROF_TRACE_TOKEN, 0, 0, at + 90 + number * number);
  more(0, 77, 78);
  more(0, 79, 80);
  event(0, APROF_TRACE_REQUEST_END, f, 0, at + 90 + number * number);
  more(0, request, kind);
}

static void tell_all(void) {
  begin_thread(0);
  begin_thread(1);
  for (uint32_t i = 0; i < 12; i++)
    tell(i, START + 1000 * i);
  event(1, APROF_TRACE_EPOCH, 0, 0, START + 13000);
  event(1, APROF_TRACE_STOLEN, 0, 0, START + 13001);
  event(0, APROF_TRACE_GAP, 0, 0, START + 13000);
  more(0, 5, 0);
  begin_thread(0);
  event(1, APROF_TRACE_GONE, 0, 0, START + 14000);
}

/* -- files ----------------------------------------------------------------------------- */

static void write_all(FILE *out, const void *from, size_t size) {
  if (fwrite(from, 1, size, out) != size)
    fail("write");
}

static void loosen(int fd, const char *directory, const char *name) {
  char path[4096];
  struct trace_error why = {""};
  unsigned char *room = malloc(TRACE_RAW_MOST);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct trace *t = trace_open(path, &why);
  if (!t)
    fail(why.text);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *out = fopen(path, "we");
  if (!out)
    fail(path);
  t->header.begin_ns = 0;
  write_all(out, &t->header, sizeof t->header);
  for (uint32_t i = 0; i < t->frames; i++) {
    int64_t size = trace_bytes(t, i, room);
    if (size < 0)
      fail("frame");
    write_all(out, &t->frame[i].head, sizeof t->frame[i].head);
    write_all(out, room, (size_t)size);
  }
  if (fclose(out))
    fail(path);
  trace_close(t);
  free(room);
}

static void record(const char *directory, const char *name, bool of_rings) {
  struct synthetic *s = make();
  int fd = synthetic_file(s, s->header->used), to = memfd_create("recording", MFD_CLOEXEC);
  unsigned char *live = mmap(NULL, s->header->used, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (to < 0 || live == MAP_FAILED)
    fail(name);
  for (uint32_t i = 0; i < THREADS; i++) {
    block[i] = (void *)(live + ((unsigned char *)block[i] - s->bytes));
    ring[i] = (void *)(live + ((unsigned char *)ring[i] - s->bytes));
  }
  struct recorder *r =
      (of_rings ? recorder_of_rings : recorder_begin)(fd, "made", to, (uint64_t)1 << 32, true);
  if (!r)
    fail(name);
  tell_all();
  recorder_end(r, true);
  recorder_free(r);
  loosen(to, directory, name);
  munmap(live, s->header->used);
  close(fd);
  close(to);
  free(s);
}

static void tighten(const char *from, const char *to) {
  static uint8_t loose[TRACE_RAW_MOST];
  char path[64];
  FILE *in = fopen(from, "re"), *out = fopen(to, "we");
  if (!in || !out)
    fail(in ? to : from);
  int fd = loose_tighten(loose, fread(loose, 1, sizeof loose, in));
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  fclose(in);
  in = fopen(path, "re");
  for (int c; in && (c = getc(in)) != EOF;)
    putc(c, out);
  if (!in || fclose(out))
    fail(to);
  fclose(in);
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "--tighten")) {
    tighten(argv[2], argv[3]);
    return 0;
  }
  if (argc != 2) {
    fprintf(stderr, "usage: recordings DIRECTORY | recordings --tighten SEED FILE\n");
    return 2;
  }
  record(argv[1], "rings", true);
  record(argv[1], "whole", false);
  return 0;
}
