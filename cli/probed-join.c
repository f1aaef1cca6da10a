/* SPDX-License-Identifier: MIT */
/* Which requests a place was come by in, of the recording that was made meanwhile; see probed.h. */
#include "ask/slowest.h"
#include "probed.h"
#include "read/util.h"
#include "record/story.h"

#include <stdlib.h>
#include <string.h>

struct join {
  const struct story *story;
  struct probe_result *result;
  uint32_t *kind; /* by request: number of its kind in the result */
  bool *slow;     /* by request; NULL: it is not asked */
};

/* -- kinds ------------------------------------------------------------------------------ */

static uint32_t kind_of(struct probe_result *r, const char *name) {
  for (size_t i = 0; i < r->kinds; i++)
    if (!strcmp(r->kind[i].kind, name))
      return (uint32_t)i;
  r->kind = reallocate(r->kind, r->kinds + 1, sizeof *r->kind);
  r->kind[r->kinds] = (struct probe_kind){.kind = arena_text(&r->arena, name)};
  return (uint32_t)r->kinds++;
}

static void find_kinds(struct join *j) {
  const struct story *s = j->story;
  j->kind = allocate(s->requests_count + 1u, sizeof *j->kind);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    bool same = i && !strcmp(s->requests[i].kind, s->requests[i - 1].kind);
    j->kind[i] = same ? j->kind[i - 1] : kind_of(j->result, s->requests[i].kind);
    struct probe_kind *k = &j->result->kind[j->kind[i]];
    k->all++;
    k->requests += s->requests[i].probes != 0;
    k->slow += s->requests[i].probes && j->slow && j->slow[i];
  }
}

static int by_hits(const void *a, const void *b) {
  const struct probe_kind *x = a, *y = b;
  return x->hits != y->hits ? (x->hits < y->hits ? 1 : -1) : strcmp(x->kind, y->kind);
}

/* -- the slowest -------------------------------------------------------------------------- */

static bool find_slow(struct join *j, double percent) {
  const struct slowest_filter filter = {.percent = percent};
  struct slowest *found = slowest_find(j->story, &filter);
  if (!found)
    return false;
  j->slow = allocate(j->story->requests_count + 1u, sizeof *j->slow);
  for (size_t i = 0; i < found->kinds; i++)
    for (uint32_t n = 0; n < found->kind[i].slow; n++)
      j->slow[found->kind[i].request[n] - j->story->requests] = true;
  slowest_free(found);
  return true;
}

/* -- hits --------------------------------------------------------------------------------- */

/* "get_item > db_get": what its future is, as the tree of callers and creators has it. */
static const char *above_of(const struct story *s, const struct story_segment *g) {
  uint32_t path = g->path != STORY_NONE ? g->path : s->futures[g->future].path;
  return path < s->paths_count ? s->paths[path].text : NULL;
}

static void join_hit(struct join *j, struct watching *w, size_t number) {
  const struct story *s = j->story;
  struct probe_result *r = j->result;
  const struct story_hit *h = number < s->hits_count ? &s->hits[number] : NULL;
  const struct story_segment *g = h && h->segment != STORY_NONE ? &s->segments[h->segment] : NULL;
  uint32_t request = g ? s->futures[g->future].request : STORY_NONE;
  if (request != STORY_NONE)
    r->kind[j->kind[request]].hits++;
  else if (h && h->seen)
    r->outside++;
  else
    r->unseen++;
  if (j->slow && (request == STORY_NONE || !j->slow[request]))
    r->left_out++;
  else
    watch_count(w, number, g ? above_of(s, g) : NULL);
}

bool probed_join(struct probed *p, const char *file) {
  struct story_error why;
  struct probe_result *r = p->result;
  struct join j = {.story = story_open(file, &why), .result = r};
  if (!j.story) {
    complain("%s", why.text);
    return false;
  }
  bool done = p->slowest <= 0 || find_slow(&j, p->slowest);
  if (done) {
    r->joined = true;
    r->slowest = p->slowest;
    r->label = p->label;
    find_kinds(&j);
    for (size_t i = 0; i < r->kept; i++)
      join_hit(&j, p->watching, i);
    if (r->kinds)
      qsort(r->kind, r->kinds, sizeof *r->kind, by_hits);
  }
  free(j.kind);
  free(j.slow);
  story_free((struct story *)j.story);
  return done;
}
