/* Profiles made to measure; see synthetic.h. */
#include "synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *synthetic_chunk(struct synthetic *s, uint32_t type, uint32_t owner, uint32_t first,
                      uint32_t count, uint32_t element) {
  uint64_t size = sizeof(struct aprof_chunk) + (uint64_t)count * element;
  size = (size + APROF_PAGE - 1) / APROF_PAGE * APROF_PAGE;
  if (s->header->used + size > SYNTHETIC_ROOM)
    abort();
  struct aprof_chunk *chunk = (void *)(s->bytes + s->header->used);
  *chunk = (struct aprof_chunk){.type = type,
                                .owner = owner,
                                .size = size,
                                .first = first,
                                .count = count,
                                .element = element};
  s->header->used += size;
  return chunk + 1;
}

struct synthetic *synthetic_new(void) {
  struct synthetic *s = aligned_alloc(4096, (sizeof *s + 4095) / 4096 * 4096);
  memset(s, 0, sizeof *s);
  struct aprof_header *h = s->header = (void *)s->bytes;
  memcpy(h->magic, APROF_PROFILE_MAGIC, 8);
  h->version = APROF_PROFILE_VERSION;
  h->header_size = APROF_HEADER_SIZE;
  h->capacity = SYNTHETIC_ROOM;
  h->used = APROF_HEADER_SIZE;
  h->pid = 4242;
  h->mapped_at = (uint64_t)1 << 40;
  h->parent_pid = 1;
  h->start_time = 12345;
  h->started_at_ns = 1700000000000000000;
  strcpy(h->boot_id, "00000000-0000-0000-0000-000000000000");
  strcpy(h->host, "testhost");
  strcpy(h->command, "http_server -p 80");
  strcpy(h->name, "http_server");
  strcpy(h->dir, "/tmp");
  h->clock_source = APROF_CLOCK_MONOTONIC;
  h->fit_mult = h->estimated_mult = (uint64_t)1 << 32;
  h->tick0 = h->mono0_ns = 1000;
  h->enabled = 1;
  h->epoch = h->reset_epoch = 1;
  h->epochs[1].begin_tick = 1000;
  s->strings = synthetic_chunk(s, APROF_CHUNK_STRINGS, 0, 0, SYNTHETIC_STRINGS, 1);
  s->sites =
      synthetic_chunk(s, APROF_CHUNK_SITES, 0, 0, SYNTHETIC_SITES, sizeof(struct aprof_psite));
  s->nodes =
      synthetic_chunk(s, APROF_CHUNK_NODES, 0, 0, SYNTHETIC_NODES, sizeof(struct aprof_node));
  s->futures =
      synthetic_chunk(s, APROF_CHUNK_FUTURES, 0, 0, SYNTHETIC_FUTURES, sizeof(struct aprof_future));
  s->modules = synthetic_chunk(s, APROF_CHUNK_MODULES, 0, 0, 8, sizeof(struct aprof_module));
  s->nodes[2] = (struct aprof_node){.parent = 1, .is_await = 1};
  s->node_count = h->nodes = 2;
  return s;
}

uint32_t synthetic_string(struct synthetic *s, const char *text) {
  if (!text)
    return 0;
  size_t length = strlen(text) + 1;
  if (s->strings_used + length > SYNTHETIC_STRINGS)
    abort();
  char *to = s->strings + s->strings_used;
  memcpy(to, text, length);
  s->strings_used = (s->strings_used + length + 7) / 8 * 8;
  return (uint32_t)((size_t)((unsigned char *)to - s->bytes) / 8);
}

uint32_t synthetic_site(struct synthetic *s, enum aprof_site_kind kind, const char *name,
                        const char *file, uint32_t line, uint32_t column) {
  uint32_t number = ++s->site_count;
  s->sites[number] = (struct aprof_psite){
      .name = synthetic_string(s, name),
      .file = synthetic_string(s, file),
      .line = line,
      .column = column,
      .kind = (uint8_t)kind,
      .model = kind == APROF_SITE_FUNCTION ? APROF_MODEL_STACK : APROF_MODEL_NONE,
  };
  s->header->sites = number;
  return number;
}

uint32_t synthetic_node(struct synthetic *s, uint32_t parent, uint32_t site, int is_await) {
  uint32_t number = ++s->node_count;
  s->nodes[number] =
      (struct aprof_node){.parent = parent, .site = site, .is_await = (uint32_t)is_await};
  s->header->nodes = number;
  return number;
}

