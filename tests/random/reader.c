/* SPDX-License-Identifier: MIT */
/* The profile of this process as rows. */
#include "reader-inside.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *(*reader_address_name)(const void *address);
int (*reader_thread_number)(int32_t tid);

const struct aprof_header *reader_find(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps)
    return NULL;
  char line[1024];
  const struct aprof_header *found = NULL;
  while (!found && fgets(line, sizeof line, maps)) {
    uintptr_t low, high;
    unsigned long offset;
    char mode[8];
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %lx", &low, &high, mode, &offset) != 4)
      continue;
    if (mode[0] != 'r' || mode[3] != 's' || offset != 0 || strstr(line, "aprof") == NULL)
      continue;
    if (memcmp((const void *)low, APROF_PROFILE_MAGIC, 8) == 0)
      found = (const void *)low;
  }
  fclose(maps);
  return found;
}

const void *reader_at(const struct aprof_header *header, uint64_t offset) {
  return (const char *)header + offset;
}

void reader_each_chunk(struct reading *r,
                       void (*visit)(struct reading *, const struct aprof_chunk *)) {
  uint64_t offset = r->header->header_size;
  while (offset < r->header->used) {
    const struct aprof_chunk *chunk = reader_at(r->header, offset);
    if (chunk->type)
      visit(r, chunk);
    offset += chunk->size ? chunk->size : APROF_PAGE;
  }
}

const void *reader_element(const struct aprof_chunk *chunk, uint32_t index) {
  return (const char *)(chunk + 1) + (size_t)index * chunk->element;
}

static void index_chunk(struct reading *r, const struct aprof_chunk *chunk) {
  for (uint32_t i = 0; i < chunk->count; i++) {
    uint32_t number = chunk->first + i;
    if (chunk->type == APROF_CHUNK_SITES && number < SITES_MAX)
      r->sites[number] = reader_element(chunk, i);
    if (chunk->type == APROF_CHUNK_NODES && number < NODES_MAX)
      r->nodes[number] = reader_element(chunk, i);
    if (chunk->type == APROF_CHUNK_BLOCK && number < BLOCKS_MAX)
      r->blocks[number] = reader_element(chunk, i);
  }
}

struct reading *reader_begins(const struct aprof_header *header, struct rows *rows) {
  struct reading *r = calloc(1, sizeof *r);
  if (!r)
    abort();
  r->header = header;
  r->rows = rows;
  reader_each_chunk(r, index_chunk);
  return r;
}

const char *reader_site(struct reading *r, uint32_t number) {
  const struct aprof_psite *site = r->sites[number];
  if (site && site->alias)
    site = r->sites[site->alias];
  if (!site)
    return "(no such site)";
  if (site->name)
    return reader_at(r->header, (uint64_t)site->name * 8);
  const char *name = NULL;
  if (site->address && reader_address_name)
    name = reader_address_name((const void *)(uintptr_t)site->address);
  return name ? name : "(address)";
}

void reader_path(struct reading *r, uint32_t number, char *path) {
  const struct aprof_node *node = r->nodes[number];
  path[0] = 0;
  if (number == 1) {
    strcpy(path, "(other)");
    return;
  }
  if (!node) {
    strcpy(path, "(no such node)");
    return;
  }
  bool await = node->is_await == APROF_NODE_AWAIT;
  if (node->parent && !(r->by_function && !await))
    reader_path(r, node->parent, path);
  size_t length = strlen(path);
  snprintf(path + length, PATH - length, "%s%s", length ? await ? " @ " : " > " : "",
           reader_site(r, node->site));
}

static bool seen_before(struct reading *r, uint32_t offset) {
  for (unsigned i = 0; i < r->seen_count; i++)
    if (r->seen[i] == offset)
      return true;
  r->seen = realloc(r->seen, (r->seen_count + 1) * sizeof *r->seen);
  if (!r->seen)
    abort();
  r->seen[r->seen_count++] = offset;
  return false;
}

uint32_t reader_function(struct reading *r, uint32_t number) {
  while (r->nodes[number] && r->nodes[number]->is_await == APROF_NODE_SPAN)
    number = r->nodes[number]->parent;
  return number;
}

