/* SPDX-License-Identifier: MIT */
/* Births of futures, and what they are called; see birth.h. */
#include "birth.h"

#include "rt/count/govern.h"
#include "rt/count/node.h"
#include "rt/future/record.h"
#include "rt/request/member.h"
#include "rt/trace/moved.h"
#include "transitions.h"

__thread struct helper events_helper __attribute__((tls_model("initial-exec")));

struct aprof_future *future_born(struct thread *t, struct aprof_site *function, bool root,
                                 uint64_t now) {
  struct aprof_future *f = future_new(t, now), *parent = t->cur;
  if (unlikely(f == NULL))
    return NULL;
  uint32_t above = 0;
  if (parent != NULL) {
    f->parent = index_of(parent);
    if (!root)
      above = tree_parent(t, parent->node);
  } else {
    f->parent = 0;
  }
  if (function != NULL)
    f->node = f->outer = node_of_function(t, above, function)->node;
  return f;
}

void born_told(struct thread *t, const struct aprof_future *f, uint64_t born) {
  trace_birth(t, f, born);
  if (f->flags & APROF_F_MEMBER)
    member_told(t, f, born);
}

/* A name that was an address, or nothing, becomes that of the body seen. */
void future_named(struct thread *t, struct aprof_future *f, struct aprof_site *site,
                  const void *self) {
  if (f->flags & APROF_F_NAMELESS) {
    uint32_t nameless = function_node(f->node);
    bool own = f->outer == nameless;
    f->node = node_of_function(t, node_parent(nameless), site)->node; /* spans are left with it */
    if (own)
      f->outer = f->node;
    if (f->await != 0)
      f->await = node_beneath(t, f->node, node_site(f->await), APROF_NODE_AWAIT)->node;
    f->flags &= (uint8_t)~APROF_F_NAMELESS;
    f->counters = (uintptr_t)nowhere;
    if (f == t->cur)
      t->counters = known_counters(t, f);
    if (traces(t) && f->state != APROF_FUTURE_TENTATIVE) {
      trace_put(t, APROF_TRACE_NAMED, index_of(f), f->node, f->last);
      trace_more(t, 0, f->await);
    }
  } else if (self != NULL && site_record(node_function(f->node))->address == (uintptr_t)self) {
    site_alias_slow(node_function(f->node), site);
  }
  struct aprof_psite *p = site_record(node_function(f->node));
  if (p->name != 0 || p->alias != 0)
    f->flags |= APROF_F_NAMED;
}

bool adopts(const struct aprof_future *f, struct aprof_site *site, const void *self) {
  if (f->flags & APROF_F_BODY)
    return false;
  if (f->flags & APROF_F_NAMELESS)
    return true;
  uint32_t known = node_function(f->node), mine = site_id(site);
  if (known == mine)
    return true;
  const struct aprof_psite *p = site_record(known);
  return self != NULL && p->address == (uint64_t)(uintptr_t)self;
}

bool running_adopts(const struct aprof_future *f, struct aprof_site *site, const void *self) {
  return f->open == 1 && adopts(f, site, self);
}

/* In the thread's cache like others, where the fast events find it: by its address if it has a
   name, too, else apart from those. */
void name_by_address(struct thread *t, struct aprof_future *f, const void *fn, uint8_t model,
                     bool root) {
  uint32_t place = (t->cur != NULL && !root ? tree_parent(t, t->cur->node) : 0) << 1;
  struct aprof_site *key = address_as_site(fn), *alone = address_alone(fn);
  const struct node_entry *e = node_cached(t, place, key);
  if (e == NULL && (e = node_cached(t, place, alone)) != NULL && node_has_name(e->node))
    e = NULL;
  uint32_t node =
      e != NULL ? e->node : node_of_site_slow(place >> 1, site_of_address(fn, model), false);
  if (e == NULL)
    node_keep(t, place, node_has_name(node) ? key : alone, node);
  f->node = f->outer = node;
}
