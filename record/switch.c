/* SPDX-License-Identifier: MIT */
/* The switch of the trace; see switch.h. */
#include "switch.h"

#include "read/clock.h"

#include <aprof/trace.h>
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 2000 }; /* a millisecond each */
#define LEASE_NS                                                                                   \
  ((unsigned __int128)5 * 1000000000u) /* a recorder that is stopped may come back                 \
                                        */

static int is_dead(uint32_t pid) {
  return (int32_t)pid <= 0 || (kill((pid_t)pid, 0) && errno == ESRCH);
}

bool switch_lock(struct aprof_header *h) {
  uint32_t holder;
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (aprof_control_take(h, (uint32_t)getpid(), &holder, is_dead))
      return true;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return false;
}

void switch_unlock(struct aprof_header *h) {
  __atomic_store_n(&h->control_lock, 0, __ATOMIC_RELEASE);
}

/* A number alone does not tell: it may have been given to another process. */
static bool records(const struct aprof_header *h) {
  return h->recorder && h->recorder != (uint32_t)getpid() &&
         process_start((long)h->recorder) == h->recorder_start;
}

/* The virtual clock stands still while nobody asks: there a lease has no end. */
void switch_prolong(struct aprof_header *h, uint64_t rate) {
  uint64_t until = UINT64_MAX;
  if (h->clock_source != APROF_CLOCK_VIRTUAL)
    until = profile_clock(h) + (uint64_t)((LEASE_NS << 32) / (rate ? rate : 1));
  __atomic_store_n(&h->trace_until, until, __ATOMIC_RELAXED);
}

uint32_t switch_trace(struct aprof_header *h, uint64_t size, uint64_t rate) {
  if (!switch_lock(h))
    return SWITCH_BUSY;
  uint32_t other = records(h) ? h->recorder : 0;
  if (!other) {
    h->recorder_start = process_start((long)getpid());
    __atomic_store_n(&h->recorder, (uint32_t)getpid(), __ATOMIC_RELAXED);
    if (size)
      h->trace_size = size;
    switch_prolong(h, rate);
    __atomic_fetch_or(&h->mode, APROF_TRACE_RECORD, __ATOMIC_RELAXED);
    aprof_trace_switch(h, true);
  }
  switch_unlock(h);
  return other;
}

bool switch_is_on(const struct aprof_header *h) {
  return h->recorder == (uint32_t)getpid() &&
         __atomic_load_n(&h->usual, __ATOMIC_RELAXED) & APROF_TRACED;
}

void switch_off_trace(struct aprof_header *h) {
  bool locked = switch_lock(h);
  if (h->recorder == (uint32_t)getpid()) {
    __atomic_fetch_and(&h->mode, ~(uint32_t)APROF_TRACE_RECORD, __ATOMIC_RELAXED);
    if (h->mode & APROF_TRACE_FLIGHT)
      __atomic_store_n(&h->trace_until, UINT64_MAX, __ATOMIC_RELAXED);
    else
      aprof_trace_switch(h, false);
    __atomic_store_n(&h->recorder, 0, __ATOMIC_RELAXED);
  }
  if (locked)
    switch_unlock(h);
}
