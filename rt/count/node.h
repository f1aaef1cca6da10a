/* SPDX-License-Identifier: MIT */
/*
 * The calling-context tree and what is counted at its nodes; see node.c.
 *
 * Cost: a look-up in the thread's cache where the path is known. *_slow and what this header does
 * not define lock and may grow the arena.
 */
#ifndef APROF_RT_NODE_H
#define APROF_RT_NODE_H

#include "rt/rt.h"
#include "site.h"

#pragma GCC visibility push(hidden)

/* Paths for which there is no room go to these: a function and an await beneath it. */
#define OTHER_NODE 1u
#define OTHER_AWAIT 2u

/* node_slow registers the site and the path. */
struct node_entry *node_slow(struct thread *t, uint32_t parent, struct aprof_site *site,
                             bool is_await);
struct node_entry *node_keep(struct thread *t, uint32_t place, struct aprof_site *site,
                             uint32_t node); /* in the thread's cache, from now on */
/* Of a span under that node, or another span's. NULL: there is no room for it. */
struct node_entry *span_slow(struct thread *t, uint32_t parent, struct aprof_site *site);
struct node_entry *root_slow(struct thread *t, uint32_t parent, struct aprof_site *site);
uint32_t node_of_site_slow(uint32_t parent, uint32_t site, uint32_t kind); /* aprof_node_kind */
struct aprof_counters *counters_slow(struct thread *t, uint32_t node);
/* A fast event may end a wait there, but in a span: then its counters show where the histogram is.
   Apart: for new work, behind which a request without a root begins, or at a create with a tier,
   which has it. Those events ask for it. */
bool await_in_span(uint32_t await);
bool await_is_apart(uint32_t await);
struct aprof_counters *await_known(struct thread *t, uint32_t await); /* with its shortcuts */
/* What is counted where there is no memory for it; never read. It has no histograms, so
   fast events let a future whose counters are not known count there, and go on in the
   general ones. */
extern struct aprof_counters nowhere[];
bool counters_lost(const struct aprof_counters *c);
/* What `own` of counters is for a function of this site: its number in this profile. */
static inline uint64_t own_site(uint32_t site) {
  return (uint64_t)rt.instance << 32 | site;
}
void node_forget_sites(struct aprof_counters **segments); /* see thread_forget_sites */
bool node_start(void);
void node_reset(void);
static inline struct aprof_node *node_at(uint32_t node) {
  return &rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK];
}
static inline uint32_t node_site(uint32_t node) {
  return node_at(node)->site;
}
static inline uint32_t node_parent(uint32_t node) {
  return node_at(node)->parent;
}
/* The function of a node of one, or of a span of one; of a span outside futures, itself. */
static inline uint32_t function_node(uint32_t node) {
  while (unlikely(node_at(node)->is_await == APROF_NODE_SPAN) && node_parent(node) != 0)
    node = node_parent(node);
  return node;
}
/* ... of f's; told at once where f lies at the bottom of its stack. */
static inline uint32_t future_function(const struct aprof_future *f) {
  return likely(f->outer == f->node) ? f->node : function_node(f->node);
}
static inline uint32_t node_function(uint32_t node) { /* ... its site */
  return node_site(function_node(node));
}
/* The site of f's function, by name where it was known by its address at first, as in a field. */
static inline uint32_t function_site(const struct aprof_future *f) {
  uint32_t site = node_function(f->node), alias = site_record(site)->alias;
  return alias != 0 ? alias : site;
}
/* Whoever waits there waits for new work. */
bool node_in_background(uint32_t await);
/* May a request begin where a future goes on behind such a wait? Not any more once one has begun
   with a root. */
