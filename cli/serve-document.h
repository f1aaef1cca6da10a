/* SPDX-License-Identifier: MIT */
/*
 * What is sent, once for all who ask: texts that are made, kept for a while and shared.
 *
 * Purpose: a thousand who ask at once cost one reading, and one packing. A text stays good for ten
 * times as long as making it took, so that making takes a tenth of a processor at most. Cost: one
 * copy of each text that anybody still has. Locking: none; one thread.
 */
#ifndef APROF_CLI_SERVE_DOCUMENT_H
#define APROF_CLI_SERVE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct document {
  char *bytes;
  size_t length;
  unsigned holders;
  bool kept;               /* it is the newest of its kind: not for who takes it slowly alone */
  size_t left_out;         /* processes that fit, and are not in it */
  struct document *packed; /* once somebody has asked for it */
};

/* The same as gzip (RFC 1952), made once for all: a head, blocks that need no other ones, an end.
   So the blocks of several documents behind each other are one stream, too. */
enum { PACKED_HEAD = 10, PACKED_END = 10 };
/* The document's own; NULL without memory for it. */
struct document *document_packed(struct document *);
/* A stream of packed documents: its head, and the end of one that was `crc` and `length` so far. */
struct packing {
  uint32_t crc;
  uint64_t length;
};
const char *packing_head(void);
void packing_add(struct packing *, const struct document *packed);
void packing_end(const struct packing *, char end[PACKED_END]);

/* False: there is nothing to write about any more. */
typedef bool document_writer(void *context, FILE *out);

/* Held once, by the caller; NULL where `write` was false. */
struct document *document_make(document_writer *write, void *context);
struct document *document_hold(struct document *);
/* Takes NULL, too; as MHD wants it. */
void document_release(void *);
/* Bytes of all that are held, but for the newest ones. */
size_t documents_held(void);

/* The newest one of a kind, or that there is none. */
struct latest {
  struct document *document;
  int64_t made, cost; /* monotonic ns; ns */
  int64_t good_until;
};

/* Held for the caller; made anew where it is no longer good. */
struct document *latest_get(struct latest *, document_writer *write, void *context);
void latest_drop(struct latest *);

int64_t monotonic_now(void); /* ns */

#endif