void reader_buckets(struct reading *r, const char *place, const char *what,
                    const struct aprof_buckets *h, uint32_t second) {
  const uint32_t *carried = h->carried ? reader_at(r->header, (uint64_t)h->carried * 8) : NULL;
  for (uint32_t i = 0; i < h->few && !h->octaves; i++)
    rows_bucket(r->rows, place, what, aprof_bucket_lower(h->count[(i << h->two) + second]), 1);
  for (uint32_t i = 0; i < h->octaves * 16u; i++) {
    uint32_t n = (i << h->two) + second;
    rows_bucket(r->rows, place, what, aprof_bucket_lower(i),
                h->count[n] + (carried ? (uint64_t)carried[n] << 16 : 0));
  }
}

/* Histograms are those of a function, or of an await in one, whatever the path. Of two values' one
   `second` is the other's. */
static void add_histogram(struct reading *r, uint32_t number, const char *what, uint64_t buckets,
                          bool two, bool second) {
  uint64_t offset = buckets + APROF_BUCKETS_BEFORE(two) - r->header->mapped_at -
                    offsetof(struct aprof_buckets, count);
  if (buckets <= 1 || seen_before(r, (uint32_t)(offset / 8) + second))
    return;
  const struct aprof_node *node = r->nodes[number];
  char place[PATH];
  if (node->is_await)
    snprintf(place, sizeof place, "%s @ %s",
             reader_site(r, r->nodes[reader_function(r, node->parent)]->site),
             reader_site(r, node->site));
  else
    snprintf(place, sizeof place, "%s", reader_site(r, node->site));
  reader_buckets(r, place, what, reader_at(r->header, offset), second);
}

/* Exec of a node, for itself and for all above it. */
static void add_exec(struct reading *r, uint32_t number, uint64_t exec) {
  char path[PATH];
  reader_path(r, number, path);
  rows_add(r->rows, path, "exec", exec);
  if (reader_function(r, number)) {
    char function[PATH];
    reader_path(r, reader_function(r, number), function);
    rows_add(r->rows, function, "wall", exec);
  }
  for (uint32_t up = r->nodes[number] ? r->nodes[number]->parent : 0; up;
       up = r->nodes[up] ? r->nodes[up]->parent : 0) {
    reader_path(r, up, path);
    rows_add(r->rows, path, "children_exec", exec);
  }
}

static void add_queued(struct reading *r, uint32_t number, uint64_t queued) {
  char path[PATH];
  reader_path(r, number, path);
  rows_add(r->rows, path, "queued", queued);
  rows_add(r->rows, path, "wall", queued);
}

/* Waiting at an await node; its function is the node above. */
static void add_waiting(struct reading *r, uint32_t number, uint64_t waiting) {
  char path[PATH];
  reader_path(r, number, path);
  rows_add(r->rows, path, "waiting", waiting);
  if (!r->nodes[number] || !r->nodes[number]->is_await)
    return;
  reader_path(r, r->nodes[number]->parent, path);
  rows_add(r->rows, path, "waiting", waiting);
  reader_path(r, reader_function(r, r->nodes[number]->parent), path);
  rows_add(r->rows, path, "wall", waiting);
}

static void add_function(struct reading *r, uint32_t number, const struct aprof_counters *c) {
  char path[PATH];
  reader_path(r, number, path);
  rows_add(r->rows, path, "done", c->function.done);
  rows_add(r->rows, path, "failed", c->function.failed);
  rows_add(r->rows, path, "cancelled", c->function.cancelled);
  rows_add(r->rows, path, "detached", c->function.detached);
  rows_add(r->rows, path, "created",
           c->function.done + c->function.failed + c->function.cancelled + c->function.detached);
  rows_add(r->rows, path, "born_done", c->function.born_done);
  rows_add(r->rows, path, "slices", c->function.slices);
  rows_max(r->rows, path, "slice_max", c->function.slice_max);
  rows_max(r->rows, path, "exec_max", c->function.exec_max);
  rows_max(r->rows, path, "wall_max", c->function.wall_max);
  add_histogram(r, number, "exec histogram", c->function.ended_buckets, true, false);
  add_histogram(r, number, "wall histogram", c->function.ended_buckets, true, true);
  add_histogram(r, number, "slice histogram", c->function.slice_buckets, false, false);
  add_histogram(r, number, "queued histogram", c->function.queued_buckets, false, false);
  if (c->function.slice_max) {
    char between[PATH];
    snprintf(between, sizeof between, "slice between %s and %s",
             reader_site(r, c->function.slice_from), reader_site(r, c->function.slice_to));
    rows_max(r->rows, path, between, c->function.slice_max);
  }
  add_exec(r, number, c->function.exec);
  add_queued(r, number, c->function.queued);
}

