/* SPDX-License-Identifier: MIT */
/* Slow requests and the rest; see slowest.h. */
#include "slowest.h"

#include "read/util.h"
#include "read/view.h"
#include "value.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_PERCENT = 5 };

/* -- options --------------------------------------------------------------------------- */

char *slowest_take(double *percent, const char *text) {
  double share;
  if (!value_read(text, UNIT_SHARE, 1, &share) || !(share > 0 && share < 100))
    return print_string("it takes a share of the requests, as 5%%");
  *percent = share;
  return NULL;
}

static char *take_slowest(void *options, const char *text) {
  return slowest_take(&((struct slowest_filter *)options)->percent, text);
}

#define ROWS                                                                                       \
  {"slowest",                                                                                      \
   0,                                                                                              \
   OPTION_OWN,                                                                                     \
   0,                                                                                              \
   "PERCENT",                                                                                      \
   .take = take_slowest,                                                                           \
   .text = "Slow are so many of each kind, as 5% (the default)"},                                  \
      {"over",                                                                                     \
       0,                                                                                          \
       OPTION_MS,                                                                                  \
       offsetof(struct slowest_filter, over),                                                      \
       "TIME",                                                                                     \
       .text = "Slow are those that took TIME or more (50ms; a plain number is of milliseconds)"}, \
  {                                                                                                \
    0                                                                                              \
  }

const struct option_row slowest_options[] = {ROWS};
const struct option_row slowest_kinds[] = {
    {"kind", 0, OPTION_TEXT, offsetof(struct slowest_filter, kind), "KIND",
     .text = "Only requests of this kind (with * and ?: all that match)"},
    ROWS};

const char *slowest_fault(const struct slowest_filter *f) {
  if (f->by && (f->percent > 0 || f->over))
    return "compared are slow ones with the rest, or those that reached a place with those that "
           "did not: --by, or --slowest and --over";
  return f->percent > 0 && f->over ? "slow are so many, or those that took so long: --slowest, or "
                                     "--over"
                                   : NULL;
}

/* -- kinds ----------------------------------------------------------------------------- */

/* While requests are sorted into them. */
struct sorter {
  const struct story *story;
  const struct slowest_filter *filter;
  struct sorted {
    const char *kind, *function;
    uint32_t count, partial;
  } * kind;
  uint64_t came_by; /* bit of the place; 0: it is about slow ones */
  uint32_t *of;     /* by request; STORY_NONE: not meant */
  size_t kinds, last;
};

/* Those that came by and those that did not are of one kind, though a probe's label tells them
 * apart. */
static const char *kind_name(const struct sorter *s, const struct story_request *r) {
  return s->came_by ? r->unmarked : r->kind;
}

static bool is_same(const struct sorted *k, const char *kind, const struct story_request *r) {
  return (k->kind == kind || !strcmp(k->kind, kind)) &&
         (k->function == r->function || !strcmp(k->function, r->function));
}

static struct sorted *kind_of(struct sorter *s, const struct story_request *r) {
  const char *kind = kind_name(s, r);
  if (s->last < s->kinds && is_same(&s->kind[s->last], kind, r))
    return &s->kind[s->last];
  for (s->last = 0; s->last < s->kinds; s->last++)
    if (is_same(&s->kind[s->last], kind, r))
      return &s->kind[s->last];
  if ((s->kinds & (s->kinds - 1)) == 0)
    s->kind = reallocate(s->kind, s->kinds ? s->kinds * 2 : 1, sizeof *s->kind);
  s->kind[s->kinds] = (struct sorted){.kind = kind, .function = r->function};
  return &s->kind[s->kinds++];
}

static bool matches(const char *pattern, const char *name) {
  return !pattern || !fnmatch(pattern, name, 0) || !strcmp(pattern, name);
}

/* The tiers that match, as bits. */
static uint64_t tiers_of(const struct story *s, const char *pattern) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < STORY_TIERS; i++)
    if (s->tiers[i] && matches(pattern, s->tiers[i]))
      mask |= (uint64_t)1 << i;
  return mask;
}

