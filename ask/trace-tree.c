/* SPDX-License-Identifier: MIT */
/* Who asked for whom, by spans; see traces.h. */
#include "traces.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* Of each part, in a trace whose first one is its root. */
struct node {
  size_t child, next; /* SIZE_MAX: none */
  bool reached;
};

/* -- who began it -------------------------------------------------------------------------- */

/* Traces of two processes in which `of` had the longest request. */
struct vote {
  uint64_t of, other;
  size_t traces;
};
struct votes {
  struct vote *vote;
  size_t count;
};

static size_t count_votes(const struct votes *all, uint64_t of, uint64_t other) {
  for (size_t i = 0; i < all->count; i++)
    if (all->vote[i].of == of && all->vote[i].other == other)
      return all->vote[i].traces;
  return 0;
}

static void add_vote(struct votes *all, uint64_t of, uint64_t other) {
  for (size_t i = 0; i < all->count; i++)
    if (all->vote[i].of == of && all->vote[i].other == other) {
      all->vote[i].traces++;
      return;
    }
  all->vote = reallocate(all->vote, all->count + 1, sizeof *all->vote);
  all->vote[all->count++] = (struct vote){of, other, 1};
}

/* The longest one of another process, if all are of two; 0: they are not. */
static size_t second_of(const struct trace *t) {
  size_t second = 0;
  for (size_t i = 1; i < t->parts; i++)
    if (t->part[i].process != t->part->process) {
      if (second && t->part[i].process != t->part[second].process)
        return 0;
      second = second ? second : i;
    }
  return second;
}

static bool asked_for(const struct trace_part *p, const struct trace_part *other) {
  const char *parent = other->slow ? other->slow->parent_span_id : NULL;
  return parent && p->slow && p->slow->span_id && !strcmp(parent, p->slow->span_id);
}

/* By their spans, or, of totals, as most of these two processes do. */
void traces_root(struct traces *all) {
  struct votes votes = {0};
  for (size_t i = 0; i < all->count; i++) {
    const struct trace *t = &all->of[i];
    size_t second = second_of(t);
    if (second)
      add_vote(&votes, t->part->process, t->part[second].process);
  }
  for (size_t i = 0; i < all->count; i++) {
    struct trace_part *part = &all->part[all->of[i].part - all->part], longest = *part;
    size_t second = second_of(&all->of[i]);
    if (!second || asked_for(part, &part[second]))
      continue;
    uint64_t of = longest.process, other = part[second].process;
    if (!asked_for(&part[second], part) &&
        count_votes(&votes, of, other) >= count_votes(&votes, other, of))
      continue;
    part[0] = part[second];
    part[second] = longest;
  }
  free(votes.vote);
}

/* -- parents ------------------------------------------------------------------------------ */

static int by_span(const void *a, const void *b) {
  const struct trace_part *const *x = a, *const *y = b;
  return strcmp((*x)->slow->span_id, (*y)->slow->span_id);
}

static int is_span(const void *wanted, const void *part) {
  const struct trace_part *const *p = part;
  return strcmp(wanted, (*p)->slow->span_id);
}

static void find_parents(struct trace_part *part, size_t parts) {
  struct trace_part **sorted = allocate(parts, sizeof *sorted);
  size_t spans = 0;
  for (size_t i = 0; i < parts; i++)
    if (part[i].slow && part[i].slow->span_id)
      sorted[spans++] = &part[i];
  if (spans)
    qsort(sorted, spans, sizeof *sorted, by_span);
  for (size_t i = 0; i < parts; i++) {
    const char *wanted = i && part[i].slow ? part[i].slow->parent_span_id : NULL;
    struct trace_part **found =
        wanted && spans ? bsearch(wanted, sorted, spans, sizeof *sorted, is_span) : NULL;
    part[i].by_span = found && *found != &part[i];
    part[i].parent = part[i].by_span ? (size_t)(*found - part) : i ? 0 : SIZE_MAX;
  }
  free(sorted);
}

/* -- the tree ----------------------------------------------------------------------------- */

/* Children as they stand. */
static void link_children(const struct trace_part *part, size_t parts, struct node *node) {
  for (size_t i = 0; i < parts; i++)
    node[i] = (struct node){SIZE_MAX, SIZE_MAX, false};
  for (size_t i = parts; i-- > 1;) {
    node[i].next = node[part[i].parent].child;
    node[part[i].parent].child = i;
  }
}

/* Behind it in the tree, parents first. */
static size_t next_of(const struct trace_part *part, const struct node *node, size_t at,
                      unsigned *depth) {
  if (node[at].child != SIZE_MAX) {
    ++*depth;
    return node[at].child;
  }
  while (at && node[at].next == SIZE_MAX) {
    at = part[at].parent;
    --*depth;
  }
  return at ? node[at].next : SIZE_MAX;
}

/* Spans that go in circles are nobody's. */
static void cut_circles(struct trace_part *part, size_t parts, struct node *node) {
  unsigned depth = 0;
  bool all = true;
  for (size_t at = 0; at != SIZE_MAX; at = next_of(part, node, at, &depth))
    node[at].reached = true;
  for (size_t i = 0; i < parts; i++)
    if (!node[i].reached) {
      part[i].parent = 0;
      part[i].by_span = all = false;
    }
  if (!all)
    link_children(part, parts, node);
}

static void nest(struct trace_part *part, size_t parts) {
  struct node *node = allocate(parts, sizeof *node);
  struct trace_part *from = allocate(parts, sizeof *from);
  size_t *place = allocate(parts, sizeof *place), placed = 0;
  unsigned depth = 0;
  find_parents(part, parts);
  link_children(part, parts, node);
  cut_circles(part, parts, node);
  memcpy(from, part, parts * sizeof *from);
  for (size_t at = 0; at != SIZE_MAX; at = next_of(from, node, at, &depth)) {
    part[placed] = from[at];
    part[placed].depth = depth;
    part[placed].parent = at ? place[from[at].parent] : SIZE_MAX;
    place[at] = placed++;
  }
  free(place);
  free(from);
  free(node);
}

void traces_nest(struct traces *all) {
  for (size_t i = 0; i < all->count; i++)
    nest(&all->part[all->of[i].part - all->part], all->of[i].parts);
}
