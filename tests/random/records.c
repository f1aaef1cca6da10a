/* SPDX-License-Identifier: MIT */
/* Records of the profile as rows; see records.h. */
#include "records.h"
#include "reader-inside.h"

#include "aprof/trace.h"
#include "rt/rt.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Members of a record, one a row. */
struct member {
  const char *name;
  unsigned offset, size;
};
#define MEMBER(type, name)                                                                         \
  { #name, offsetof(struct type, name), sizeof(((struct type *)0)->name) }

static void add_members(struct reading *r, const char *place, const void *record,
                        const struct member *members) {
  for (const struct member *m = members; m->name; m++) {
    uint64_t value = 0;
    memcpy(&value, (const char *)record + m->offset, m->size); /* little-endian */
    rows_add(r->rows, place, m->name, value);
  }
}

__attribute__((format(printf, 3, 4))) static const char *named(char *text, size_t size,
                                                               const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, size, format, arguments);
  va_end(arguments);
  return text;
}
#define NAMED(...) named((char[PATH + 64]){0}, PATH + 64, __VA_ARGS__)

/* That the record has it: its number, named by what the number means. */
static void add_node(struct reading *r, const char *place, const char *what, uint32_t node) {
  char path[PATH] = "";
  if (node)
    reader_path(r, node, path);
  rows_add(r->rows, place, NAMED("%s %s", what, path), node);
}
/* ... by its name alone: what general events look at has a number earlier. */
static void add_site(struct reading *r, const char *place, const char *what, uint32_t site) {
  rows_add(r->rows, place, NAMED("%s %s", what, site ? reader_site(r, site) : ""), site != 0);
}

static const char *thread_name(struct reading *r, uint32_t block) {
  static char name[32];
  int32_t tid = block < BLOCKS_MAX && r->blocks[block] ? r->blocks[block]->tid : 0;
  snprintf(name, sizeof name, "thread %d", reader_thread_number ? reader_thread_number(tid) : tid);
  return name;
}

/* Which record of futures that is, from 1 on: where a slab of them lies depends on what else has
   asked for memory, and shortcuts do. Not an index: as it is. */
static uint32_t record_number(struct reading *r, uint32_t index) {
  uint32_t before = 1;
  for (uint64_t at = r->header->header_size; at < r->header->used;) {
    const struct aprof_chunk *c = reader_at(r->header, at);
    if (c->type == APROF_CHUNK_FUTURES) {
      uint32_t first = (uint32_t)((at + sizeof *c) / sizeof(struct aprof_future));
      if (index - first < c->count)
        return before + index - first;
      before += c->count;
    }
    at += c->size ? c->size : APROF_PAGE;
  }
  return index;
}

static void add_record(struct reading *r, const char *place, const char *what, uint32_t index) {
  rows_add(r->rows, place, what, index ? record_number(r, index) : 0);
}

/* -- futures and requests ------------------------------------------------------------------ */

static const struct member of_future[] = {
    MEMBER(aprof_future, id),      MEMBER(aprof_future, last),
    MEMBER(aprof_future, waiting), MEMBER(aprof_future, queued),
    MEMBER(aprof_future, open),    MEMBER(aprof_future, ending),
    MEMBER(aprof_future, lease),   MEMBER(aprof_future, created_tick),
    MEMBER(aprof_future, ns),      {0},
};
/* Of a record that is nobody's: what the next one relies on. */
static const struct member of_free[] = {
    MEMBER(aprof_future, callee),
    MEMBER(aprof_future, request),
    MEMBER(aprof_future, ending),
    MEMBER(aprof_future, state),
    {0},
};
static const struct member of_share[] = {
    MEMBER(aprof_share, request), MEMBER(aprof_share, tier),  MEMBER(aprof_share, open),
    MEMBER(aprof_share, joined),  MEMBER(aprof_share, since), MEMBER(aprof_share, queued),
    MEMBER(aprof_share, waiting), MEMBER(aprof_share, aside), {0},
};
static const struct member of_request[] = {
    MEMBER(aprof_request, id),
    MEMBER(aprof_request, begin_tick),
    MEMBER(aprof_request, stopped),
    MEMBER(aprof_request, members),
    MEMBER(aprof_request, parent),
    MEMBER(aprof_request, state),
    MEMBER(aprof_request, flags),
    MEMBER(aprof_request, exec),
    MEMBER(aprof_request, queued),
    MEMBER(aprof_request, total),
    {0},
};

static const struct aprof_share *share_at(struct reading *r, uint32_t number) {
  for (uint64_t at = r->header->header_size; at < r->header->used;) {
    const struct aprof_chunk *c = reader_at(r->header, at);
    if (c->type == APROF_CHUNK_SHARES && number - c->first < c->count)
      return reader_element(c, number - c->first);
    at += c->size ? c->size : APROF_PAGE;
  }
  return NULL;
}