static bool was_in(const struct story *s, const struct story_request *r, uint64_t tiers) {
  for (uint32_t i = 0; i < r->futures_count; i++)
    for (uint32_t at = s->futures[r->futures[i]].first; at != STORY_NONE; at = s->segments[at].next)
      if (tiers >> (s->segments[at].tier % STORY_TIERS) & 1)
        return true;
  return false;
}

static void sort_into_kinds(struct sorter *s) {
  const struct story *story = s->story;
  uint64_t tiers = s->filter->tier ? tiers_of(story, s->filter->tier) : 0;
  for (uint32_t i = 0; i < story->requests_count; i++) {
    const struct story_request *r = &story->requests[i];
    s->of[i] = STORY_NONE;
    if (!matches(s->filter->kind, kind_name(s, r)) || (s->filter->tier && !was_in(story, r, tiers)))
      continue;
    struct sorted *k = kind_of(s, r);
    if (r->whole && r->end >= r->begin) {
      k->count++;
      s->of[i] = (uint32_t)(k - s->kind);
    } else
      k->partial++;
  }
}

/* -- slow and rest --------------------------------------------------------------------- */

/* Of equal ones the first. */
static int by_wall(const void *a, const void *b) {
  const struct story_request *const *x = a, *const *y = b;
  uint64_t one = slowest_wall(*x), other = slowest_wall(*y);
  return one != other ? (one < other) - (one > other) : (*x > *y) - (*x < *y);
}

/* Those that came by first, of both the slowest first. */
static uint32_t move_forward(struct slowest_kind *k, uint64_t came_by) {
  const struct story_request **others = allocate(k->count + 1u, sizeof *others);
  uint32_t first = 0, rest = 0;
  for (uint32_t i = 0; i < k->count; i++)
    if (k->request[i]->probes & came_by)
      k->request[first++] = k->request[i];
    else
      others[rest++] = k->request[i];
  memcpy(k->request + first, others, rest * sizeof *others);
  free(others);
  return first;
}

static void choose_slow(struct slowest_kind *k, const struct slowest_filter *f, uint64_t came_by) {
  double share = (f->percent > 0 ? f->percent : USUAL_PERCENT) / 100;
  qsort(k->request, k->count, sizeof *k->request, by_wall);
  if (came_by)
    k->slow = move_forward(k, came_by);
  else if (f->over)
    while (k->slow < k->count && slowest_wall(k->request[k->slow]) >= f->over)
      k->slow++;
  else
    k->slow = (uint32_t)ceil(share * k->count - 1e-9);
  for (uint32_t i = 0; i < k->count; i++) {
    uint64_t wall = slowest_wall(k->request[i]);
    add_to(&k->wall, wall);
    k->failed += k->request[i]->failed;
    if (i < k->slow)
      add_to(&k->slow_wall, wall);
  }
  k->threshold = k->slow ? slowest_wall(k->request[k->slow - 1]) : 0;
}

static const char *name_kind(const struct sorter *s, const struct sorted *k, struct arena *arena) {
  for (size_t i = 0; i < s->kinds; i++)
    if (&s->kind[i] != k && !strcmp(s->kind[i].kind, k->kind))
      return arena_text(arena, turn_text("%s (%s)", k->kind, k->function));
  return arena_text(arena, k->kind);
}

static int by_slow_time(const void *a, const void *b) {
  const struct slowest_kind *x = a, *y = b;
  return x->slow_wall != y->slow_wall
             ? (x->slow_wall < y->slow_wall) - (x->slow_wall > y->slow_wall)
             : strcmp(x->name, y->name);
}

