/* SPDX-License-Identifier: MIT */
/*
 * Writes the profile of a server that never was, with requests of three kinds in three tiers:
 *
 *   requests FILE [ROUNDS [PID|live]]
 *
 * Each of ROUNDS (default 100) has a GET /item (wall 6 ms and more, mostly in db), and each
 * fifth a POST /upload, which failed; one is rootless; one goes on and is stuck in its future.
 * `live`: it is this process's, which waits for a line on stdin, and says then what is kept of its
 * span. Purpose: the commands' test has them, whatever state the runtime is in.
 */
#include "synthetic.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { US = 1000, MS = 1000000 };

/* As the reader tells whose a profile is. */
static void be_its_process(struct synthetic *s) {
  FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
  FILE *stat = fopen("/proc/self/stat", "re");
  if (!boot || !stat || fscanf(boot, "%39s", s->header->boot_id) != 1 ||
      fscanf(stat,
             "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
             "%*d %lu",
             &s->header->start_time) != 1)
    abort();
  fclose(boot);
  fclose(stat);
  s->header->pid = getpid();
}

static int wait_in(const struct synthetic *s, const char *path, uint32_t site) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  const unsigned char *bytes =
      mmap(NULL, s->header->used, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || bytes == MAP_FAILED || flock(fd, LOCK_SH))
    return 1;
  const struct aprof_psite *sites =
      (const void *)(bytes + ((const unsigned char *)s->sites - s->bytes));
  printf("%d\n", getpid());
  fflush(stdout);
  getchar();
  printf("%u %u\n", sites[site].detail, sites[site].tier);
  return 0;
}

static void book(struct synthetic *s, struct aprof_kind *kind, uint64_t i, uint64_t unit,
                 const uint32_t *tier, uint64_t begin) {
  uint64_t wall = unit * (10 + i % 10);
  uint64_t queued = wall / 10, exec = wall / 5, waiting = wall * 7 / 10;
  synthetic_book(s, kind, wall, queued, exec, waiting);
  synthetic_book_tier(s, kind, tier[0], 2 + i % 3, 0, waiting / 2, waiting / 2);
  synthetic_book_tier(s, kind, tier[1], 1, exec / 2, waiting / 4, exec / 2 + waiting / 4);
  if (i % 10 != 9 || i > 155)
    return;
  struct aprof_slow *slow = synthetic_slow(s, kind, begin, wall);
  slow->queued = queued;
  slow->exec = exec;
  slow->waiting = waiting;
  slow->trace[0] = 0x4bf92f3577b34da6u;
  slow->trace[1] = i;
  slow->tiers = 2;
  slow->tier[0].tier = tier[0];
  slow->tier[0].calls = 4;
  slow->tier[0].waiting = slow->tier[0].wall = waiting / 2;
  slow->tier[1].tier = tier[1];
  slow->tier[1].calls = 1;
  slow->tier[1].exec = exec / 2;
  slow->tier[1].waiting = waiting / 4;
}

int main(int argc, char **argv) {
  uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
  struct synthetic *s = synthetic_new();
  if (argc > 3 && strcmp(argv[3], "live") != 0)
    s->header->pid = atoi(argv[3]);
  strcpy(s->header->name, "shop");
  strcpy(s->header->command, "shop");
  uint32_t item = synthetic_site(s, APROF_SITE_FUNCTION, "get_item", "item.c", 50, 1);
  uint32_t save = synthetic_site(s, APROF_SITE_FUNCTION, "save_upload", "upload.c", 120, 1);
  uint32_t pool = synthetic_site(s, APROF_SITE_AWAIT, "pool_get", "db.c", 77, 3);
  uint32_t parse = synthetic_site(s, APROF_SITE_SPAN, "parse_headers", "http.c", 20, 1);
  uint32_t item_node = synthetic_node(s, 0, item, APROF_NODE_FUNCTION);
  uint32_t save_node = synthetic_node(s, 0, save, APROF_NODE_FUNCTION);
  uint32_t pool_node = synthetic_node(s, item_node, pool, APROF_NODE_AWAIT);
  uint32_t parse_node = synthetic_node(s, item_node, parse, APROF_NODE_SPAN);
  uint32_t outside = synthetic_node(s, 0, parse, APROF_NODE_SPAN);
  uint32_t db = synthetic_tier(s, "db"), fs = synthetic_tier(s, "fs");
  uint32_t of_parse = synthetic_tier(s, "parse");
  struct aprof_kind *get = synthetic_kind(s, "GET /item", item);
  struct aprof_kind *post = synthetic_kind(s, "POST /upload", save);
  struct aprof_kind *plain = synthetic_kind(s, NULL, save);
  struct aprof_block *block = synthetic_block(s, 1);
  uint64_t end = 1000 + rounds * 600 * MS;
  s->sites[parse].tier = of_parse;
  s->header->roots = 1;
  for (uint64_t i = 0; i < rounds; i++) {
    book(s, get, i, 600 * US, (uint32_t[]){db, of_parse}, 1000 + i * 10 * MS);
    if (i % 5 == 0) {
      book(s, post, i / 5, 2 * MS, (uint32_t[]){fs, of_parse}, 1000 + i * 10 * MS);
      post->shared.failed++;
    }
  }
  synthetic_book(s, plain, 100 * US, 0, 100 * US, 0);
  get->shared.after = 3;
  get->shared.after_exec = 2 * MS;
  block->state = APROF_THREAD_IDLE;
  block->last = end;
  block->idle = rounds * 590 * MS;
  struct aprof_counters *c = synthetic_counters(s, 1, item_node);
  c->function.done = c->function.slices = rounds;
  c->function.exec = 500 * (uint64_t)MS;
  synthetic_counters(s, 1, save_node)->function.done = rounds / 5;
  synthetic_counters(s, 1, pool_node)->await.count = rounds;
  synthetic_counters(s, 1, pool_node)->await.waiting = rounds * 4 * MS;
  synthetic_counters(s, 1, parse_node)->function.done = rounds;
  synthetic_counters(s, 1, parse_node)->function.exec = 100 * (uint64_t)MS;
  synthetic_counters(s, 1, outside)->function.done = 1;
  synthetic_counters(s, 1, outside)->function.exec = 5 * (uint64_t)MS;
  block->other = 5 * (uint64_t)MS;
  struct aprof_future *f = synthetic_future(s, 1, item_node, APROF_FUTURE_WAITING, end / 2);
  f->await = pool_node;
  struct aprof_request *r = synthetic_request(s, get, item, end / 2);
  r->root = synthetic_index(s, f);
  f->request = synthetic_request_number(s, r);
  bool live = argc > 3 && !strcmp(argv[3], "live");
  if (live)
    be_its_process(s);
  FILE *out = fopen(argv[1], "we");
  bool written = out && fwrite(s->bytes, 1, s->header->used, out) == s->header->used;
  written = out && !fclose(out) && written;
  return !written ? 1 : live ? wait_in(s, argv[1], parse) : 0;
}
