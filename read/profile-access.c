/* SPDX-License-Identifier: MIT */
/* What lies in the copy of a profile, by number and by reference; see profile.h. */
#include "profile-copy.h"
#include "util.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* -- tables of what there is -------------------------------------------------------- */

/* Elements of every chunk type we read; 0: not for us. */
static size_t element_size(uint32_t type) {
  switch (type) {
  case APROF_CHUNK_SITES:
    return sizeof(struct aprof_psite);
  case APROF_CHUNK_NODES:
    return sizeof(struct aprof_node);
  case APROF_CHUNK_BLOCK:
    return sizeof(struct aprof_block);
  case APROF_CHUNK_COUNTERS:
    return sizeof(struct aprof_counters);
  case APROF_CHUNK_FUTURES:
    return sizeof(struct aprof_future);
  case APROF_CHUNK_MODULES:
    return sizeof(struct aprof_module);
  case APROF_CHUNK_MISSES:
    return sizeof(struct aprof_missed);
  case APROF_CHUNK_REQUESTS:
    return sizeof(struct aprof_request);
  case APROF_CHUNK_KINDS:
    return sizeof(struct aprof_kind);
  case APROF_CHUNK_KIND_PARTS:
    return sizeof(struct aprof_kind_part);
  case APROF_CHUNK_SHARES:
    return sizeof(struct aprof_share);
  default:
    return 0;
  }
}

static void add_run(struct profile_runs *runs, const struct aprof_chunk *chunk, size_t element,
                    uint64_t size) {
  uint64_t fits = (size - sizeof *chunk) / element;
  if (runs->count == runs->room) {
    runs->room = runs->room ? runs->room * 2 : 16;
    runs->run = reallocate(runs->run, runs->room, sizeof *runs->run);
  }
  runs->run[runs->count++] = (struct profile_run){
      .elements = chunk + 1,
      .first = chunk->first,
      .count = chunk->count < fits ? chunk->count : (uint32_t)fits,
      .owner = chunk->owner,
  };
}

static struct profile_runs *runs_of(struct profile *p, uint32_t type) {
  switch (type) {
  case APROF_CHUNK_SITES:
    return &p->sites;
  case APROF_CHUNK_NODES:
    return &p->nodes;
  case APROF_CHUNK_BLOCK:
    return &p->blocks;
  case APROF_CHUNK_COUNTERS:
    return &p->counters;
  case APROF_CHUNK_FUTURES:
    return &p->futures;
  case APROF_CHUNK_MISSES:
    return &p->misses;
  case APROF_CHUNK_REQUESTS:
    return &p->requests;
  case APROF_CHUNK_KINDS:
    return &p->kinds;
  case APROF_CHUNK_KIND_PARTS:
    return &p->kind_parts;
  case APROF_CHUNK_SHARES:
    return &p->shares;
  default:
    return &p->modules;
  }
}

/* Numbers an element may have: more of them than fit into the file are a lie,
   and would make tables by number unbounded. */
static bool plausible(const struct profile *p, const struct aprof_chunk *chunk, size_t element) {
  uint64_t most = p->size / element;
  return chunk->element == element && chunk->count <= most && chunk->first <= most;
}

static int by_first(const void *a, const void *b) {
  const struct profile_run *x = a, *y = b;
  return x->first < y->first ? -1 : x->first > y->first;
}

void profile_index(struct profile *p) {
  struct profile_runs *all[] = {&p->sites,    &p->nodes,      &p->modules, &p->blocks,
                                &p->counters, &p->futures,    &p->misses,  &p->requests,
                                &p->kinds,    &p->kind_parts, &p->shares};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    all[i]->count = 0;
  for (uint64_t at = APROF_HEADER_SIZE; p->size - at >= sizeof(struct aprof_chunk);) {
    const struct aprof_chunk *chunk = (const void *)(p->data + at);
    uint64_t size = chunk->size;
    if (chunk->type == 0 || size == 0 || size % APROF_PAGE || size > p->size - at) {
      at += APROF_PAGE;
      if (at > p->size)
        break;
      continue;
    }
    size_t element = element_size(chunk->type);
    if (element && chunk->type == APROF_CHUNK_BLOCK) {
      struct aprof_chunk one = *chunk;
      one.count = 1;
      if (one.first <= p->size / APROF_PAGE && size >= sizeof one + element) {
        add_run(&p->blocks, chunk, element, size);
        p->blocks.run[p->blocks.count - 1].count = 1;
      }
    } else if (element && plausible(p, chunk, element))
      add_run(runs_of(p, chunk->type), chunk, element, size);
    at += size;
  }
  struct profile_runs *numbered[] = {&p->sites,    &p->nodes, &p->modules, &p->blocks,
                                     &p->requests, &p->kinds, &p->shares};
  for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++)
    if (numbered[i]->count)
      qsort(numbered[i]->run, numbered[i]->count, sizeof(struct profile_run), by_first);
}

