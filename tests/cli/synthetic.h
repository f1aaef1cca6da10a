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
#include <stddef.h>

enum {
  SYNTHETIC_SITES = 256,
  SYNTHETIC_NODES = 256,
  SYNTHETIC_FUTURES = 1535,
  SYNTHETIC_STRINGS = 32 * 1024,
  SYNTHETIC_ROOM = 2 * 1024 * 1024,
};

struct synthetic {
  _Alignas(4096) unsigned char bytes[SYNTHETIC_ROOM];
  struct aprof_header *header; /* bytes, as one */
  struct aprof_psite *sites;
  struct aprof_node *nodes;
  struct aprof_future *futures;
  struct aprof_module *modules;
  char *strings;
  size_t strings_used;
  uint32_t site_count, node_count, future_count, module_count;
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
uint32_t synthetic_histogram(struct synthetic *s, uint64_t **counts);
struct aprof_future *synthetic_future(struct synthetic *s, uint32_t epoch, uint32_t node,
                                      enum aprof_future_state state, uint64_t last);
uint32_t synthetic_index(const struct synthetic *s, const struct aprof_future *f);

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
