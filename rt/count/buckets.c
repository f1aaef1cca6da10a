/* SPDX-License-Identifier: MIT */
/* One histogram: what it takes of the profile's memory, and how it counts. See buckets.h. */
#include "buckets.h"

#include <string.h>

#include "rt/file/arena.h"
#include "rt/sys/lock.h"

#define CHUNK (32u * 1024u - (uint32_t)sizeof(struct aprof_chunk))
#define LINE 64u
#define GROWS 4u                                                          /* octaves at a time */
#define SIZES (APROF_HISTOGRAM_BUCKETS * 2u * 4u / APROF_HISTOGRAM_ALIGN) /* of what is carried */

#define STOCK 4096u /* bytes that a thread takes at once, ... */
#define LEAST 1024u /* ... and at least */

static uint32_t given_back[SIZES + 1]; /* offset / 8, by size / ALIGN; the next one lies in it */
static char *room, *room_end;

/* What threads have left of their stocks, zero but for this. */
struct rest {
  uint32_t next, size; /* offset / 8, bytes */
};
static uint32_t rests; /* offset / 8 */

void buckets_reset(void) {
  memset(given_back, 0, sizeof given_back);
  room = room_end = NULL;
  rests = 0;
}

/* -- pieces of memory, under rt.lock ------------------------------------------ */

/* The last quarter of the profile's memory is kept for what sums are made of. */
static bool may_grow(void) {
  return rt.header->used < rt.capacity / 4 * 3;
}

static void give_back(void *piece, uint32_t size) {
  *(uint32_t *)piece = given_back[size / APROF_HISTOGRAM_ALIGN];
  given_back[size / APROF_HISTOGRAM_ALIGN] = offset_of(piece);
}

static void keep_rest(char *from, const char *until) {
  uint32_t size = (uint32_t)(until - from);
  if (size >= LEAST) {
    *(struct rest *)from = (struct rest){rests, size};
    rests = offset_of(from);
  } else if (size != 0) {
    give_back(from, size);
  }
}

static bool more_room(void) {
  keep_rest(room, room_end);
  room = room_end = NULL;
  char *chunk = arena_chunk(APROF_CHUNK_HISTOGRAMS, 0, 0, CHUNK, 1);
  if (chunk == NULL || (uint64_t)(chunk + CHUNK - rt_base()) >> 35 != 0)
    return false; /* no offset reaches it */
  room = chunk;
  room_end = chunk + CHUNK;
  return true;
}

/* So many bytes, zero; NULL: no memory. What is more than a line of the cache shares none. */
static void *piece_new(uint32_t size) {
  uint32_t *last = &given_back[size / APROF_HISTOGRAM_ALIGN];
  if (*last != 0) {
    void *piece = at_offset(*last);
    *last = *(uint32_t *)piece;
    return memset(piece, 0, size);
  }
  if (size >= LINE && (uintptr_t)room % LINE != 0) {
    give_back(room, APROF_HISTOGRAM_ALIGN);
    room += APROF_HISTOGRAM_ALIGN;
  }
  if ((uint32_t)(room_end - room) < size && !more_room())
    return NULL;
  room += size;
  return room - size;
}

static uint32_t rounded(uint64_t size) {
  uint32_t to = size < LINE ? APROF_HISTOGRAM_ALIGN : LINE;
  return (uint32_t)(size + to - 1) / to * to;
}

static uint32_t counts_of(uint32_t octaves, bool two) {
  return octaves * (APROF_HISTOGRAM_BUCKETS / APROF_OCTAVES) << two;
}

static uint32_t size_of(uint32_t octaves, bool two) {
  uint32_t counts = octaves == 0 ? APROF_FEW << two : counts_of(octaves, two);
  return rounded(sizeof(struct aprof_buckets) + sizeof(uint16_t) * counts);
}

/* -- a thread's stock: by that thread, which a jump may take away from each line ------ */

static uintptr_t aligned(uintptr_t at, uint32_t size) {
  return size >= LINE ? at / LINE * LINE : at;
}