static inline bool requests_without_roots(void) {
  return __atomic_load_n(&rt.header->roots, __ATOMIC_RELAXED) == 0 && rt.options.requests != 0;
}
/* ... behind this one? */
static inline bool node_begins_request(uint32_t await) {
  return requests_without_roots() && node_in_background(await);
}
static inline struct node_entry *node_entry_for(struct thread *t, uint32_t place,
                                                struct aprof_site *site) {
  /* Sites lie side by side, and nodes are numbered one by one: without the product a
     dozen functions throw each other out. */
  uint64_t both = (uintptr_t)site + ((uint64_t)place << 20);
#if defined __x86_64__ && defined __LP64__
  /* Taken from memory where they are used: GCC would load them before, in registers that events
     have to save, or keep them on the stack. */
  __asm__("imulq %1, %0" : "+r"(both) : "m"(rt.spread) : "cc");
  uint64_t at = both >> 32;
  __asm__("andl %1, %k0" : "+r"(at) : "m"(t->paths) : "cc");
  __asm__("addq %1, %0" : "+r"(at) : "m"(t->cache) : "cc");
  return (struct node_entry *)at;
#else
  uint32_t at = (uint32_t)(both * rt.spread >> 32);
  return (struct node_entry *)(void *)((char *)t->cache + (at & t->paths));
#endif
}
/* Where it is if its first place was taken. */
static inline struct node_entry *node_entry_beside(struct node_entry *e) {
  return (struct node_entry *)((uintptr_t)e ^ sizeof *e);
}
/* A future that runs finds the site of its bodies in these counters of its function. */
static inline void function_known(struct aprof_counters *c, uint32_t node) {
  if (unlikely(c->function.own == 0))
    c->function.own = own_site(node_site(node));
}
/* Stands for the site of a function that is known by its address, in that cache alone. */
static inline struct aprof_site *address_as_site(const void *function) {
  return (struct aprof_site *)(uintptr_t)function;
}
/* ... of whose bodies none has told its name yet: at an address that no function has. */
static inline struct aprof_site *address_alone(const void *function) {
  return (struct aprof_site *)(~(uintptr_t)0 - (uintptr_t)function);
}
/* Of a function that was known by its address: has a body told its name since? */
static inline bool node_has_name(uint32_t node) {
  return __atomic_load_n(&site_record(node_site(node))->alias, __ATOMIC_RELAXED) != 0;
}
/* What the cache knows there; else NULL. */
static inline struct node_entry *node_cached(struct thread *t, uint32_t place,
                                             struct aprof_site *site) {
  struct node_entry *e = node_entry_for(t, place, site);
  if (likely(e->site == site) && likely(e->place == place))
    return e;
  e = node_entry_beside(e);
  return e->site == site && e->place == place ? e : NULL;
}
void node_cache_clear(struct thread *t);
static inline struct node_entry *node_find(struct thread *t, uint32_t parent,
                                           struct aprof_site *site, bool is_await) {
  struct node_entry *e = node_cached(t, parent << 1 | is_await, site);
  return likely(e != NULL) ? e : node_slow(t, parent, site, is_await);
}
/* ... of a function; a root's has an entry of its own, which fast events do not find. */
static inline struct node_entry *node_of_function(struct thread *t, uint32_t parent,
                                                  struct aprof_site *site) {
  return likely(!(site->flags & APROF_ROOT)) ? node_find(t, parent, site, false)
                                             : root_slow(t, parent, site);
}
static inline struct node_entry *span_find(struct thread *t, uint32_t parent,
                                           struct aprof_site *site) {
  struct node_entry *e = node_cached(t, parent << 1, site);
  return likely(e != NULL) ? e : span_slow(t, parent, site);
}
static inline struct aprof_counters *counters_of(struct thread *t, uint32_t node) {
  struct aprof_counters *segment = t->segments[node / NODE_SEGMENT];
  return likely(segment != NULL) ? segment + node % NODE_SEGMENT : counters_slow(t, node);
}
/* A run of a future of this node was left out, since another thread was in one. */
SLOW void node_shared(uint32_t node);

#pragma GCC visibility pop

/* A place beneath a function: its waker, its blocking call, whom it delayed, where it pauses;
   `kind`: enum aprof_node_kind. Sites are known by number alone here; the thread's cache has it in
   place of a record, which is never at an odd address. NULL: there is no room to tell it apart. */
static inline struct aprof_site *number_as_site(uint32_t site, uint32_t kind) {
  return (struct aprof_site *)((uintptr_t)site << 4 | kind << 1 | 1);
}
static inline struct node_entry *node_beneath(struct thread *t, uint32_t above, uint32_t site,
                                              uint32_t kind) {
  struct aprof_site *number = number_as_site(site, kind);
  uint32_t place = above << 1 | 1;
  struct node_entry *e = node_cached(t, place, number);
  if (likely(e != NULL))
    return e;
  uint32_t node = node_of_site_slow(above, site, kind);
  return node_at(node)->is_await == kind ? node_keep(t, place, number, node) : NULL; /* (other) */
}

#endif