struct aprof_block *synthetic_block(struct synthetic *s, uint32_t number) {
  struct aprof_block *block =
      synthetic_chunk(s, APROF_CHUNK_BLOCK, number, number, 1, sizeof *block + 64);
  *block = (struct aprof_block){.sequence = 20,
                                .last = 1000,
                                .epoch = s->header->epoch,
                                .counters_epoch = s->header->reset_epoch,
                                .leases = 1,
                                .tid = 4242 + (int32_t)number};
  snprintf(block->name, sizeof block->name, "thread%u", number);
  synthetic_chunk(s, APROF_CHUNK_COUNTERS, number, 0, SYNTHETIC_NODES,
                  sizeof(struct aprof_counters));
  s->header->blocks++;
  return block;
}

struct aprof_counters *synthetic_counters(struct synthetic *s, uint32_t block, uint32_t node) {
  for (uint64_t at = APROF_HEADER_SIZE; at < s->header->used;) {
    struct aprof_chunk *chunk = (void *)(s->bytes + at);
    if (chunk->type == APROF_CHUNK_COUNTERS && chunk->owner == block)
      return (struct aprof_counters *)(chunk + 1) + node;
    at += chunk->size;
  }
  abort();
}

static uint64_t buckets_of(struct synthetic *s, bool two, struct aprof_buckets **h) {
  *h = synthetic_chunk(s, APROF_CHUNK_HISTOGRAMS, 0, 0, 1,
                       sizeof **h + (APROF_HISTOGRAM_BUCKETS * sizeof(uint16_t) << two));
  (*h)->octaves = APROF_OCTAVES;
  (*h)->two = two;
  return s->header->mapped_at + (size_t)((unsigned char *)(*h)->count - s->bytes) -
         APROF_BUCKETS_BEFORE(two);
}

uint64_t synthetic_buckets(struct synthetic *s, uint16_t **counts) {
  struct aprof_buckets *h;
  uint64_t buckets = buckets_of(s, false, &h);
  *counts = h->count;
  return buckets;
}

uint64_t synthetic_ended(struct synthetic *s, uint16_t (**counts)[2]) {
  struct aprof_buckets *h;
  uint64_t buckets = buckets_of(s, true, &h);
  *counts = (void *)h->count;
  return buckets;
}

uint64_t synthetic_all_of(struct synthetic *s, bool two, uint64_t amount, uint64_t count) {
  struct aprof_buckets *h;
  uint64_t buckets = buckets_of(s, two, &h);
  uint32_t *carried = synthetic_chunk(s, APROF_CHUNK_HISTOGRAMS, 0, 0,
                                      APROF_HISTOGRAM_BUCKETS << two, sizeof *carried);
  h->carried = (uint32_t)((size_t)((unsigned char *)carried - s->bytes) / 8);
  for (uint32_t i = aprof_bucket_of(amount) << two, n = 0; n <= two; n++) {
    h->count[i + n] = (uint16_t)count;
    carried[i + n] = (uint32_t)(count >> 16);
  }
  return buckets;
}

struct aprof_future *synthetic_future(struct synthetic *s, uint32_t epoch, uint32_t node,
                                      enum aprof_future_state state, uint64_t last) {
  struct aprof_future *f = &s->futures[s->future_count++];
  *f = (struct aprof_future){.id = (uint64_t)epoch << 48 | (uint64_t)1 << 32 | s->future_count,
                             .last = last,
                             .node = node,
                             .state = (uint8_t)state,
                             .flags = APROF_F_STARTED,
                             .lease = epoch << 16 | 1,
                             .created_tick = last};
  return f;
}

uint32_t synthetic_index(const struct synthetic *s, const struct aprof_future *f) {
  return (uint32_t)((size_t)((const unsigned char *)f - s->bytes) / sizeof *f);
}

/* -- requests ------------------------------------------------------------------------- */

static uint32_t reference(const struct synthetic *s, const void *at) {
  return (uint32_t)((size_t)((const unsigned char *)at - s->bytes) / 8);
}

