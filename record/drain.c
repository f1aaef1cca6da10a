/* SPDX-License-Identifier: MIT */
/* Takes events out of rings; see drain.h. */
#include "drain.h"

#include "read/profile-copy.h"
#include "read/util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
  BITS_MOST = 32,
  ASIDE = 1 << 20, /* bytes at a time: a process that grows meanwhile waits for one part at most */
};

void drain_begin(struct drain *d, int fd) {
  *d = (struct drain){.fd = fd, .seen = APROF_HEADER_SIZE};
}

void drain_end(struct drain *d) {
  free(d->ring);
}

/* -- which there are ----------------------------------------------------------------- */

static void add(struct drain *d, uint32_t block, uint64_t at) {
  if (d->rings == d->room) {
    d->room = d->room ? d->room * 2 : 16;
    d->ring = reallocate(d->ring, d->room, sizeof *d->ring);
  }
  d->ring[d->rings++] = (struct drain_ring){.block = block, .at = at, .limit = UINT64_MAX};
}

void drain_look(struct drain *d) {
  struct aprof_chunk chunk;
  uint64_t used = 0;
  profile_read_at(d->fd, &used, sizeof used, offsetof(struct aprof_header, used));
  while (d->seen < used && profile_read_at(d->fd, &chunk, sizeof chunk, d->seen) == sizeof chunk &&
         chunk.type && chunk.size && chunk.size % APROF_PAGE == 0) {
    if (chunk.type == APROF_CHUNK_BLOCK)
      add(d, chunk.first, d->seen + sizeof chunk);
    d->seen += chunk.size;
  }
}

/* -- events ----------------------------------------------------------------------------- */

/* What a block says of its ring. */
struct told {
  uint64_t ring;
  uint32_t bits, pad;
  uint64_t head, lost;
};

_Static_assert(offsetof(struct aprof_block, ring_lost) - offsetof(struct aprof_block, ring) ==
                   offsetof(struct told, lost),
               "read at once");

static bool ask(const struct drain *d, const struct drain_ring *r, struct told *told) {
  return profile_read_at(d->fd, told, sizeof *told, r->at + offsetof(struct aprof_block, ring)) ==
         sizeof *told;
}

static bool is_leased(const struct drain *d, const struct drain_ring *r) {
  uint32_t state = APROF_THREAD_FREE;
  profile_read_at(d->fd, &state, sizeof state, r->at + offsetof(struct aprof_block, state));
  return state != APROF_THREAD_FREE;
}

void drain_make_room(int fd, struct aprof_header *h, uint64_t size) {
  struct drain d;
  uint64_t used = __atomic_load_n(&h->used, __ATOMIC_ACQUIRE), rings = 0, more = 0, next;
  uint32_t lacking = 0;
  drain_begin(&d, fd);
  drain_look(&d);
  for (uint32_t i = 0; i < d.rings; i++) {
    struct told told = {0};
    ask(&d, &d.ring[i], &told);
    if (told.ring && told.bits <= BITS_MOST)
      rings += sizeof(struct aprof_trace_event) << told.bits;
    else
      lacking += is_leased(&d, &d.ring[i]);
  }
  drain_end(&d);
  struct stat st;
  if (fstat(fd, &st) || used > (uint64_t)st.st_size || rings > used)
    return; /* damaged */
  while (lacking-- &&
         (next = aprof_trace_ring_size(size, (uint64_t)st.st_size, used + more, rings)) != 0) {
    rings += next;
    more += next + APROF_PAGE; /* with its chunk's head */
  }
  uint64_t most = memory_at_most() / 8; /* it counts as that of who asks for it first */
  uint64_t end = used + (more < most ? more : most) / APROF_PAGE * APROF_PAGE;
  for (uint64_t at = used; at < end && end <= (uint64_t)st.st_size; at += ASIDE) {
    uint64_t part = end - at < ASIDE ? end - at : ASIDE;
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)part))
      break;
    __atomic_store_n(&h->set_aside, at + part, __ATOMIC_RELEASE);
  }
}

/* [from, to) of the ring, which may go round its end. */
static bool copy(const struct drain *d, const struct told *told, uint64_t from, uint64_t to,
                 struct aprof_trace_event *events) {
  uint64_t capacity = (uint64_t)1 << told->bits;
  while (from < to) {
    uint64_t place = from & (capacity - 1), part = capacity - place;
    part = part < to - from ? part : to - from;
    size_t bytes = part * sizeof *events;
    if (profile_read_at(d->fd, events, bytes, told->ring + place * sizeof *events) != bytes)
      return false;
    events += part;
    from += part;
  }
  return true;
}

/* How many of those copied, from the first on, have been overwritten meanwhile: all before the last
   that is not whole. */
static size_t torn(const struct aprof_trace_event *events, size_t count, uint64_t number,
                   uint32_t bits, uint64_t head) {
  size_t whole = count;
  while (whole && aprof_trace_whole(&events[whole - 1], number + whole - 1, bits, head))
    whole--;
  return whole;
}

uint64_t drain_head(const struct drain *d, const struct drain_ring *r) {
  struct told told;
  if (!ask(d, r, &told))
    return 0;
  return told.head < r->limit ? told.head : r->limit;
}

size_t drain_fetch(struct drain *d, struct drain_ring *r, struct aprof_trace_event *to, size_t room,
                   uint64_t *number) {
  struct told told, after;
  if (!ask(d, r, &told))
    return 0;
  r->unwritten = told.lost;
  if (!told.ring || told.bits > BITS_MOST || told.ring % sizeof *to)
    return 0;
  uint64_t capacity = (uint64_t)1 << told.bits;
  uint64_t head = told.head < r->limit ? told.head : r->limit;
  double fill = head > r->next ? (double)(head - r->next) / (double)capacity : 0;
  d->fill = fill > d->fill ? fill : d->fill;
  uint64_t oldest = told.head > capacity ? told.head - capacity : 0;
  uint64_t first = r->next > oldest ? r->next : oldest < head ? oldest : head;
  size_t count = head > first ? head - first : 0;
  count = count < room ? count : room;
  if (!count && first > r->next) { /* all up to the limit has been overwritten */
    r->missed += first - r->next;
    r->next = first;
  }
  if (!count || !copy(d, &told, first, first + count, to) || !ask(d, r, &after))
    return 0;
  size_t gone = torn(to, count, first, told.bits, after.head);
  memmove(to, to + gone, (count - gone) * sizeof *to);
  *number = first + gone;
  r->missed += *number - r->next;
  r->next = first + count;
  r->taken += count - gone;
  return count - gone;
}
