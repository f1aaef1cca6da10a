/* SPDX-License-Identifier: MIT */
/* The switch of the trace; see switch.h. */
#include "switch.h"

#include "drain.h"
#include "read/clock.h"

#include <aprof/trace.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 2000 }; /* a millisecond each */
#define LEASE_NS                                                                                   \
  ((unsigned __int128)5 * 1000000000u) /* a recorder that is stopped may come back                 \
                                        */

static int is_dead(uint32_t pid) {
  return (int32_t)pid <= 0 || (kill((pid_t)pid, 0) && errno == ESRCH);
}

/* This process, as the header names it. */
static uint32_t own_word(void) {
  struct stat st;
  return aprof_control_word((uint32_t)getpid(), stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino);
}

bool switch_is_near(uint32_t word) {
  return aprof_control_together(word, own_word());
}

bool switch_lock(struct aprof_header *h) {
  uint32_t holder, me = own_word();
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (aprof_control_take(h, me, &holder, is_dead))
      return true;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return false;
}

void switch_unlock(struct aprof_header *h) {
  __atomic_store_n(&h->control_lock, 0, __ATOMIC_RELEASE);
}

/* A number alone does not tell: it may have been given to another process. One of another PID
   namespace records as long as its lease says so. */
static bool records(const struct aprof_header *h, uint32_t me) {
  if (!h->recorder || h->recorder == me)
    return false;
  if (aprof_control_together(h->recorder, me))
    return process_start((long)aprof_control_pid(h->recorder)) == h->recorder_start;
  return h->mode & APROF_TRACE_RECORD && profile_clock(h) < h->trace_until;
}

static uint64_t ticks_of(unsigned __int128 ns, uint64_t rate) {
  unsigned __int128 ticks = (ns << 32) / (rate ? rate : 1);
  return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX - 1;
}

/* Where a lease that is prolonged now ends. The virtual clock stands still while nobody asks: there
   it has no end. */
static uint64_t lease_end(const struct aprof_header *h, uint64_t rate) {
  return h->clock_source == APROF_CLOCK_VIRTUAL ? UINT64_MAX
                                                : profile_clock(h) + ticks_of(LEASE_NS, rate);
}

void switch_prolong(struct aprof_header *h, uint64_t rate) {
  __atomic_store_n(&h->trace_until, lease_end(h, rate), __ATOMIC_RELAXED);
}

void switch_log(struct aprof_header *h, uint64_t over, uint64_t rate) {
  uint64_t ticks = ticks_of(over, rate);
  bool is_on = profile_clock(h) <= __atomic_load_n(&h->log_until, __ATOMIC_RELAXED);
  ticks -= ticks / 64; /* the rate is not exact: who reads the log looks at the time once more */
  __atomic_store_n(&h->log_until, lease_end(h, rate), __ATOMIC_RELEASE);
  if (!is_on || ticks < __atomic_load_n(&h->log_over, __ATOMIC_RELAXED))
    __atomic_store_n(&h->log_over, ticks, __ATOMIC_RELEASE);
}

void switch_share(struct aprof_header *h, double share) {
  uint32_t of = share >= 1 ? UINT32_MAX : share > 0 ? (uint32_t)(share * 0x1p32) : 0;
  __atomic_store_n(&h->trace_share, of, __ATOMIC_RELAXED);
}

/* What is traced already goes on, unless that is something else. */
static void switch_on(struct aprof_header *h, const double *share) {
  uint32_t was = __atomic_load_n(&h->mode, __ATOMIC_RELAXED);
  uint32_t mode =
      (was & APROF_TRACE_FLIGHT) | APROF_TRACE_RECORD | (share ? APROF_TRACE_SHARED : 0);
  bool on = __atomic_load_n(&h->usual, __ATOMIC_RELAXED) & APROF_TRACED;
  if (share)
    switch_share(h, *share);
  __atomic_store_n(&h->mode, mode, __ATOMIC_SEQ_CST);
  aprof_trace_switch(h, true);
  if (on && ((was ^ mode) & APROF_TRACE_SHARED))
    aprof_trace_anew(h);
}

uint32_t switch_trace(int fd, struct aprof_header *h, uint64_t size, uint64_t rate,
                      const double *share) {
  if (!switch_lock(h))
    return SWITCH_BUSY;
  uint32_t me = own_word(), other = records(h, me) ? h->recorder : 0;
  if (!other) {
    h->recorder_start = process_start((long)getpid());
    __atomic_store_n(&h->recorder, me, __ATOMIC_RELAXED);
    if (size) {
      h->trace_size = size;
      drain_make_room(fd, h, size);
    }
    switch_prolong(h, rate);
    switch_on(h, share);
  }
  switch_unlock(h);
  return other;
}

bool switch_is_on(const struct aprof_header *h) {
  return h->recorder == own_word() && __atomic_load_n(&h->usual, __ATOMIC_RELAXED) & APROF_TRACED;
}

bool switch_pause(struct aprof_header *h) {
  bool flies = h->mode & APROF_TRACE_FLIGHT;
  bool mine = !flies && switch_lock(h);
  if (mine && h->recorder == own_word())
    aprof_trace_switch(h, 0);
  if (mine)
    switch_unlock(h);
  return !flies;
}

void switch_off_trace(struct aprof_header *h) {
  bool locked = switch_lock(h);
  if (h->recorder == own_word()) {
    aprof_trace_recorded(h);
    __atomic_store_n(&h->recorder, 0, __ATOMIC_RELAXED);
  }
  if (locked)
    switch_unlock(h);
}
