/* SPDX-License-Identifier: MIT */
/*
 * The trace: what events are in a thread's ring, in the order in which they happened there.
 *
 * Purpose: one definition for who writes it (rt/trace/), who records it and who tests it. A ring is
 * a chunk of the profile (APROF_CHUNK_RING, owner: its block), made at the thread's first event
 * while somebody traces; it stays the block's, whichever thread leases that.
 * Cost: two words an event, written by one thread, without a lock.
 * Readers treat it as hostile. Event number n lies at n % capacity; capacity is a power of two,
 * the chunk's `count`. block.ring_head is how many there have ever been, written behind them. One
 * that was copied is whole if both its words have the lap that its number asks for and, by the
 * head after copying, it is not older than the capacity: aprof_trace_whole. What wrapped is
 * known by number.
 *
 * The ledger. An event's tick is that at which the ledger closes and opens segments, so the sums of
 * the segments between events are the counters, in ticks, node by node:
 *
 *   of a thread   what runs there is at its node from RUNNING, POLLED or NODE to the thread's next
 *                 event that says otherwise; then, until it runs again, the thread is in what OTHER
 *                 or IDLE said last (THREAD to begin with)
 *   of a future   born it is queued, at its function's node; WAITING, AGAIN and ASIDE: it waits at
 *                 their await's node; READY: it is queued since then. Each event that opens a
 *                 segment of it, and its end, closes the one before, at its own tick
 *
 * In a ring the order of events is that in which they were found out. Some are of an earlier moment
 * than those before them: BORN, READY, JOIN and REQUEST_END always may be, WAITING where it says
 * what a future does that does not run here.
 *
 * A future is named by the index of its record, from its BORN to its end; of those that were born
 * before, the profile has the records.
 */
#ifndef APROF_TRACE_H
#define APROF_TRACE_H

#include <aprof/profile.h>
#include <stdint.h>

/* An event is a tick, a kind, a future and a node; what else it has, in MORE behind it: 56 bits A,
   48 bits B. */
enum aprof_trace_kind {
  APROF_TRACE_NONE = 0, /* never written */
  APROF_TRACE_MORE = 1,

  /* -- the thread -- */
  /* Its events are whole from here on; what was open here before is not in the ring. Tick: since
     when it does what it does; future, node: what runs, 0: nothing does.
     MORE: A = epoch | rest << 32 | state << 40, both of enum aprof_thread_state, rest: what it does
     while nothing runs; B = node of the span that is open outside futures.
     MORE: A = number of the lease (block.leases); B = its events so far (block.sequence / 2) */
  APROF_TRACE_THREAD = 2,
  /* It has ended. */
  APROF_TRACE_GONE = 3,
  /* Profiling went off, or was reset: what is open here ends, and so does what futures of that
     epoch have open; they are detached. THREAD follows. */
  APROF_TRACE_EPOCH = 4,
  /* Tracing was off. MORE: A = so many of the thread's events are in no record. THREAD follows. */
  APROF_TRACE_GAP = 5,
  /* No future runs here from now on; IDLE: and the thread is in its poller. */
  APROF_TRACE_OTHER = 6,
  APROF_TRACE_IDLE = 7,
  /* The innermost span outside futures is that node from now on; 0: there is none. */
  APROF_TRACE_OUTSIDE = 8,
  /* What seemed to run here since its last event was another thread's: this one was in OTHER. */
  APROF_TRACE_STOLEN = 9,

  /* -- lives -- */
  /* Node: its function's. Queued from here on.
     MORE: A = serial of its id | create site << 32; B = index of its creator | id's block << 28 */
  APROF_TRACE_BORN = 10,
  /* Its create came to nothing: it never was. */
  APROF_TRACE_UNBORN = 11,
  /* It is of another function than was thought, and what it has open is that one's: its node.
     MORE: B = node of the await that it is in, 0: none */
  APROF_TRACE_NAMED = 12,
  /* It is over, running or not: + enum aprof_how. */
  APROF_TRACE_DONE = 13,
  APROF_TRACE_FAILED = 14,
  APROF_TRACE_CANCELLED = 15,

  /* -- what futures do -- */
  /* It is queued since then: told when that ends, when it goes to another request, or when nothing
     more is told of it, as its epoch is over. Node: its waker's, beneath its function; 0: not
     known. */
  APROF_TRACE_READY = 16,
  /* What runs here, or an outside thread where nothing does, woke it. If it runs, its next wait
     ends as it begins. */
  APROF_TRACE_WAKE = 17,
  /* It runs here from now on, at that node: its function's or a span's. */
  APROF_TRACE_RUNNING = 18,
  /* The same; the wait behind it goes on if AGAIN is next, else it is over and counts. */
  APROF_TRACE_POLLED = 19,
  /* It waits, at that await's node; AGAIN: in the wait that it was polled in; ASIDE: for what runs
     on its stack. */
  APROF_TRACE_WAITING = 20,
  APROF_TRACE_AGAIN = 21,
  APROF_TRACE_ASIDE = 22,
  /* Its last WAITING here was none: it has run until now, at that node, and so has its thread; it
     waits at the same await from now on. */
  APROF_TRACE_RAN = 23,
  /* It runs on at that node: a span was entered, or left. */
  APROF_TRACE_NODE = 24,

