/*
 * Where a module's constructor finds the runtime, and what <aprof.h> calls.
 */
#include <stdlib.h>

#include "transitions.h"

#include "events.h"

void user_event(enum aprof_event_kind kind, const struct aprof_future *f, uint64_t id,
                uint32_t site, uint64_t now) {
  aprof_callback callback = rt.callback;
  if (callback == NULL || f->node == 0)
    return;
  const struct aprof_psite *function = site_record(node_site(f->node));
  struct aprof_user_event event = {.kind = kind, .future = id};
  const struct aprof_future *parent = future_at(f->parent);
  if (f->parent != 0 && (uint32_t)parent->id == f->parent_serial)
    event.parent = parent->id;
  if (function->name != 0)
    event.function = rt_base() + ((uint64_t)function->name << 3);
  const struct aprof_psite *place = site != 0 ? site_record(site) : function;
  if (place->file != 0)
    event.file = rt_base() + ((uint64_t)place->file << 3);
  event.line = place->line;
  event.time_ns = rt.clock == APROF_CLOCK_VIRTUAL ? now : clock_ns(now - rt.header->tick0);
  struct thread *t = aprof_self;
  t->callback_at = (uintptr_t)__builtin_frame_address(0);
  callback(&event, rt.callback_arg);
  t->callback_at = 0;
}

#define VIRTUAL_END (1ull << 62) /* ns; no amount of time has its top bit set */

static bool profiling(void) { return rt.state == RT_ON && profile_ours(); }

static int api_snapshot(void) {
  if (!profiling())
    return -1;
  __atomic_fetch_add(&rt.header->signals, 1, __ATOMIC_RELAXED);
  return dump_request("signal", clock_read());
}

static int api_reset(void) { return profiling() ? control_reset() : -1; }

static int api_callback(aprof_callback callback, void *arg) {
  if (rt.state == RT_DEAD)
    return -1;
  rt.callback_arg = arg;
  rt.callback = callback;
  clock_choose_usual();
  return 0;
}

/* A forked child without a future of its own still has its parent's header, and must
   not move its clock. */
static uint64_t *virtual_clock(void) {
  return rt.child_now != 0 ? &rt.child_now : &rt.header->virtual_now;
}

static void api_clock_advance(uint64_t ns) {
  if (rt.header != NULL &&
      ns < VIRTUAL_END - __atomic_load_n(virtual_clock(), __ATOMIC_RELAXED) &&
      (rt.clock == APROF_CLOCK_VIRTUAL || rt.options.clock == APROF_CLOCK_VIRTUAL))
    __atomic_fetch_add(virtual_clock(), ns, __ATOMIC_RELAXED);
}

static uint64_t api_clock_now(void) {
  if (rt.options.clock == APROF_CLOCK_VIRTUAL)
    return rt.header != NULL ? __atomic_load_n(virtual_clock(), __ATOMIC_RELAXED) - VIRTUAL_START
                             : 0;
  return profiling() ? clock_ns(clock_read() - rt.header->tick0) : 0;
}

EXPORT int __aprof_attach(struct aprof_gate *gate) {
  static uint32_t complained;
  if (gate->abi != APROF_ABI) {
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
      control_say("a module was built by another version of the plugin and is not profiled; "
                  "rebuild it, or install the runtime of that version",
                  "");
    return -1;
  }
  control_attach(); /* constructors run one after the other, under the loader's lock */
  if (rt.state == RT_DEAD && rt.header == NULL)
    return -1;
  if (profiling())
    thread_forget_sites(); /* a module may have gone, and this one lie in its place */
  fast_all(gate, clock_variant(clock_planned()));
  gate->at = events_bodies.at;
  gate->resync = events_bodies.resync;
  gate->here = events_bodies.here;
  gate->idle_begin = events_brackets.idle_begin;
  gate->idle_end = events_brackets.idle_end;
  gate->wake_current = events_brackets.wake_current;
  gate->end_current = events_brackets.end_current;
  gate->switch_to = events_rare.switch_to;
  gate->blocking_begin = events_rare.blocking_begin;
  gate->blocking_end = events_rare.blocking_end;
  gate->api_snapshot = api_snapshot;
  gate->api_enable = control_enable;
  gate->api_reset = api_reset;
  gate->api_callback = api_callback;
  gate->api_clock_advance = api_clock_advance;
  gate->api_clock_now = api_clock_now;
  __atomic_store_n(&gate->flag, &rt.header->enabled, __ATOMIC_RELEASE);
  return 0;
}