struct aprof_kind *synthetic_kind(struct synthetic *s, const char *label, uint32_t function) {
  if (!s->kinds) {
    s->kinds = synthetic_chunk(s, APROF_CHUNK_KINDS, 0, 0, SYNTHETIC_KINDS, sizeof *s->kinds);
    s->tiers = synthetic_chunk(s, APROF_CHUNK_TIERS, 0, 0, SYNTHETIC_TIERS, sizeof *s->tiers);
    s->requests =
        synthetic_chunk(s, APROF_CHUNK_REQUESTS, 0, 0, SYNTHETIC_REQUESTS, sizeof *s->requests);
    s->header->kinds = 1;
  }
  struct aprof_kind *kind = &s->kinds[s->header->kinds++];
  kind->label = synthetic_string(s, label);
  kind->function = function;
  kind->epoch = kind->shared.epoch = s->header->reset_epoch;
  return kind;
}

static void add_amount(struct synthetic *s, struct aprof_amount *to, uint64_t value) {
  struct aprof_buckets *h = (void *)(s->bytes + (size_t)to->histogram * 8);
  if (!to->histogram) {
    buckets_of(s, false, &h);
    to->histogram = reference(s, h);
  }
  h->count[aprof_bucket_of(value)]++;
  to->sum += value;
  to->max = to->max > value ? to->max : value;
}

struct aprof_kind_part *synthetic_part(struct synthetic *s, uint32_t block,
                                       const struct aprof_kind *kind) {
  uint32_t number = (uint32_t)(kind - s->kinds);
  struct aprof_kind_part *part =
      synthetic_chunk(s, APROF_CHUNK_KIND_PARTS, block, 0, SYNTHETIC_KINDS, sizeof *part);
  part[number].epoch = s->header->reset_epoch;
  return &part[number];
}

void synthetic_book_part(struct synthetic *s, struct aprof_kind_part *part, uint64_t wall,
                         uint64_t queued, uint64_t exec, uint64_t waiting) {
  part->count++;
  add_amount(s, &part->wall, wall);
  add_amount(s, &part->queued, queued);
  add_amount(s, &part->exec, exec);
  add_amount(s, &part->waiting, waiting);
}

void synthetic_book(struct synthetic *s, struct aprof_kind *kind, uint64_t wall, uint64_t queued,
                    uint64_t exec, uint64_t waiting) {
  synthetic_book_part(s, &kind->shared, wall, queued, exec, waiting);
}

uint32_t synthetic_tier(struct synthetic *s, const char *name) {
  uint32_t tier = 1;
  while (s->header->tier_names[tier])
    tier++;
  s->header->tier_names[tier] = synthetic_string(s, name);
  return tier;
}

void synthetic_book_tier(struct synthetic *s, struct aprof_kind *kind, uint32_t tier,
                         uint64_t calls, uint64_t exec, uint64_t waiting, uint64_t wall) {
  synthetic_book_part_tier(s, &kind->shared, tier, calls, exec, waiting, wall);
}

void synthetic_book_part_tier(struct synthetic *s, struct aprof_kind_part *part, uint32_t tier,
                              uint64_t calls, uint64_t exec, uint64_t waiting, uint64_t wall) {
  uint32_t *at = &part->tiers;
  struct aprof_kind_tier *t = NULL;
  while (*at && (t = (void *)(s->bytes + (size_t)*at * 8))->tier != tier) {
    at = &t->next;
    t = NULL;
  }
  if (!t) {
    t = &s->tiers[s->tier_count++];
    t->tier = tier;
    *at = reference(s, t);
  }
  t->count++;
  add_amount(s, &t->calls, calls);
  add_amount(s, &t->exec, exec);
  add_amount(s, &t->waiting, waiting);
  add_amount(s, &t->wall, wall);
}

struct aprof_slow *synthetic_slow(struct synthetic *s, struct aprof_kind *kind, uint64_t begin,
                                  uint64_t wall) {
  if (!kind->slowest)
    kind->slowest = reference(
        s, synthetic_chunk(s, APROF_CHUNK_SLOWEST, 0, 0, APROF_SLOWEST, sizeof(struct aprof_slow)));
  struct aprof_slow *slow = (void *)(s->bytes + (size_t)kind->slowest * 8);
  while (slow->sequence)
    slow++;
  *slow = (struct aprof_slow){
      .sequence = 2, .begin_tick = begin, .wall = wall, .function = kind->function};
  return slow;
}