  /* -- requests -- */
  /* The future is a part of it from then on. Node: 0.
     MORE: A = aprof_trace_request, 0: of none; B = enum aprof_trace_join */
  APROF_TRACE_JOIN = 25,
  /* Future: that it begins with, which joins it later; node: that one's function's.
     MORE: A = as of JOIN; B = number of the request that ran there, 0: none | enum
     aprof_request_flags << 20 */
  APROF_TRACE_REQUEST_BEGIN = 26,
  /* Tick: when it ended, so that begin and end are its wall time.
     MORE: A = as of JOIN; B = number of its kind | enum aprof_request_flags << 16 |
     APROF_TRACE_UNDONE */
  APROF_TRACE_REQUEST_END = 27,
  /* In front of REQUEST_END, where it has a traceparent. MORE, MORE: aprof_trace_token; where it
     came with one: MORE: its parent's span, aprof_trace_parent */
  APROF_TRACE_TOKEN = 28,
  /* The future is in that tier from now on: number in the node's place, 0: none. */
  APROF_TRACE_TIER = 29,

  /* -- in a trace of some requests -- */
  /* What is left out runs here from now on, until the thread says otherwise. Future: 0; node: that
     it runs at. */
  APROF_TRACE_HELD = 30,
  APROF_TRACE_KINDS
};

enum aprof_trace_join {
  APROF_TRACE_ROOT = 1,   /* the request began with it, as its root */
  APROF_TRACE_CALLED = 2, /* a body that was called: no member, and of the request of its caller */
  APROF_TRACE_LEFT = 4,   /* of none that is kept: nothing more is told of it. A = 0 */
};

/* Bits of header.mode: who wants it. */
enum aprof_trace_mode {
  APROF_TRACE_FLIGHT = 1, /* the option trace:flight: from the start */
  APROF_TRACE_RECORD = 2, /* a recorder */
  APROF_TRACE_SHARED = 4, /* ... of some requests: header.trace_share of those that begin are kept;
                             of others, and of what is part of none, it is told which thread they
                             hold, in HELD. One that comes to a request that is kept is BORN then,
                             and does what follows its JOIN */
};

#define APROF_TRACE_FUTURE_BITS 28u
#define APROF_TRACE_NODE_BITS 20u
#define APROF_TRACE_TICK_BITS 56u
#define APROF_TRACE_REQUEST_BITS 20u
#define APROF_TRACE_UNDONE (1u << 24)  /* in B of REQUEST_END: it never was */
#define APROF_TRACE_USUALLY (4u << 20) /* bytes of a ring where header.trace_size is 0 */
#define APROF_TRACE_LEAST (64u << 10)
#define APROF_TRACE_MOST (1u << 30)

#define APROF_TRACE_MASK(bits) (((uint64_t)1 << (bits)) - 1)

struct aprof_trace_event {
  uint64_t w[2]; /* tick (or A), lap above it; future, node (together, or B), kind, lap */
};

/* Bytes of the next ring: `wanted`, or a quarter of what rings may still take of the five eighths
   of all that futures leave, down to a power of two; 0: there is no room for one. */
static inline uint64_t aprof_trace_ring_size(uint64_t wanted, uint64_t capacity, uint64_t used,
                                             uint64_t rings) {
  uint64_t share = (capacity - (used - rings)) / 8 * 5;
  uint64_t room = share > rings ? (share - rings) / 4 : 0;
  uint64_t size = wanted < APROF_TRACE_LEAST ? APROF_TRACE_LEAST : wanted;
  if (size > room)
    size = room;
  return size < APROF_TRACE_LEAST ? 0 : (uint64_t)1 << (63 - __builtin_clzll(size));
}

/* Nobody records any more: it goes on as the option trace:flight says, or not at all. */
static inline void aprof_trace_recorded(struct aprof_header *h) {
  uint32_t flies = __atomic_load_n(&h->mode, __ATOMIC_RELAXED) & APROF_TRACE_FLIGHT;
  uint32_t next = !flies ? 0 : h->flight_share ? flies | APROF_TRACE_SHARED : flies;
  uint32_t was = __atomic_exchange_n(&h->mode, next, __ATOMIC_SEQ_CST);
  if (!flies) {
    aprof_trace_switch(h, 0);
    return;
  }
  __atomic_store_n(&h->trace_share, h->flight_share, __ATOMIC_RELAXED);
  __atomic_store_n(&h->trace_until, UINT64_MAX, __ATOMIC_RELAXED);
  if ((was & APROF_TRACE_RECORD) && ((was | next) & APROF_TRACE_SHARED))
    aprof_trace_anew(h);
}

