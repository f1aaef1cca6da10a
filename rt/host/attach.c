/* SPDX-License-Identifier: MIT */
/* Where a module's constructor finds the runtime, and what <aprof.h> calls. */
#include <stddef.h>
#include <stdlib.h>

#include "control.h"
#include "rt/count/govern.h"
#include "rt/event/gates.h"
#include "rt/event/thread.h"
#include "rt/event/timed.h"
#include "rt/file/clock.h"
#include "rt/file/describe.h"
#include "rt/file/profile.h"
#include "rt/sys/process.h"
#include "rt/sys/say.h"
#include "totals.h"

#define VIRTUAL_END (1ull << 62) /* ns; no amount of time has its top bit set */

static bool profiling(void) {
  return rt.state == RT_ON && process_ours();
}

static int api_snapshot(void) {
  return profiling() ? totals_request() : -1;
}

static int api_enable(int on) {
  return control_enable(on);
}

static int api_reset(void) {
  return profiling() ? control_reset() : -1;
}

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
  if (rt.header != NULL && ns < VIRTUAL_END - __atomic_load_n(virtual_clock(), __ATOMIC_RELAXED) &&
      (rt.clock == APROF_CLOCK_VIRTUAL || rt.options.clock == APROF_CLOCK_VIRTUAL))
    __atomic_fetch_add(virtual_clock(), ns, __ATOMIC_RELAXED);
}

static uint64_t api_clock_now(void) {
  if (rt.options.clock == APROF_CLOCK_VIRTUAL)
    return rt.header != NULL ? __atomic_load_n(virtual_clock(), __ATOMIC_RELAXED) - VIRTUAL_START
                             : 0;
  return profiling() ? clock_ns(clock_read() - rt.header->tick0) : 0;
}

/* -- gates ------------------------------------------------------------------------- */
#define COUNT(with, ...) +1
_Static_assert(APROF_GATE_ROWS == APROF_GATE_MEMBERS(COUNT, COUNT, 0),
               "rows are not counted right");

/* Of this ABI, and with nothing in it that is not known here. */
static bool is_served(const struct aprof_gate *gate) {
  return gate->abi == APROF_ABI && gate->size >= offsetof(struct aprof_gate, enter) &&
         gate->size <= sizeof *gate;
}

/* The module runs as if never instrumented. Whoever looks at the process finds out: a profile says
   so, also where no other module has a future. */
static void refuse(const struct aprof_gate *gate) {
  if (rt.refused.modules++ == 0) {
    rt.refused.abi = gate->abi;
    describe_module(gate, rt.refused.name, sizeof rt.refused.name);
    rt_say(gate->abi < APROF_ABI
               ? "a module was built by an older version of the plugin and is not profiled; "
                 "rebuild it: "
               : "a module was built by a newer version of the plugin and is not profiled; "
                 "install the runtime of that version: ",
           rt.refused.name);
  }
  if (control_start())
    profile_note_refused(rt.header);
}

/* What a gate of this version holds. */
static void fill(struct aprof_gate *gate) {
#define FILL(with, role, name, parameters, arguments) gate->name = general_##name;
#define FILL_API(with, result, name, parameters) gate->name = name;
  APROF_GATE_MEMBERS(FILL, FILL_API, 0)
  gate->idle_begin = timed_idle_begin;
  gate->idle_end = timed_idle_end;
  fast_all(gate, clock_variant(clock_planned()));
  if (traced_usual.enter == NULL)
    fast_traced(&traced_usual, clock_variant(clock_planned()));
  if (some_usual.enter == NULL)
    fast_some(&some_usual, clock_variant(clock_planned()));
}

EXPORT int __aprof_attach(struct aprof_gate *gate) {
  control_attach(); /* constructors run one after the other, under the loader's lock */
  if (rt.state == RT_DEAD && rt.header == NULL)
    return -1;
  if (!is_served(gate)) {
    refuse(gate);
    return -1;
  }
  if (profiling())
    thread_forget_sites(); /* a module may have gone, and this one lie in its place */
  struct aprof_gate full;
  const size_t head = offsetof(struct aprof_gate, enter);
  fill(&full);
  memcpy((char *)gate + head, (const char *)&full + head, gate->size - head);
  __atomic_store_n(&gate->flag, &rt.header->enabled, __ATOMIC_RELEASE);
  return 0;
}