/* -- by number --------------------------------------------------------------------- */

static const void *element(const struct profile_runs *runs, uint32_t number, size_t size) {
  size_t low = 0, high = runs->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (runs->run[middle].first <= number)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low)
    return NULL;
  const struct profile_run *run = &runs->run[low - 1];
  uint32_t index = number - run->first;
  return index < run->count ? (const char *)run->elements + (size_t)index * size : NULL;
}

static uint32_t end_of(const struct profile_runs *runs) {
  uint64_t end = 0;
  for (size_t i = 0; i < runs->count; i++)
    if ((uint64_t)runs->run[i].first + runs->run[i].count > end)
      end = (uint64_t)runs->run[i].first + runs->run[i].count;
  return (uint32_t)end; /* plausible() keeps it far below 2^32 */
}

const struct aprof_psite *profile_site(const struct profile *p, uint32_t number) {
  return number ? element(&p->sites, number, sizeof(struct aprof_psite)) : NULL;
}

const struct aprof_node *profile_node(const struct profile *p, uint32_t number) {
  return number ? element(&p->nodes, number, sizeof(struct aprof_node)) : NULL;
}

const struct aprof_module *profile_module(const struct profile *p, uint32_t number) {
  return number ? element(&p->modules, number, sizeof(struct aprof_module)) : NULL;
}

const struct aprof_block *profile_block(const struct profile *p, uint32_t number) {
  return element(&p->blocks, number, sizeof(struct aprof_block));
}

const struct aprof_counters *profile_counters(const struct profile *p, uint32_t block,
                                              uint32_t node) {
  for (size_t i = 0; i < p->counters.count; i++) {
    const struct profile_run *run = &p->counters.run[i];
    if (run->owner == block && node >= run->first && node - run->first < run->count)
      return (const struct aprof_counters *)run->elements + (node - run->first);
  }
  return NULL;
}