/* -- written ------------------------------------------------------------------------------ */

static inline uint64_t aprof_trace_lap(uint64_t number, uint32_t capacity_bits) {
  return number >> capacity_bits << 56; /* its last 8 bits */
}

/* Each word is written at once, so one that is read is of one event. */
static inline void aprof_trace_put(struct aprof_trace_event *to, uint64_t lap, uint32_t kind,
                                   uint64_t a, uint64_t b) {
  __atomic_store_n(&to->w[0], (a & APROF_TRACE_MASK(56)) | lap, __ATOMIC_RELAXED);
  __atomic_store_n(&to->w[1], (b & APROF_TRACE_MASK(48)) | (uint64_t)kind << 48 | lap,
                   __ATOMIC_RELAXED);
}

/* What is B of an event that is no MORE. A node beyond its bits is none. */
static inline uint64_t aprof_trace_what(uint32_t future, uint32_t node) {
  return (future & APROF_TRACE_MASK(APROF_TRACE_FUTURE_BITS)) |
         (uint64_t)(node >> APROF_TRACE_NODE_BITS ? 0 : node) << APROF_TRACE_FUTURE_BITS;
}

/* -- read ----------------------------------------------------------------------------------- */

/* Of a copied event. */
static inline int aprof_trace_whole(const struct aprof_trace_event *e, uint64_t number,
                                    uint32_t capacity_bits, uint64_t head_after) {
  uint64_t lap = aprof_trace_lap(number, capacity_bits);
  return number < head_after && head_after - number <= (uint64_t)1 << capacity_bits &&
         (e->w[0] & ~APROF_TRACE_MASK(56)) == lap && (e->w[1] & ~APROF_TRACE_MASK(56)) == lap;
}
static inline uint32_t aprof_trace_kind(const struct aprof_trace_event *e) {
  return (uint32_t)(e->w[1] >> 48) & 0xffu;
}
static inline uint64_t aprof_trace_a(const struct aprof_trace_event *e) {
  return e->w[0] & APROF_TRACE_MASK(56);
}
static inline uint64_t aprof_trace_b(const struct aprof_trace_event *e) {
  return e->w[1] & APROF_TRACE_MASK(48);
}
static inline uint32_t aprof_trace_future(const struct aprof_trace_event *e) {
  return (uint32_t)(e->w[1] & APROF_TRACE_MASK(APROF_TRACE_FUTURE_BITS));
}
static inline uint32_t aprof_trace_node(const struct aprof_trace_event *e) {
  return (uint32_t)(e->w[1] >> APROF_TRACE_FUTURE_BITS & APROF_TRACE_MASK(APROF_TRACE_NODE_BITS));
}
/* The event's whole tick: ticks are truncated to 56 bits, `near` is one of the same time (an
   epoch's begin, the last event's). */
static inline uint64_t aprof_trace_tick(const struct aprof_trace_event *e, uint64_t near) {
  uint64_t passed = (aprof_trace_a(e) - near) << 8; /* how far behind, or before, in 56 bits */
  return near + (uint64_t)((int64_t)passed / 256);
}

/* A request in A: its number, and the last bits of its id. */
static inline uint64_t aprof_trace_request(uint32_t number, uint64_t id) {
  return number == 0 ? 0
                     : (number & APROF_TRACE_MASK(APROF_TRACE_REQUEST_BITS)) |
                           (id & APROF_TRACE_MASK(56 - APROF_TRACE_REQUEST_BITS))
                               << APROF_TRACE_REQUEST_BITS;
}

/* A traceparent's 192 bits as the A and B of two MOREs, and back. */
static inline void aprof_trace_token(const uint64_t trace[2], uint64_t span, uint64_t ab[4]) {
  ab[0] = trace[0] & APROF_TRACE_MASK(56);
  ab[1] = trace[0] >> 56 | (trace[1] & APROF_TRACE_MASK(40)) << 8;
  ab[2] = trace[1] >> 40 | (span & APROF_TRACE_MASK(32)) << 24;
  ab[3] = span >> 32;
}
static inline void aprof_trace_token_read(const uint64_t ab[4], uint64_t trace[2], uint64_t *span) {
  trace[0] = ab[0] | ab[1] << 56;
  trace[1] = (ab[1] >> 8 & APROF_TRACE_MASK(40)) | ab[2] << 40;
  *span = (ab[2] >> 24 & APROF_TRACE_MASK(32)) | ab[3] << 32;
}
static inline void aprof_trace_parent(uint64_t span, uint64_t ab[2]) {
  ab[0] = span & APROF_TRACE_MASK(56);
  ab[1] = span >> 56;
}
static inline uint64_t aprof_trace_parent_read(const uint64_t ab[2]) {
  return ab[0] | ab[1] << 56;
}

#endif
