/* SPDX-License-Identifier: MIT */
/* Shared texts; see serve-document.h. */
#include "serve-document.h"

#include "read/util.h"

#include <stdlib.h>
#include <time.h>

enum { GOOD_FOR = 10 }; /* times what it cost */

static size_t held;

int64_t monotonic_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct document *document_make(document_writer *write, void *context) {
  struct document *d = allocate(1, sizeof *d);
  FILE *out = open_memstream(&d->bytes, &d->length);
  bool written = out && write(context, out);
  if (!out || fclose(out) || !written) {
    free(d->bytes);
    free(d);
    return NULL;
  }
  d->holders = 1;
  held += d->length;
  return d;
}

struct document *document_hold(struct document *d) {
  if (d)
    d->holders++;
  return d;
}

void document_release(void *document) {
  struct document *d = document;
  if (!d || --d->holders)
    return;
  held -= d->length;
  free(d->bytes);
  free(d);
}

size_t documents_held(void) {
  return held;
}

struct document *latest_get(struct latest *k, document_writer *write, void *context) {
  int64_t begin = monotonic_now();
  if (begin >= k->good_until) {
    document_release(k->document);
    k->document = document_make(write, context);
    k->made = monotonic_now();
    k->cost = k->made - begin;
    k->good_until = k->made + GOOD_FOR * k->cost;
  }
  return document_hold(k->document);
}

void latest_drop(struct latest *k) {
  document_release(k->document);
  *k = (struct latest){0};
}
