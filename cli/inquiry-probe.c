/* SPDX-License-Identifier: MIT */
/*
 * The process that watches a place for who looks on; see inquiry.h. Copies of it answer with what
 * there is so far, while this one goes on watching. Its end disarms the breakpoints.
 */
#include "inquiry.h"

#include "probe/machine.h"
#include "probe/watch.h"
#include "read/clock.h"
#include "read/util.h"
#include "show/probe.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
#define LOOK ((uint64_t)50000000) /* ns */
enum { CEILING = 10000 };         /* hits a second; each takes its thread some microseconds */

struct probes {
  int socket;
  uint64_t began;
  struct inquiry_asked asked;
  bool is_asked, is_copy;
  pid_t answers; /* 0: nobody does */
};

static void answer(int socket, const struct probe_result *result) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    _exit(1);
  show_probe(result, out);
  fclose(out);
  inquiry_send(socket, false, text, length);
  free(text);
}

/* True in a copy, which is to answer. */
static bool look(struct probes *p) {
  struct pollfd in = {.fd = p->socket, .events = POLLIN};
  if (poll(&in, 1, 0) > 0) {
    if (!inquiry_read(p->socket, &p->asked))
      _exit(0);
    p->is_asked = true;
  }
  if (p->answers > 0 && waitpid(p->answers, NULL, WNOHANG) == p->answers)
    p->answers = 0;
  if (!p->is_asked || p->answers || clock_monotonic() - p->began < SECOND / 2)
    return false;
  pid_t copy = fork();
  p->is_copy = copy == 0;
  p->is_asked = copy < 0;
  p->answers = copy > 0 ? copy : 0;
  return p->is_copy;
}

/* What is there in the end, or so far. */
static void go(struct probes *p, struct watching *w) {
  while (watch_go(w, LOOK))
    if (look(p)) {
      watch_so_far(w);
      return;
    }
  watch_stop(w);
  watch_settle(w);
}

/* False after a message. */
static bool watch(struct probes *p, struct debug *d, const struct watch *asked,
                  struct probe_result *result) {
  struct places places;
  if (!place_find(d, &result->arena, asked->asked, &places))
    return false;
  if (places.count > watch_most(asked)) {
    complain("%s is %zu places in the program's code (it was inlined), and a processor watches "
             "%zu at most",
             asked->asked, places.count, watch_most(asked));
    return false;
  }
  struct watching *w = watch_new(d, &places, asked, result);
  if (!w || !watch_arm(w))
    return false;
  go(p, w);
  return true;
}

void inquiry_probe(long pid, int socket, const char *place) {
  struct probes p = {.socket = socket, .began = clock_monotonic()};
  struct probe_result *result = allocate(1, sizeof *result);
  struct debug d;
  struct watch w = {
      .what = print_string("process %ld", pid), .asked = place, .stack = true, .ceiling = CEILING};
  if (!MACHINE_KNOWN)
    complain("probes know the registers of x86-64 and aarch64 only");
  if (!MACHINE_KNOWN || !debug_open(&d, pid, NULL) || !watch(&p, &d, &w, result))
    _exit(1);
  if (p.answers)
    waitpid(p.answers, NULL, 0);
  if (p.is_copy || p.is_asked)
    answer(socket, result);
  /* The process has ended, or it came by too often: that is how it stays. */
  while (!p.is_copy && inquiry_read(socket, &p.asked))
    answer(socket, result);
  _exit(0);
}