static void add_future(struct reading *r, uint32_t index, const struct aprof_future *f) {
  static const char *const states[] = {"is free",      "is queued", "runs", "waits",
                                       "is tentative", "is aside",  "ends"};
  static const char *const flags[] = {"nameless", NULL,    "a body",   "started",
                                      "waited",   "keyed", "a member", "waits implicitly"};
  const char *place = NAMED(f->id ? "future %u" : "free record %u", record_number(r, index));
  const uint32_t own = 1u << 31; /* of `callee` */
  if (!f->id) {
    add_members(r, place, f, of_free);
    return;
  }
  add_members(r, place, f, of_future);
  rows_add(r->rows, place, f->state < 7 ? states[f->state] : "?", 1);
  for (unsigned i = 0; i < 8; i++)
    if (flags[i] && f->flags & 1u << i) /* NAMED may be found out late */
      rows_add(r->rows, place, flags[i], 1);
  rows_add(r->rows, place, "in an await of its own", f->callee & own);
  add_record(r, place, "aside for", f->callee & ~own);
  add_record(r, place, "by", f->parent);
  add_record(r, place, "called by", f->caller);
  if (f->state == APROF_FUTURE_TENTATIVE)
    add_record(r, place, "created around", (uint32_t)f->key0);
  else if (f->flags & APROF_F_KEYED || f->ns == NS_FRAME)
    rows_add(r->rows, place, "key", f->key0);
  add_node(r, place, "in", f->node);
  add_node(r, place, "at await", f->await);
  add_node(r, place, "outermost", f->outer);
  add_site(r, place, "from", aprof_create_site(f));
  if (f->wake_tick > r->header->sites) {
    rows_add(r->rows, place, "wake_tick", f->wake_tick);
    add_site(r, place, "woken by", f->wake_site); /* else what an older use left */
  } else {
    add_site(r, place, "woken early by", (uint32_t)f->wake_tick);
  }
  if (f->flags & APROF_F_KEYED) /* else it is what a create left there, which nobody asks */
    rows_add(r->rows, place, "polled", f->polled);
  if (f->request & APROF_SHARE)
    add_members(r, NAMED("%s's share", place), share_at(r, f->request & ~APROF_SHARE), of_share);
  else
    rows_add(r->rows, place, "request", f->request);
}

static void add_request(struct reading *r, uint32_t number, const struct aprof_request *q) {
  if (!q->id)
    return;
  const char *place = NAMED("live request %u", number);
  add_members(r, place, q, of_request);
  add_record(r, place, "root", q->root);
  add_record(r, place, "first", q->first);
  if (!q->first) /* else that one's node tells */
    add_site(r, place, "of", q->function);
}

/* -- counters --------------------------------------------------------------------------- */

static const struct member of_function[] = {
    MEMBER(aprof_counters, function.exec),      MEMBER(aprof_counters, function.exec_max),
    MEMBER(aprof_counters, function.born_done), MEMBER(aprof_counters, function.wall_max),
    MEMBER(aprof_counters, function.done),      MEMBER(aprof_counters, function.failed),
    MEMBER(aprof_counters, function.cancelled), MEMBER(aprof_counters, function.slices),
    MEMBER(aprof_counters, function.queued),    MEMBER(aprof_counters, function.detached),
    MEMBER(aprof_counters, function.slice_max), {0},
};
static const struct member of_await[] = {
    MEMBER(aprof_counters, await.waiting),
    MEMBER(aprof_counters, await.max),
    MEMBER(aprof_counters, await.count),
    MEMBER(aprof_counters, await.immediate),
    {0},
};

static void add_counters(struct reading *r, uint32_t block, uint32_t node,
                         const struct aprof_counters *c) {
  char path[PATH] = "(no such node)";
  bool function = true;
  if (node < NODES_MAX && r->nodes[node]) {
    reader_path(r, node, path);
    function = r->nodes[node]->is_await == APROF_NODE_FUNCTION ||
               r->nodes[node]->is_await == APROF_NODE_SPAN;
  }
  const char *place = NAMED("%s's %s", thread_name(r, block), path);
  add_members(r, place, c, function ? of_function : of_await);
  if (function && c->function.slice_max) {
    add_site(r, place, "longest slice from", c->function.slice_from);
    add_site(r, place, "longest slice to", c->function.slice_to);
  }
}

/* -- threads and rings ------------------------------------------------------------------------ */

static const struct member of_block[] = {
    MEMBER(aprof_block, sequence),
    MEMBER(aprof_block, last),
    MEMBER(aprof_block, epoch),
    MEMBER(aprof_block, other),
    MEMBER(aprof_block, idle),
    MEMBER(aprof_block, slice_tick),
    MEMBER(aprof_block, missed_events),
    MEMBER(aprof_block, reused_keys),
    MEMBER(aprof_block, migrations),
    MEMBER(aprof_block, nested_events),
    MEMBER(aprof_block, unmatched_awaits),
    MEMBER(aprof_block, span_other),
    MEMBER(aprof_block, ring_head),
    MEMBER(aprof_block, ring_lost),
    {0},
};

