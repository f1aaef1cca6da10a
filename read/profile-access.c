/* SPDX-License-Identifier: MIT */
/* What lies in the copy of a profile, by number and by reference; see profile.h. */
#include "profile.h"

#include <string.h>

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

const uint64_t *profile_histogram(const struct profile *p, uint32_t reference) {
  uint64_t offset = (uint64_t)reference * 8;
  if (offset < APROF_HEADER_SIZE || offset >= p->size ||
      p->size - offset < sizeof(struct aprof_histogram))
    return NULL;
  return (const void *)(p->data + offset);
}

uint32_t profile_node_end(const struct profile *p) {
  return end_of(&p->nodes);
}
uint32_t profile_site_end(const struct profile *p) {
  return end_of(&p->sites);
}