struct aprof_slow *synthetic_logged(struct synthetic *s, const struct aprof_kind *kind,
                                    uint64_t wall) {
  struct aprof_header *h = s->header;
  if (!h->log)
    h->log = reference(
        s, synthetic_chunk(s, APROF_CHUNK_LOGGED, 0, 0, APROF_LOGGED, sizeof(struct aprof_slow)));
  struct aprof_slow *slow = (void *)(s->bytes + (size_t)h->log * 8);
  slow += h->logged++ % APROF_LOGGED;
  *slow = (struct aprof_slow){.sequence = 2 * h->logged,
                              .begin_tick = 2000,
                              .wall = wall,
                              .function = kind->function,
                              .kind = (uint16_t)(kind - s->kinds)};
  return slow;
}

struct aprof_request *synthetic_request(struct synthetic *s, const struct aprof_kind *kind,
                                        uint32_t function, uint64_t begin) {
  struct aprof_request *r = &s->requests[++s->request_count];
  *r = (struct aprof_request){.id = (uint64_t)s->header->epoch << 48 | s->request_count,
                              .begin_tick = begin,
                              .members = 1,
                              .function = function,
                              .state = APROF_REQUEST_LIVE,
                              .no_label = kind == NULL};
  r->kind = kind ? (uint16_t)(kind - s->kinds) : 0;
  return r;
}

uint32_t synthetic_request_number(const struct synthetic *s, const struct aprof_request *r) {
  return (uint32_t)(r - s->requests);
}

int synthetic_file(const struct synthetic *s, size_t length) {
  int fd = memfd_create("synthetic", MFD_CLOEXEC);
  size_t done = 0;
  while (fd >= 0 && done < length) {
    ssize_t put = write(fd, s->bytes + done, length - done);
    if (put <= 0)
      abort();
    done += (size_t)put;
  }
  return fd;
}

static void fill(uint16_t *counts) {
  for (uint16_t i = 0; i < 300; i += 7)
    counts[i] = (uint16_t)(i + 1);
}

/* Two kinds with tiers and slowest ones, one that goes on, spans in futures and outside. */
static void add_requests(struct synthetic *s, uint32_t function, uint32_t node) {
  struct aprof_kind *upload = synthetic_kind(s, "POST /upload", function);
  struct aprof_kind *plain = synthetic_kind(s, NULL, function);
  uint32_t db = synthetic_tier(s, "db"), fs = synthetic_tier(s, "fs");
  uint32_t parse = synthetic_site(s, APROF_SITE_SPAN, "parse", "http.c", 20, 1);
  s->sites[parse].tier = fs;
  uint32_t inside = synthetic_node(s, node, parse, APROF_NODE_SPAN);
  uint32_t outside = synthetic_node(s, 0, parse, APROF_NODE_SPAN);
  synthetic_counters(s, 1, inside)->function.exec = 700;
  synthetic_counters(s, 1, inside)->function.done = 7;
  synthetic_counters(s, 2, outside)->function.exec = 90;
  synthetic_counters(s, 2, outside)->function.done = 9;
  for (uint64_t i = 1; i <= 20; i++) {
    synthetic_book(s, upload, 1000 * i, 10 * i, 200 * i, 700 * i);
    synthetic_book_tier(s, upload, db, 2, 50 * i, 400 * i, 500 * i);
    synthetic_book_tier(s, upload, fs, 1, 30 * i, 100 * i, 130 * i);
    synthetic_book(s, plain, 100 * i, i, 20 * i, 70 * i);
    if (i > 10) {
      struct aprof_slow *slow = synthetic_slow(s, upload, 600000 + 1000 * i, 1000 * i);
      slow->exec = 200 * i;
      slow->waiting = 700 * i;
      slow->trace[0] = i;
      slow->span = 16 + i;
      slow->tiers = 1;
      slow->tier[0].tier = db;
      slow->tier[0].calls = 2;
      slow->tier[0].waiting = 400 * i;
    }
  }
  upload->shared.failed = upload->shared.after = 3;
  upload->shared.after_exec = 33;
  struct aprof_request *live = synthetic_request(s, upload, function, 700000);
  live->root = synthetic_index(s, &s->futures[0]);
  s->futures[0].request = synthetic_request_number(s, live);
}