/* From the end of one, so that a single word changes. */
static void *piece_over(struct stock *s, uint32_t size) {
  for (uint32_t i = 0; i < STOCK_OVER; i++) {
    uintptr_t from = (uintptr_t)at_offset(s->over[i].at), until = from + s->over[i].size;
    if (s->over[i].size < size || aligned(until - size, size) < from)
      continue;
    until = aligned(until - size, size);
    s->over[i].size = (uint32_t)(until - from);
    return memset((void *)until, 0, size);
  }
  return NULL;
}

/* Those of two values from the beginning, where the last one can become longer as it is; others,
   which are half as large, from the end. */
static void *piece_of_stock(struct stock *s, uint32_t size, bool two) {
  void *over = piece_over(s, size);
  if (over != NULL)
    return over;
  uintptr_t until = (uintptr_t)s->end, from = aligned(until - size, size);
  if (until - (uintptr_t)s->at < (two ? size : until - from))
    return NULL;
  if (!two)
    return s->end = (char *)from;
  s->at += size;
  return s->at - size;
}

static uint32_t place_over(const struct stock *s) {
  uint32_t i = 0;
  while (i < STOCK_OVER && s->over[i].size != 0)
    i++;
  return i;
}

bool stock_takes(const struct stock *s) {
  return place_over(s) < STOCK_OVER;
}

static void add_over(struct stock *s, void *piece, uint32_t size) {
  uint32_t i = place_over(s);
  s->over[i].at = offset_of(piece);
  publish_fence();
  s->over[i].size = size;
}

void buckets_over(struct stock *s, struct aprof_buckets *h) {
  add_over(s, h, size_of(h->octaves, h->two));
}

static void over_back(struct stock *s) {
  for (uint32_t i = 0; i < STOCK_OVER; i++) {
    if (s->over[i].size != 0)
      give_back(at_offset(s->over[i].at), s->over[i].size);
    s->over[i].size = 0;
  }
}

void stock_fill(struct stock *s) {
  uint32_t left = (uint32_t)(s->end - s->at), size = STOCK;
  over_back(s);
  if (!rt.histograms || left >= STOCK / 2 || rt.header->used > rt.capacity / 4)
    return;
  char *piece = rests != 0 ? at_offset(rests) : NULL;
  if (piece != NULL) {
    struct rest *rest = (struct rest *)piece;
    size = rest->size;
    rests = rest->next;
    *rest = (struct rest){0, 0};
  } else if ((piece = piece_new(STOCK)) == NULL) {
    return;
  }
  if (left != 0)
    add_over(s, s->at, left);
  s->at = piece;
  s->end = piece + size;
}

void stock_empty(struct stock *s) {
  over_back(s);
  keep_rest(s->at, s->end);
  s->at = s->end = NULL;
}

/* -- one ------------------------------------------------------------------------ */

static void *piece(struct stock *s, uint32_t size, bool two) {
  if (s != NULL)
    return piece_of_stock(s, size, two);
  return may_grow() ? piece_new(size) : NULL;
}

struct aprof_buckets *buckets_new(struct stock *s, uint32_t octaves, bool two) {
  struct aprof_buckets *h = piece(s, size_of(octaves, two), two);
  if (h != NULL) {
    h->octaves = (uint8_t)octaves;
    h->two = two;
  }
  return h;
}

static uint32_t octaves_for(const struct aprof_buckets *h, uint32_t bucket) {
  for (uint32_t i = 0; i < (uint32_t)h->few << h->two; i++)
    bucket = h->count[i] > bucket ? h->count[i] : bucket;
  uint32_t octaves = (bucket >> 4) / GROWS * GROWS + GROWS;
  return octaves > 52 ? APROF_OCTAVES : octaves; /* from there on values are rounded */
}

struct aprof_buckets *buckets_larger(struct stock *s, const struct aprof_buckets *h,
                                     uint32_t bucket) {
  return buckets_new(s, octaves_for(h, bucket), h->two);
}

