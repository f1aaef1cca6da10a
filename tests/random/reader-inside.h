/* SPDX-License-Identifier: MIT */
/*
 * The inside of the tests' reader: what it finds in a profile by number.
 *
 * Purpose: shared by reader.c and reader-requests.c. Cost, locking: as reader.h.
 */
#ifndef TESTS_RANDOM_READER_INSIDE_H
#define TESTS_RANDOM_READER_INSIDE_H

#include "reader.h"

#define SITES_MAX 65536u
#define NODES_MAX 65536u
#define BLOCKS_MAX 1024u
#define PATH 2048

struct reading {
  const struct aprof_header *header;
  uint64_t now;
  struct rows *rows;
  bool by_function;
  const struct aprof_psite *sites[SITES_MAX];
  const struct aprof_node *nodes[NODES_MAX];
  struct aprof_block const *blocks[BLOCKS_MAX];
  uint64_t block_exec[BLOCKS_MAX];
  uint32_t *seen; /* offsets of histograms already added: nodes share them */
  unsigned seen_count;
};

/* What lies at an offset; the element of that index in a chunk. */
const void *reader_at(const struct aprof_header *header, uint64_t offset);
const void *reader_element(const struct aprof_chunk *chunk, uint32_t index);

void reader_each_chunk(struct reading *r,
                       void (*visit)(struct reading *, const struct aprof_chunk *));
/* What there is by number is known from here on; freed by the caller. `rows`: where what is found
   goes, if anything does. */
struct reading *reader_begins(const struct aprof_header *header, struct rows *rows);
/* Writes the path of a node: root > child @ await. */
void reader_path(struct reading *r, uint32_t number, char *path);
/* The function that a span lies in, or nothing: outside futures. */
uint32_t reader_function(struct reading *r, uint32_t number);
const char *reader_site(struct reading *r, uint32_t number);
/* A row for each bucket; of two values' `second` is the other's. */
void reader_buckets(struct reading *r, const char *place, const char *what,
                    const struct aprof_buckets *h, uint32_t second);

#endif
