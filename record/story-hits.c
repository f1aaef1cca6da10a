/* SPDX-License-Identifier: MIT */
/*
 * Whose hits are: by the thread's own clock, the stretch of a future that ran there then; see
 * story.h.
 */
#include "story-build.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* -- names --------------------------------------------------------------------------- */

/* As much of a path as says which. */
static bool is_called(const char *name, const char *asked) {
  size_t length = strlen(name), end = strlen(asked);
  return length >= end && !strcmp(name + length - end, asked) &&
         (length == end || (strchr(asked, ':') && name[length - end - 1] == '/'));
}

uint32_t story_probe_of(const struct story *s, const char *name) {
  for (uint32_t i = 0; i < s->probes_count; i++)
    for (uint32_t j = 0; j < s->probes[i].names_count; j++)
      if (is_called(s->probes[i].names[j], name))
        return i;
  return STORY_NONE;
}

/* -- what ran ------------------------------------------------------------------------ */

/* Stretches that ran, by thread, each thread's in order. */
struct running {
  uint32_t *segment;
  uint32_t *first; /* by thread; one more: the end */
};

static const struct story *ordered;

static int by_begin(const void *a, const void *b) {
  const struct story_segment *x = &ordered->segments[*(const uint32_t *)a],
                             *y = &ordered->segments[*(const uint32_t *)b];
  return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
                              : (x->end > y->end) - (x->end < y->end);
}

static bool ran(const struct story *s, const struct story_segment *g) {
  return g->what == STORY_EXEC && g->thread < s->threads_count && g->future != STORY_NONE;
}

static struct running running_new(const struct story *s) {
  struct running r = {allocate(s->segments_count + 1u, sizeof *r.segment),
                      allocate(s->threads_count + 2u, sizeof *r.first)};
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (ran(s, &s->segments[i]))
      r.first[s->segments[i].thread + 2]++;
  for (uint32_t i = 2; i <= s->threads_count + 1; i++)
    r.first[i] += r.first[i - 1];
  for (uint32_t i = 0; i < s->segments_count; i++)
    if (ran(s, &s->segments[i]))
      r.segment[r.first[s->segments[i].thread + 1]++] = i;
  ordered = s;
  for (uint32_t i = 0; i < s->threads_count; i++)
    if (r.first[i + 1] > r.first[i])
      qsort(r.segment + r.first[i], r.first[i + 1] - r.first[i], sizeof *r.segment, by_begin);
  return r;
}

/* Whose function it is: a place that is called as the function is its entry. */
static bool is_of(const struct story *s, uint32_t segment, const struct story_probe *p) {
  uint32_t path = s->futures[s->segments[segment].future].path;
  for (uint32_t i = 0; path < s->paths_count && i < p->names_count; i++)
    if (!strcmp(s->paths[path].name, p->names[i]))
      return true;
  return false;
}

/* The last that had begun, if it was not over; NONE. At the entry of a function whose future is
   about to run there it is that one. */
static uint32_t running_at(const struct story *s, const struct running *r, uint32_t thread,
                           uint64_t at, const struct story_probe *p) {
  uint32_t from = r->first[thread], to = r->first[thread + 1];
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (s->segments[r->segment[middle]].begin <= at)
      from = middle + 1;
    else
      to = middle;
  }
  uint32_t found = from > r->first[thread] ? r->segment[from - 1] : STORY_NONE;
  if (found != STORY_NONE && s->segments[found].end <= at)
    found = STORY_NONE;
  if ((found == STORY_NONE || !is_of(s, found, p)) && from < r->first[thread + 1] &&
      is_of(s, r->segment[from], p))
    found = r->segment[from];
  return found;
}

/* -- hits ---------------------------------------------------------------------------- */

/* Threads of one number follow each other; what a thread lacks may be what was there. */
static void join_hit(struct story *s, const struct running *r, struct story_hit *h) {
  h->segment = STORY_NONE;
  h->seen = 1;
  for (uint32_t i = 0; i < s->threads_count && h->segment == STORY_NONE; i++)
    if (s->threads[i].tid == h->tid) {
      h->segment = running_at(s, r, i, h->at, &s->probes[h->probe]);
      h->seen = h->segment != STORY_NONE || (h->seen && s->threads[i].lost == 0);
    }
  if (h->segment == STORY_NONE)
    return;
  uint32_t request = s->futures[s->segments[h->segment].future].request;
  if (request != STORY_NONE)
    s->requests[request].probes |= (uint64_t)1 << h->probe;
}

/* -- labels -------------------------------------------------------------------------- */

/* A kind that is marked: its name is made once. */
struct marked {
  const char *kind, *text;
  uint64_t probes;
};

static char *mark_text(const struct story *s, const char *kind, uint64_t probes) {
  char *text = print_string("%s", kind);
  for (uint32_t i = 0; i < s->probes_count; i++)
    if (probes >> i & 1 && *s->probes[i].label) {
      char *longer = print_string("%s +%s", text, s->probes[i].label);
      free(text);
      text = longer;
    }
  return text;
}

static void mark_requests(struct story *s, uint64_t labelled) {
  struct marked *all = NULL;
  size_t count = 0;
  for (uint32_t i = 0; i < s->requests_count; i++) {
    struct story_request *r = &s->requests[i];
    uint64_t probes = r->probes & labelled;
    size_t at = 0;
    if (!probes)
      continue;
    while (at < count && (all[at].probes != probes || strcmp(all[at].kind, r->kind)))
      at++;
    if (at == count) {
      char *text = mark_text(s, r->kind, probes);
      all = reallocate(all, count + 1, sizeof *all);
      all[count++] = (struct marked){r->kind, story_text(s, text), probes};
      free(text);
    }
    r->kind = all[at].text;
  }
  free(all);
}

static void mark_none(struct story *s) {
  for (uint32_t i = 0; i < s->requests_count; i++)
    s->requests[i].unmarked = s->requests[i].kind;
}

void story_join_hits(struct story *s) {
  uint64_t labelled = 0;
  for (uint32_t i = 0; i < s->probes_count; i++)
    if (*s->probes[i].label)
      labelled |= (uint64_t)1 << i;
  mark_none(s);
  if (!s->hits_count)
    return;
  struct running r = running_new(s);
  for (uint32_t i = 0; i < s->hits_count; i++)
    join_hit(s, &r, &s->hits[i]);
  if (labelled)
    mark_requests(s, labelled);
  free(r.segment);
  free(r.first);
}