static void add_await(struct reading *r, uint32_t number, const struct aprof_counters *c) {
  char path[PATH];
  reader_path(r, number, path);
  rows_add(r->rows, path, "count", c->await.count);
  rows_add(r->rows, path, "immediate", c->await.immediate);
  rows_max(r->rows, path, "max", c->await.max);
  add_histogram(r, number, "histogram", c->await.buckets, false, false);
  add_waiting(r, number, c->await.waiting);
}

/* Whom the function above held up. */
static void add_delayed(struct reading *r, const struct aprof_node *node,
                        const struct aprof_counters *c) {
  char path[PATH], what[PATH];
  reader_path(r, node->parent, path);
  snprintf(what, sizeof what, "delayed %s", reader_site(r, node->site));
  rows_add(r->rows, path, what, c->await.waiting);
  snprintf(what, sizeof what, "times it delayed %s", reader_site(r, node->site));
  rows_add(r->rows, path, what, c->await.count);
}

static void add_span(struct reading *r, uint32_t number, uint32_t block,
                     const struct aprof_counters *c) {
  char path[PATH];
  reader_path(r, number, path);
  rows_add(r->rows, path, "done", c->function.done);
  add_exec(r, number, c->function.exec);
  if (reader_function(r, number))
    r->block_exec[block] += c->function.exec;
}

/* But for whose they are. */
static bool is_zero(const struct aprof_counters *c) {
  struct aprof_counters none = {.function.own = c->function.own};
  return memcmp(c, &none, sizeof none) == 0;
}

static void add_counters(struct reading *r, const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_COUNTERS)
    return;
  if (r->blocks[chunk->owner]->counters_epoch < r->header->reset_epoch)
    return;
  for (uint32_t i = 0; i < chunk->count; i++) {
    const struct aprof_counters *c = reader_element(chunk, i);
    uint32_t number = chunk->first + i;
    uint32_t kind = r->nodes[number] ? r->nodes[number]->is_await : APROF_NODE_FUNCTION;
    if (kind == APROF_NODE_DELAYED)
      add_delayed(r, r->nodes[number], c);
    if (kind == APROF_NODE_SPAN)
      add_span(r, number, chunk->owner, c);
    if (is_zero(c) || kind > APROF_NODE_AWAIT)
      continue; /* wakers and blocking calls are part of other counts */
    if (r->nodes[number] && r->nodes[number]->is_await) {
      add_await(r, number, c);
    } else {
      r->block_exec[chunk->owner] += c->function.exec;
      add_function(r, number, c);
    }
  }
}

static void add_future(struct reading *r, const struct aprof_future *f) {
  uint32_t epoch = (uint32_t)(f->id >> 48);
  if (!f->id || f->state == APROF_FUTURE_FREE || f->state == APROF_FUTURE_TENTATIVE ||
      epoch < r->header->reset_epoch)
    return;
  char path[PATH];
  reader_path(r, reader_function(r, f->node), path);
  bool lives = epoch == r->header->epoch;
  uint64_t end = lives ? r->now : r->header->epochs[epoch % APROF_EPOCHS].end_tick;
  rows_add(r->rows, path, lives ? "live" : "detached", 1);
  rows_add(r->rows, path, "created", 1);
  uint64_t open = end > f->last ? end - f->last : 0, queued = 0;
  if (f->state == APROF_FUTURE_RUNNING) {
    add_exec(r, f->node, open);
    return;
  }
  if (f->state == APROF_FUTURE_QUEUED) {
    queued = open;
  } else {
    uint64_t woken = f->wake_tick > f->last ? f->wake_tick : f->last;
    if (f->state != APROF_FUTURE_ASIDE && f->wake_tick && end > woken)
      queued = end - woken;
    add_waiting(r, f->await, open - queued);
  }
  add_queued(r, reader_function(r, f->node), queued);
}

