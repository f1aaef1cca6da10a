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

static uint32_t given_back[SIZES + 1]; /* offset / 8, by size / ALIGN; the next one lies in it */
static char *room, *room_end;

void buckets_reset(void) {
  memset(given_back, 0, sizeof given_back);
  room = room_end = NULL;
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

static bool more_room(void) {
  if (room != room_end)
    give_back(room, (uint32_t)(room_end - room));
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

struct aprof_buckets *buckets_new(uint32_t octaves, bool two) {
  struct aprof_buckets *h = may_grow() ? piece_new(size_of(octaves, two)) : NULL;
  if (h != NULL) {
    h->octaves = (uint8_t)octaves;
    h->two = two;
  }
  return h;
}

struct aprof_buckets *buckets_larger(const struct aprof_buckets *h, uint32_t bucket) {
  for (uint32_t i = 0; i < (uint32_t)h->few << h->two; i++)
    bucket = h->count[i] > bucket ? h->count[i] : bucket;
  uint32_t octaves = (bucket >> 4) / GROWS * GROWS + GROWS;
  if (octaves > 52) /* from there on values are rounded */
    octaves = APROF_OCTAVES;
  return buckets_new(octaves, h->two);
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
