/* SPDX-License-Identifier: MIT */
/* Names of tiers, by number; see tier-name.h. */
#include "tier-name.h"

#include "rt/file/arena.h"

uint32_t tier_number(const char *name) {
  uint32_t *names = rt.header->tier_names, n = 1;
  for (; n < APROF_TIERS - 1 && names[n] != 0; n++)
    if (strcmp(at_offset(names[n]), name) == 0)
      return n;
  if (n == APROF_TIERS - 1) {
    if (names[n] == 0)
      names[n] = arena_string("(other)");
    return n;
  }
  __atomic_store_n(&names[n], arena_string(name), __ATOMIC_RELEASE);
  return names[n] != 0 ? n : 0;
}