static void add_futures(struct reading *r, const struct aprof_chunk *chunk) {
  if (chunk->type != APROF_CHUNK_FUTURES)
    return;
  for (uint32_t i = 0; i < chunk->count; i++)
    add_future(r, reader_element(chunk, i));
}

/* The span that is open where no future runs; `open`: since the thread's last event. */
static void add_open_span(struct reading *r, const struct aprof_block *b, uint64_t open) {
  if (b->span_node == 0)
    return;
  add_exec(r, b->span_node, b->other - b->span_other + (b->state == APROF_THREAD_OTHER ? open : 0));
}

static void add_block(struct reading *r, uint32_t number, const struct aprof_block *b) {
  const struct aprof_header *header = r->header;
  bool counts = b->counters_epoch >= header->reset_epoch;
  uint64_t exec = r->block_exec[number], idle = counts ? b->idle : 0, other = counts ? b->other : 0;
  bool old = b->epoch < header->epoch;
  uint64_t end =
      old || !header->enabled ? header->epochs[b->epoch % APROF_EPOCHS].end_tick : r->now;
  uint64_t open = counts && end > b->last ? end - b->last : 0;
  if (old && header->enabled && b->state != APROF_THREAD_FREE)
    *(b->state == APROF_THREAD_IDLE ? &idle : &other) +=
        r->now - header->epochs[header->epoch % APROF_EPOCHS].begin_tick;
  exec += b->state == APROF_THREAD_RUNNING ? open : 0;
  idle += b->state == APROF_THREAD_IDLE ? open : 0;
  other += b->state == APROF_THREAD_OTHER ? open : 0;
  char name[64];
  snprintf(name, sizeof name, "thread %d",
           reader_thread_number ? reader_thread_number(b->tid) : (int)b->tid);
  rows_add(r->rows, name, "exec", exec);
  rows_add(r->rows, name, "idle", idle);
  rows_add(r->rows, name, "other", other);
  rows_add(r->rows, name, "elapsed", exec + idle + other);
  if (b->sequence & 1)
    rows_add(r->rows, name, "torn", 1);
  if (!counts)
    return;
  add_open_span(r, b, open);
  rows_add(r->rows, "health", "missed", b->missed_events);
  rows_add(r->rows, "health", "reused", b->reused_keys);
  rows_add(r->rows, "health", "unmatched", b->unmatched_awaits);
  rows_add(r->rows, "health", "nested", b->nested_events);
  rows_add(r->rows, "health", "migrations", b->migrations);
}

static void read_all(const struct aprof_header *header, uint64_t now, struct rows *rows,
                     bool by_function) {
  struct reading *r = reader_begins(header, rows);
  r->now = now;
  r->by_function = by_function;
  reader_each_chunk(r, add_counters);
  reader_each_chunk(r, add_futures);
  for (uint32_t i = 0; i < BLOCKS_MAX; i++)
    if (r->blocks[i])
      add_block(r, i, r->blocks[i]);
  rows_add(rows, "health", "lost",
           header->lost_futures + header->lost_histograms + header->lost_events +
               header->other_nodes);
  free(r->seen);
  free(r);
}

void reader_rows(const struct aprof_header *header, uint64_t now, struct rows *rows) {
  read_all(header, now, rows, false);
}

void reader_function_rows(const struct aprof_header *header, uint64_t now, struct rows *rows) {
  read_all(header, now, rows, true);
}

uint64_t reader_missed(const struct aprof_header *header, uint32_t kind, const char *site) {
  struct reading *r = reader_begins(header, NULL);
  uint64_t count = 0, offset = header->header_size;
  while (offset < header->used) {
    const struct aprof_chunk *chunk = reader_at(header, offset);
    for (uint32_t i = 0; chunk->type == APROF_CHUNK_MISSES && i < chunk->count; i++) {
      const struct aprof_missed *m = reader_element(chunk, i);
      const char *name = m->site ? reader_site(r, m->site) : "(no such site)";
      if (m->kind == kind && (site == NULL || strcmp(name, site) == 0))
        count += m->count;
    }
    offset += chunk->size ? chunk->size : APROF_PAGE;
  }
  free(r);
  return count;
}
