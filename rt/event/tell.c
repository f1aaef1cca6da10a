/* SPDX-License-Identifier: MIT */
/* Events as the program hears of them; see tell.h. */
#include "tell.h"

#include "rt/count/node.h"
#include "rt/count/site.h"
#include "rt/file/clock.h"

void user_event(enum aprof_event_kind kind, const struct aprof_future *f, uint64_t id,
                uint32_t site, uint64_t now) {
  aprof_callback callback = rt.callback;
  if (callback == NULL || f->node == 0)
    return;
  const struct aprof_psite *function = site_record(node_function(f->node));
  struct aprof_user_event event = {.kind = kind, .future = id};
  const struct aprof_future *parent = future_at(f->parent);
  if (f->parent != 0 && aprof_is_parent(parent, f))
    event.parent = parent->id;
  if (function->name != 0)
    event.function = at_offset(function->name);
  const struct aprof_psite *place = site != 0 ? site_record(site) : function;
  if (place->file != 0)
    event.file = at_offset(place->file);
  event.line = place->line;
  event.time_ns = rt.clock == APROF_CLOCK_VIRTUAL ? now : clock_ns(now - rt.header->tick0);
  struct thread *t = aprof_self;
  t->callback_at = (uintptr_t)__builtin_frame_address(0);
  callback(&event, rt.callback_arg);
  t->callback_at = 0;
}