static void make_kinds(struct slowest *all, const struct sorter *s) {
  all->kinds = s->kinds;
  all->kind = arena_get(&all->arena, s->kinds + 1, sizeof *all->kind);
  for (size_t i = 0; i < s->kinds; i++) {
    struct slowest_kind *k = &all->kind[i];
    k->name = name_kind(s, &s->kind[i], &all->arena);
    k->partial = s->kind[i].partial;
    k->request = arena_get(&all->arena, s->kind[i].count + 1, sizeof *k->request);
  }
  for (uint32_t i = 0; i < s->story->requests_count; i++)
    if (s->of[i] != STORY_NONE) {
      struct slowest_kind *k = &all->kind[s->of[i]];
      k->request[k->count++] = &s->story->requests[i];
    }
  for (size_t i = 0; i < all->kinds; i++) {
    struct slowest_kind *k = &all->kind[i];
    choose_slow(k, s->filter, s->came_by);
    all->count += k->count;
    all->slow += k->slow;
    all->partial += k->partial;
  }
  qsort(all->kind, all->kinds, sizeof *all->kind, by_slow_time);
}

/* Why there is nothing to tell, and what would help. */
static void complain_of_none(const struct story *s, const struct slowest_filter *f,
                             const struct slowest *all) {
  if (!s->requests_count)
    complain("the recording has no requests: a line with `root' says where one begins, see "
             "aprof-bindings(5)");
  else if (!all->kinds)
    complain("the recording has no requests of %s %s; without that option all are shown",
             f->kind ? "kind" : "tier", f->kind ? f->kind : f->tier);
  else
    complain("none of the %" PRIu64
             " requests began and ended within the recording%s: a longer one "
             "(--for) has whole ones",
             all->partial, s->truncated ? ", which was cut off" : "");
}

/* False after a message: it was not watched. */
static bool find_place(const struct story *s, const char *by, uint64_t *bit) {
  uint32_t probe = story_probe_of(s, by);
  *bit = probe != STORY_NONE ? (uint64_t)1 << probe : 0;
  if (*bit)
    return true;
  if (!s->probes_count)
    complain("no place was watched in the recording: aprof probe TARGET %s -o FILE makes one in "
             "which it was",
             by);
  else
    complain("%s was not watched in the recording; %s was", by, s->probes[0].names[0]);
  return false;
}

struct slowest *slowest_find(const struct story *story, const struct slowest_filter *f) {
  struct sorter s = {.story = story, .filter = f};
  if (f->by && !find_place(story, f->by, &s.came_by))
    return NULL;
  struct slowest *all = allocate(1, sizeof *all);
  s.of = allocate((size_t)story->requests_count + 1, sizeof *s.of);
  sort_into_kinds(&s);
  make_kinds(all, &s);
  free(s.of);
  free(s.kind);
  if (!all->count) {
    complain_of_none(story, f, all);
    slowest_free(all);
    return NULL;
  }
  return all;
}

static int by_others(const void *a, const void *b) {
  const struct slowest_kind *x = a, *y = b;
  bool alone = x->slow == x->count, other = y->slow == y->count;
  return alone != other ? alone - other : by_slow_time(a, b);
}

void slowest_compared_first(struct slowest *all) {
  qsort(all->kind, all->kinds, sizeof *all->kind, by_others);
}

static int by_place(const void *a, const void *b) {
  const struct story_request *const *x = a, *const *y = b;
  return (*x > *y) - (*x < *y);
}

const struct story_request **slowest_in_time(const struct slowest_kind *k) {
  const struct story_request **request = allocate((size_t)k->count + 1, sizeof *request);
  memcpy(request, k->request, k->count * sizeof *request);
  qsort(request, k->slow, sizeof *request, by_place);
  qsort(request + k->slow, k->count - k->slow, sizeof *request, by_place);
  return request;
}

void slowest_free(struct slowest *all) {
  if (all)
    arena_free(&all->arena);
  free(all);
}

uint64_t slowest_percentile(const struct slowest_kind *k, unsigned percent) {
  if (!k->count)
    return UNKNOWN;
  uint64_t behind = (uint64_t)k->count * (100 - percent) / 100; /* that are longer */
  return slowest_wall(k->request[behind < k->count ? behind : k->count - 1]);
}