#define EVENTS 1000u /* the last ones of a ring */

static void add_events(struct reading *r, const char *thread, const struct aprof_block *b) {
  static const char *const kinds[APROF_TRACE_KINDS] = {
      "none",    "more",   "THREAD",  "GONE",   "EPOCH",   "GAP",   "OTHER",  "IDLE",
      "OUTSIDE", "STOLEN", "BORN",    "UNBORN", "NAMED",   "DONE",  "FAILED", "CANCELLED",
      "READY",   "WAKE",   "RUNNING", "POLLED", "WAITING", "AGAIN", "ASIDE",  "RAN",
      "NODE",    "JOIN",   "BEGIN",   "END",    "TOKEN",   "TIER",  "HELD",
  };
  const struct aprof_trace_event *ring = reader_at(r->header, b->ring);
  uint64_t most = ((uint64_t)1 << b->ring_bits) - 1, head = b->ring_head;
  uint64_t mask = most;
  if (most > EVENTS)
    most = EVENTS;
  uint64_t first_one = head > most ? head - most : 0;
  /* The event before: this one has the parent's index. */
  bool born = b->ring && first_one > 0 &&
              aprof_trace_kind(&ring[(first_one - 1) & mask]) == APROF_TRACE_BORN;
  for (uint64_t n = first_one; b->ring && n < head; n++) {
    const struct aprof_trace_event *e = &ring[n & mask];
    uint32_t kind = aprof_trace_kind(e);
    const char *place = NAMED("%s's event %06llu", thread, (unsigned long long)n);
    uint64_t more = aprof_trace_b(e), parent = more & APROF_TRACE_MASK(APROF_TRACE_FUTURE_BITS);
    if (born && parent)
      more += record_number(r, (uint32_t)parent) - parent;
    uint64_t first = born ? (uint32_t)aprof_trace_a(e) : aprof_trace_a(e); /* its site: by name */
    born = kind == APROF_TRACE_BORN;
    if (kind == APROF_TRACE_MORE)
      rows_add(r->rows, place, NAMED("more %llx", (unsigned long long)more), first);
    else
      rows_add(r->rows, place,
               NAMED("%s of future %u at node %u", kind < APROF_TRACE_KINDS ? kinds[kind] : "?",
                     record_number(r, aprof_trace_future(e)), aprof_trace_node(e)),
               aprof_trace_a(e));
  }
}

static void add_block(struct reading *r, uint32_t number, const struct aprof_block *b) {
  static const char *const states[] = {"is free", "rests", "is idle", "runs"};
  char name[32];
  strcpy(name, thread_name(r, number));
  add_members(r, name, b, of_block);
  rows_add(r->rows, name, states[b->state & 3], 1);
  add_site(r, name, "its slice from", b->slice_from);
  add_node(r, name, "its slice of", b->slice_node);
  add_node(r, name, "in span", b->span_node);
  add_events(r, name, b);
}

/* -- all ------------------------------------------------------------------------------------- */

static void add_chunk(struct reading *r, const struct aprof_chunk *chunk) {
  for (uint32_t i = 0; i < chunk->count; i++) {
    const void *element = reader_element(chunk, i);
    uint32_t number = chunk->first + i;
    switch (chunk->type) {
    case APROF_CHUNK_BLOCK:
      add_block(r, number, element);
      break;
    case APROF_CHUNK_FUTURES:
      add_future(r, (uint32_t)(((const char *)element - (const char *)r->header) / 128), element);
      break;
    case APROF_CHUNK_REQUESTS:
      add_request(r, number, element);
      break;
    case APROF_CHUNK_COUNTERS:
      add_counters(r, chunk->owner, number, element);
      break;
    case APROF_CHUNK_NODES:
      if (number && number <= r->header->nodes)
        add_node(r, "nodes", NAMED("kind %u", ((const struct aprof_node *)element)->is_await),
                 number);
      break;
    case APROF_CHUNK_MISSES: {
      const struct aprof_missed *m = element;
      rows_add(r->rows, "missed",
               NAMED("kind %u at %s", m->kind, m->site ? reader_site(r, m->site) : "no place"),
               m->count);
    }
    }
  }
}

void records_rows(const struct aprof_header *header, struct rows *rows) {
  struct reading *r = reader_begins(header, rows);
  reader_each_chunk(r, add_chunk);
  free(r);
}

static void tally(struct reading *r, uint64_t *events, uint64_t *general) {
  for (uint32_t i = 0; i < BLOCKS_MAX; i++)
    if (r->blocks[i]) {
      *events += r->blocks[i]->sequence / 2;
      *general += r->blocks[i]->general_events;
    }
}

void records_tally(const struct aprof_header *header, uint64_t *events, uint64_t *fast) {
  struct reading *r = reader_begins(header, NULL);
  uint64_t all = 0, general = 0;
  tally(r, &all, &general);
  *events += all;
  *fast += all - general;
  free(r);
}