struct synthetic *synthetic_rich(void) {
  struct synthetic *s = synthetic_new();
  uint32_t upload = synthetic_site(s, APROF_SITE_FUNCTION, "handle_upload", "server.c", 140, 6);
  uint32_t again = synthetic_site(s, APROF_SITE_FUNCTION, "handle_upload", "server.c", 140, 6);
  uint32_t quota = synthetic_site(s, APROF_SITE_FUNCTION, "fetch_quota", "quota.c", 44, 1);
  uint32_t call = synthetic_site(s, APROF_SITE_CALL, "fetch_quota", "server.c", 150, 9);
  uint32_t connect = synthetic_site(s, APROF_SITE_AWAIT, "uv_tcp_connect", "quota.c", 61, 3);
  uint32_t write = synthetic_site(s, APROF_SITE_CREATE, "uv_write", "db.c", 12, 3);
  uint32_t nameless = synthetic_site(s, APROF_SITE_FUNCTION, NULL, NULL, 0, 0);
  s->sites[nameless].address = 0x401234;
  s->sites[nameless].module = 1;
  s->modules[1] = (struct aprof_module){.bias = 0x400000, .low = 0x400000, .high = 0x500000};
  s->modules[1].path = synthetic_string(s, "/nowhere/lib/http_server");
  uint32_t n[8];
  n[0] = synthetic_node(s, 0, upload, 0);
  n[1] = synthetic_node(s, n[0], quota, 0);
  n[2] = synthetic_node(s, n[1], connect, 1);
  n[3] = synthetic_node(s, n[0], call, 1);
  n[4] = synthetic_node(s, 0, again, 0);
  n[5] = synthetic_node(s, n[4], write, 1);
  n[6] = synthetic_node(s, n[0], nameless, 0);
  n[7] = synthetic_node(s, n[6], upload, 0);
  s->header->epoch = 3;
  s->header->epochs[1].end_tick = s->header->epochs[2].begin_tick = 500000;
  s->header->epochs[2].end_tick = s->header->epochs[3].begin_tick = 600000;
  for (uint32_t b = 1; b <= 2; b++) {
    struct aprof_block *block = synthetic_block(s, b);
    block->state = b == 1 ? APROF_THREAD_RUNNING : APROF_THREAD_IDLE;
    block->last = 900000;
    block->idle = 100000;
    block->other = 5000;
    for (int i = 0; i < 8; i++) {
      struct aprof_counters *c = synthetic_counters(s, b, n[i]);
      uint16_t *counts, (*ended)[2];
      if (i == 2 || i == 3 || i == 5) {
        c->await.count = 30 + b;
        c->await.immediate = b;
        c->await.waiting = 70000 + (uint64_t)i;
        c->await.max = 9000;
        c->await.buckets = synthetic_buckets(s, &counts);
        fill(counts);
        continue;
      }
      c->function.done = 20 + b;
      c->function.failed = 1;
      c->function.cancelled = 2;
      c->function.exec = 40000 + (uint64_t)i;
      c->function.queued = 300;
      c->function.exec_max = 7000;
      c->function.wall_max = 12000;
      c->function.slices = 44;
      c->function.slice_max = 20000000;
      c->function.slice_from = upload;
      c->function.slice_to = write;
      c->function.ended_buckets = synthetic_ended(s, &ended);
      fill(*ended);
      c->function.slice_buckets = synthetic_buckets(s, &counts);
      fill(counts);
    }
  }
  synthetic_future(s, 3, n[0], APROF_FUTURE_RUNNING, 900000);
  struct aprof_future *waiting = synthetic_future(s, 3, n[1], APROF_FUTURE_WAITING, 800000);
  waiting->await = n[2];
  waiting->parent = (uint32_t)(((unsigned char *)s->futures - (unsigned char *)s->header) / 128);
  waiting = synthetic_future(s, 3, n[1], APROF_FUTURE_WAITING, 810000);
  waiting->await = n[2];
  waiting->wake_tick = 850000;
  synthetic_future(s, 3, n[6], APROF_FUTURE_QUEUED, 820000);
  synthetic_future(s, 3, n[0], APROF_FUTURE_ASIDE, 830000)->await = n[3];
  synthetic_future(s, 1, n[0], APROF_FUTURE_RUNNING, 400000);
  synthetic_future(s, 3, n[0], APROF_FUTURE_TENTATIVE, 400000);
  add_requests(s, upload, n[0]);
  return s;
}
/* SPDX-License-Identifier: MIT */
