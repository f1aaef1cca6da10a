/* SPDX-License-Identifier: MIT */
/* Where the histograms lie that changed records name; see profile-named.h. */
#include "profile-named.h"

#include "util.h"

#include <stdlib.h>

static const struct profile_part *part_at(const struct profile *p, uint64_t at) {
  size_t from = 0, until = p->parts; /* the first part behind that lies there */
  while (from < until) {
    size_t middle = from + (until - from) / 2;
    if (p->part[middle].at <= at)
      from = middle + 1;
    else
      until = middle;
  }
  return from ? &p->part[from - 1] : NULL;
}

/* Do only histograms lie there? What is counters' or a block's must be copied at its moment. */
static bool in_histograms(const struct profile *p, struct named *n, uint64_t at, uint64_t end) {
  if (!n->last || at < n->last->at || at - n->last->at >= n->last->size)
    n->last = part_at(p, at);
  const struct profile_part *part = n->last;
  return part && part->type == APROF_CHUNK_HISTOGRAMS && at < end &&
         at - part->at >= sizeof(struct aprof_chunk) && end <= part->at + part->size;
}

/* False: nothing of that kind lies there. */
static bool want(const struct profile *p, struct named *n, uint64_t at, uint64_t end) {
  if (!in_histograms(p, n, at, end))
    return false;
  uint64_t first = at / APROF_PAGE, last = (end - 1) / APROF_PAGE;
  if (!n->page)
    n->page = allocate(p->reserved / APROF_PAGE + 1, 1);
  if (!n->end || first < n->next)
    n->next = first;
  if (last >= n->end)
    n->end = last + 1;
  for (uint64_t page = first; page <= last; page++)
    n->page[page] |= PAGE_WANTED;
  return true;
}

enum { RECENT = 1 << 14, AHEAD = 8 };

static void want_histogram(const struct profile *p, struct named *n, uint32_t reference) {
  if (!reference)
    return;
  if (!n->recent)
    n->recent = allocate(RECENT, sizeof *n->recent);
  uint32_t *recent = &n->recent[(reference * 0x9e3779b1u) >> 18];
  if (*recent == reference)
    return;
  uint64_t at = profile_counts(p, reference).at;
  if (!want(p, n, at, at + APROF_HISTOGRAM_ALIGN))
    return;
  *recent = reference;
  if (n->references == n->room) {
    n->room = n->room ? n->room * 2 : 256;
    n->reference = reallocate(n->reference, n->room, sizeof *n->reference);
  }
  n->reference[n->references++] = reference;
}

/* Whether a function or an await owns the record is not known yet: a reference of the other kind
   names nothing, or another histogram. */
void named_add(struct named *n, const struct profile *p, const struct aprof_counters *c) {
  want_histogram(p, n, profile_buckets(p, c->function.ended_buckets, true, false));
  want_histogram(p, n, profile_buckets(p, c->function.slice_buckets, false, false));
  want_histogram(p, n, profile_buckets(p, c->function.queued_buckets, false, false));
  want_histogram(p, n, profile_buckets(p, c->await.buckets, false, false));
}

void named_add_amount(struct named *n, const struct profile *p, const struct aprof_amount *amount) {
  want_histogram(p, n, profile_amount_buckets(p, amount));
}

bool named_next(struct named *n, uint64_t *at, uint64_t *size) {
  while (n->next < n->end && n->page[n->next] != PAGE_WANTED)
    n->next++;
  *at = n->next * APROF_PAGE;
  for (; n->next < n->end && n->page[n->next] == PAGE_WANTED; n->next++)
    n->page[n->next] |= PAGE_TOLD;
  *size = n->next * APROF_PAGE - *at;
  return *size;
}

void named_reach(struct named *n, const struct profile *p) {
  for (size_t i = 0; i < n->references; i++) {
    if (i + AHEAD < n->references)
      profile_counts_soon(p, n->reference[i + AHEAD]);
    struct profile_counts c = profile_counts(p, n->reference[i]);
    want(p, n, c.at, c.end);
    want(p, n, c.carried_at, c.carried_end);
  }
}

void named_free(struct named *n) {
  free(n->reference);
  free(n->recent);
  free(n->page);
}
