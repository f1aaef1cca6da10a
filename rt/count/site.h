/* SPDX-License-Identifier: MIT */
/* Numbers of sites in this profile; see site.c. Slow paths but for the inline tests. */
#ifndef APROF_RT_SITE_H
#define APROF_RT_SITE_H

#include "rt/rt.h"

uint32_t site_register_slow(struct aprof_site *site);
uint32_t site_of_address(const void *function, uint8_t model);
uint32_t site_alias_slow(uint32_t dynamic, struct aprof_site *site);
/* A create line has named this function and its address. */
void site_told(struct aprof_site *function, const void *address);
struct aprof_psite *site_record(uint32_t id);
bool site_creates(uint32_t ns); /* did a create line of this namespace ever run; rare */
/* ... false: certainly not. */
#define CREATING_BIT(ns) ((uint64_t)1 << ((ns) % 64))
static inline bool site_may_create(uint32_t ns) {
  return __atomic_load_n(&rt.creating, __ATOMIC_RELAXED) & CREATING_BIT(ns);
}
void site_reset(void);
/* What a create with these flags makes waits for what was asked; else it is queued. */
static inline bool site_waits(uint32_t flags) {
  return (flags & (APROF_ONCE | APROF_MULTI)) && !(flags & APROF_READY);
}
static inline bool site_known(const struct aprof_site *site) {
  return likely(__atomic_load_n(&site->instance, __ATOMIC_ACQUIRE) == rt.instance);
}
static inline uint32_t site_id(struct aprof_site *site) {
  return site_known(site) ? site->id : site_register_slow(site);
}
/* This place, where it means waiting for new work: a helper's, of a create line inside it that
   says so. The place itself without memory. Rare. */
uint32_t site_in_background(uint32_t place);
/* Notes in the profile, once, that an end, wake or switch has found a future, so that a reader can
   tell a wrong key from a call that is made for much else. */
void site_found_slow(struct aprof_site *site);
static inline void site_found(struct aprof_site *site) {
  if (unlikely(site->reserved != rt.instance))
    site_found_slow(site);
}

#endif