const struct aprof_future *profile_future(const struct profile *p, uint32_t index) {
  uint64_t offset = (uint64_t)index * sizeof(struct aprof_future);
  size_t low = 0, high = p->futures.count; /* runs lie in the order of the file */
  while (low < high) {
    size_t middle = (low + high) / 2;
    const unsigned char *first = p->futures.run[middle].elements;
    if ((uint64_t)(first - p->data) <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low)
    return NULL;
  const struct profile_run *run = &p->futures.run[low - 1];
  uint64_t within = offset - (uint64_t)((const unsigned char *)run->elements - p->data);
  return within < (uint64_t)run->count * sizeof(struct aprof_future)
             ? (const void *)(p->data + offset)
             : NULL;
}

const char *profile_string(const struct profile *p, uint32_t reference) {
  uint64_t offset = (uint64_t)reference * 8;
  if (offset < APROF_HEADER_SIZE || offset >= p->size)
    return NULL;
  size_t most = p->size - offset;
  if (most > PROFILE_STRING_LIMIT)
    most = PROFILE_STRING_LIMIT;
  const char *text = (const char *)p->data + offset;
  return memchr(text, 0, most) ? text : NULL;
}

/* What lies at a reference, if that many bytes do. */
static const void *referred(const struct profile *p, uint32_t reference, size_t size) {
  uint64_t offset = (uint64_t)reference * 8;
  if (offset < APROF_HEADER_SIZE || offset >= p->size || p->size - offset < size)
    return NULL;
  return p->data + offset;
}

const struct aprof_request *profile_request(const struct profile *p, uint32_t number) {
  return number ? element(&p->requests, number, sizeof(struct aprof_request)) : NULL;
}

const struct aprof_share *profile_share_of(const struct profile *p, const struct aprof_future *f) {
  return f->request & APROF_SHARE
             ? element(&p->shares, f->request & ~APROF_SHARE, sizeof(struct aprof_share))
             : NULL;
}

uint32_t profile_request_number(const struct profile *p, const struct aprof_future *f) {
  const struct aprof_share *share = profile_share_of(p, f);
  return !(f->request & APROF_SHARE) ? f->request : share ? share->request : 0;
}

const struct aprof_request *profile_request_of(const struct profile *p,
                                               const struct aprof_future *f) {
  return profile_request(p, profile_request_number(p, f));
}

const struct aprof_kind *profile_kind_of(const struct profile *p, uint32_t number) {
  return element(&p->kinds, number, sizeof(struct aprof_kind));
}

const struct aprof_kind_part *profile_kind_part(const struct profile *p, size_t *run,
                                                uint32_t number) {
  while (*run < p->kind_parts.count) {
    const struct profile_run *r = &p->kind_parts.run[(*run)++];
    if (number >= r->first && number - r->first < r->count)
      return (const struct aprof_kind_part *)r->elements + (number - r->first);
  }
  return NULL;
}

const struct aprof_kind_tier *profile_tier(const struct profile *p, uint32_t reference) {
  return referred(p, reference, sizeof(struct aprof_kind_tier));
}

const struct aprof_slow *profile_slowest(const struct profile *p, uint32_t reference) {
  return referred(p, reference, APROF_SLOWEST * sizeof(struct aprof_slow));
}

const struct aprof_slow *profile_log(const struct profile *p) {
  return p->header.log ? referred(p, p->header.log, APROF_LOGGED * sizeof(struct aprof_slow))
                       : NULL;
}

const char *profile_tier_name(const struct profile *p, uint32_t tier) {
  return tier && tier < APROF_TIERS ? profile_string(p, p->header.tier_names[tier]) : NULL;
}

/* -- histograms -------------------------------------------------------------------- */

/* The lowest bits of a reference to buckets: it is one, of the second of two values. */
#define SECOND 1u
#define OF_BUCKETS 2u
_Static_assert(APROF_HISTOGRAM_ALIGN % 32 == 0, "a reference has two bits to spare");

uint32_t profile_buckets(const struct profile *p, uint64_t buckets, bool two, bool second) {
  if (buckets <= 1)
    return 0;
  uint64_t offset = buckets + APROF_BUCKETS_BEFORE(two) - offsetof(struct aprof_buckets, count) -
                    p->header.mapped_at;
  if (offset < APROF_HEADER_SIZE || offset >= p->size || offset % APROF_HISTOGRAM_ALIGN ||
      p->size - offset < APROF_HISTOGRAM_ALIGN || offset >> 35)
    return 0;
  return (uint32_t)(offset / 8) | OF_BUCKETS | (second ? SECOND : 0);
}

uint32_t profile_amount_buckets(const struct profile *p, const struct aprof_amount *amount) {
  uint32_t at = amount->histogram;
  return at > 1 && at % (APROF_HISTOGRAM_ALIGN / 8) == 0 && referred(p, at, APROF_HISTOGRAM_ALIGN)
             ? at | OF_BUCKETS
             : 0;
}

void profile_counts_soon(const struct profile *p, uint32_t reference) {
  uint64_t at = (uint64_t)(reference & ~(SECOND | OF_BUCKETS)) * 8;
  if (at < p->size)
    __builtin_prefetch(p->data + at);
}

struct profile_counts profile_counts(const struct profile *p, uint32_t reference) {
  struct profile_counts none = {.count = NULL};
  uint32_t header = reference & ~(SECOND | OF_BUCKETS);
  const struct aprof_buckets *h = referred(p, header, APROF_HISTOGRAM_ALIGN);
  if (!h)
    return none;
  uint64_t at = (uint64_t)header * 8;
  uint32_t step = h->two ? 2 : 1, second = reference & SECOND;
  uint32_t counts = h->octaves ? h->octaves * (APROF_HISTOGRAM_BUCKETS / APROF_OCTAVES) : h->few;
  struct profile_counts c = {.count = h->count + second, .step = step, .numbers = !h->octaves};
  c.at = c.end = at;
  if (counts > APROF_HISTOGRAM_BUCKETS || second >= step ||
      p->size - at < sizeof *h + (uint64_t)counts * step * sizeof *h->count)
    return c;
  c.counts = counts;
  c.end += sizeof *h + (uint64_t)counts * step * sizeof *h->count;
  uint64_t carried = (uint64_t)h->carried * 8, size = (uint64_t)counts * step * sizeof *c.carried;
  if (!h->octaves || carried < APROF_HEADER_SIZE || carried >= p->size || p->size - carried < size)
    return c;
  c.carried = (const uint32_t *)(const void *)(p->data + carried) + second;
  c.carried_at = carried;
  c.carried_end = carried + size;
  return c;
}

uint32_t profile_node_end(const struct profile *p) {
  return end_of(&p->nodes);
}
uint32_t profile_site_end(const struct profile *p) {
  return end_of(&p->sites);
}

static void at_least(uint64_t *tick, uint64_t other) {
  if (other > *tick)
    *tick = other;
}

/* The greatest tick found anywhere in it. */
static uint64_t last_tick(const struct profile *p) {
  uint64_t greatest = p->header.exit_tick;
  for (size_t i = 0; i < p->blocks.count; i++)
    at_least(&greatest, ((const struct aprof_block *)p->blocks.run[i].elements)->last);
  for (size_t i = 0; i < p->futures.count; i++) {
    const struct aprof_future *f = p->futures.run[i].elements;
    for (uint32_t n = p->futures.run[i].count; n--; f++) {
      if (!f->id)
        continue;
      at_least(&greatest, f->last);
      at_least(&greatest, f->created_tick);
    }
  }
  return greatest;
}

uint64_t profile_now(const struct profile *p, bool live, uint64_t lived) {
  if (live && p->read_tick != 0)
    return p->read_tick;
  uint64_t last = last_tick(p);
  return last > lived ? last : lived;
}