bool buckets_longer(struct stock *s, struct aprof_buckets *h, uint32_t bucket) {
  uint32_t octaves = octaves_for(h, bucket), before = size_of(h->octaves, h->two);
  uint32_t more = size_of(octaves, h->two) - before;
  if (h->octaves == 0 || h->carried != 0 || (char *)h + before != s->at ||
      (uintptr_t)(s->end - s->at) < more)
    return false;
  s->at += more;
  publish_fence();
  h->octaves = (uint8_t)octaves;
  return true;
}

static uint32_t carried_size(const struct aprof_buckets *h) {
  return (uint32_t)sizeof(uint32_t) * counts_of(h->octaves, h->two);
}

void buckets_free(struct aprof_buckets *h) {
  if (h->carried != 0)
    give_back(at_offset(h->carried), carried_size(h));
  give_back(h, size_of(h->octaves, h->two));
}

/* -- counts --------------------------------------------------------------------- */

void buckets_lost(void) {
  __atomic_fetch_add(&rt.header->lost_histograms, 1, __ATOMIC_RELAXED);
}

/* `times` 65536 more. */
static void carry(struct aprof_buckets *h, uint32_t at, uint32_t times) {
  if (h->carried == 0) {
    void *piece = piece_new(carried_size(h));
    if (piece == NULL) {
      buckets_lost();
      return;
    }
    publish_fence();
    h->carried = offset_of(piece);
  }
  ((uint32_t *)at_offset(h->carried))[at] += times;
}

__attribute__((used)) void buckets_carries(uint16_t *buckets, const uint16_t *count) {
  rt_lock();
  carry(buckets_of(buckets), (uint32_t)(count - buckets), 1);
  rt_unlock();
}

#if defined BUCKETS_CARRIES_KEPT
__asm__(".pushsection .text.unlikely, \"ax\", @progbits\n\t"
        ".globl buckets_carries_kept\n\t"
        ".hidden buckets_carries_kept\n\t"
        ".type buckets_carries_kept, @function\n"
        "buckets_carries_kept:\n\t"
        "pushq %rbp\n\t"
        "movq %rsp, %rbp\n\t"
        "pushq %rax\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n\t"
        "pushq %r8\n\tpushq %r9\n\tpushq %r10\n\tpushq %r11\n\t"
        "movq 16(%rbp), %rdi\n\t"
        "movq 24(%rbp), %rsi\n\t"
        "subq $40, %rsp\n\t"
        "andq $-16, %rsp\n\t"
        "movups %xmm0, (%rsp)\n\t"
        "movups %xmm1, 16(%rsp)\n\t"
        "cld\n\t"
        "call buckets_carries\n\t"
        "movups (%rsp), %xmm0\n\t"
        "movups 16(%rsp), %xmm1\n\t"
        "leaq -72(%rbp), %rsp\n\t"
        "popq %r11\n\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n\t"
        "popq %rdi\n\tpopq %rsi\n\tpopq %rdx\n\tpopq %rcx\n\tpopq %rax\n\t"
        "popq %rbp\n\t"
        "ret\n\t"
        ".size buckets_carries_kept, .-buckets_carries_kept\n\t"
        ".popsection");
#endif

void buckets_add_up(struct aprof_buckets *to, const struct aprof_buckets *from) {
  for (uint32_t i = 0; i < (uint32_t)from->few << from->two; i++) {
    uint32_t at = (uint32_t)from->count[i] << from->two | (i & from->two);
    if (++to->count[at] == 0)
      carry(to, at, 1);
  }
  const uint32_t *carried = from->carried != 0 ? at_offset(from->carried) : NULL;
  for (uint32_t i = 0; i < counts_of(from->octaves, from->two); i++) {
    uint32_t sum = (uint32_t)to->count[i] + from->count[i];
    uint32_t times = (sum >> 16) + (carried != NULL ? carried[i] : 0);
    to->count[i] = (uint16_t)sum;
    if (times != 0)
      carry(to, i, times);
  }
}

void buckets_empty(struct aprof_buckets *h) {
  if (h->carried != 0)
    memset(at_offset(h->carried), 0, carried_size(h));
  memset(h->count, 0, size_of(h->octaves, h->two) - sizeof *h);
  h->few = h->full = 0;
  h->users = 0;
}
