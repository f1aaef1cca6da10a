/*
 * Profiles made to measure: a writer of <aprof/profile.h> for tests, which
 * shares no code with the runtime.
 *
 * Purpose: valid profiles with given counters, futures and threads, and the
 * bytes to damage them. Ticks are ns (monotonic clock) unless a test says else.
 * Cost: everything lies in one buffer of fixed size. Locking: none.
 */
#ifndef TESTS_CLI_SYNTHETIC_H
#define TESTS_CLI_SYNTHETIC_H

#include <aprof/abi.h>
#include <aprof/profile.h>
#include <stdbool.h>
#include <stddef.h>

enum {
  SYNTHETIC_SITES = 256,
  SYNTHETIC_NODES = 256,
  SYNTHETIC_FUTURES = 1535,
  SYNTHETIC_STRINGS = 32 * 1024,
  SYNTHETIC_KINDS = 16,
  SYNTHETIC_TIERS = 64,
  SYNTHETIC_REQUESTS = 64,
  SYNTHETIC_ROOM = 2 * 1024 * 1024,
};

struct synthetic {
  _Alignas(4096) unsigned char bytes[SYNTHETIC_ROOM];
  struct aprof_header *header; /* bytes, as one */
  struct aprof_psite *sites;
  struct aprof_node *nodes;
  struct aprof_future *futures;
  struct aprof_module *modules;
  struct aprof_kind *kinds; /* these three: from the first of them on */
  struct aprof_kind_tier *tiers;
  struct aprof_request *requests;
  char *strings;
  size_t strings_used;
  uint32_t site_count, node_count, future_count, module_count, tier_count, request_count;
};

/* A live-looking, empty profile of a process that never was: epoch 1 since tick
   1000, nodes 1 and 2 (other). malloc'd; free() it. */
struct synthetic *synthetic_new(void);

uint32_t synthetic_string(struct synthetic *s, const char *text);
uint32_t synthetic_site(struct synthetic *s, enum aprof_site_kind kind, const char *name,
                        const char *file, uint32_t line, uint32_t column);
/* A node; site 0 is "not written yet". */
uint32_t synthetic_node(struct synthetic *s, uint32_t parent, uint32_t site, int is_await);
/* A thread's block, with room for its counters behind it. */
struct aprof_block *synthetic_block(struct synthetic *s, uint32_t number);
struct aprof_counters *synthetic_counters(struct synthetic *s, uint32_t block, uint32_t node);
/* An empty histogram; its reference, and its counts. */
/* What counters name it by, and its counts; of two values, in turn. */
uint64_t synthetic_buckets(struct synthetic *s, uint16_t **counts);
uint64_t synthetic_ended(struct synthetic *s, uint16_t (**counts)[2]);
/* So many of one amount. */
uint64_t synthetic_all_of(struct synthetic *s, bool two, uint64_t amount, uint64_t count);
struct aprof_future *synthetic_future(struct synthetic *s, uint32_t epoch, uint32_t node,
                                      enum aprof_future_state state, uint64_t last);
uint32_t synthetic_index(const struct synthetic *s, const struct aprof_future *f);

/* Requests of a label (or NULL) and the function of a site, all over; those that wait go on. */
struct aprof_kind *synthetic_kind(struct synthetic *s, const char *label, uint32_t function);
/* One more of it, with its times in the sums, maxima and histograms. */
void synthetic_book(struct synthetic *s, struct aprof_kind *kind, uint64_t wall, uint64_t queued,
                    uint64_t exec, uint64_t waiting);
/* The number of a tier. */
uint32_t synthetic_tier(struct synthetic *s, const char *name);
void synthetic_book_tier(struct synthetic *s, struct aprof_kind *kind, uint32_t tier,
                         uint64_t calls, uint64_t exec, uint64_t waiting, uint64_t wall);
/* A thread's part of that kind, and the same of it alone. */
struct aprof_kind_part *synthetic_part(struct synthetic *s, uint32_t block,
                                       const struct aprof_kind *kind);
void synthetic_book_part(struct synthetic *s, struct aprof_kind_part *part, uint64_t wall,
                         uint64_t queued, uint64_t exec, uint64_t waiting);
void synthetic_book_part_tier(struct synthetic *s, struct aprof_kind_part *part, uint32_t tier,
                              uint64_t calls, uint64_t exec, uint64_t waiting, uint64_t wall);
/* The next in the log of slow requests. */
struct aprof_slow *synthetic_logged(struct synthetic *s, const struct aprof_kind *kind,
                                    uint64_t wall);
/* The next of the slowest of a kind. */
struct aprof_slow *synthetic_slow(struct synthetic *s, struct aprof_kind *kind, uint64_t begin,
                                  uint64_t wall);
/* One that goes on, of a label's kind or of none (NULL). */
struct aprof_request *synthetic_request(struct synthetic *s, const struct aprof_kind *kind,
                                        uint32_t function, uint64_t begin);
uint32_t synthetic_request_number(const struct synthetic *s, const struct aprof_request *r);

/* A chunk of any kind, as the runtime lays it out; its elements. */
void *synthetic_chunk(struct synthetic *s, uint32_t type, uint32_t owner, uint32_t first,
                      uint32_t count, uint32_t element);

/* An unlinked file that holds the profile, or its first `length` bytes. */
int synthetic_file(const struct synthetic *s, size_t length);

/* A profile of everything: two threads, folded sites, epochs, histograms, live
   futures of every state. What the damage is done to. */
struct synthetic *synthetic_rich(void);

#endif
/* SPDX-License-Identifier: MIT */
