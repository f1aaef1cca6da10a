/* SPDX-License-Identifier: MIT */
/* Events as the program hears of them: aprof_on_event(). */
#ifndef APROF_RT_TELL_H
#define APROF_RT_TELL_H

#include "rt/rt.h"

void user_event(enum aprof_event_kind kind, const struct aprof_future *f, uint64_t id,
                uint32_t site, uint64_t now);
static inline void tell(enum aprof_event_kind kind, struct aprof_future *f, uint32_t site,
                        uint64_t now) {
  if (unlikely(rt.callback != NULL))
    user_event(kind, f, f->id, site, now);
}

#endif
