/* SPDX-License-Identifier: MIT */
/* Copies a profile, and later what of it has changed; see profile.h. */
#include "profile-copy.h"
#include "profile-named.h"

#include "clock.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* HOT must be copied at one moment for the ledger to close; WARM should be, and is copied behind;
   COLD was written before what refers to it, so it is read last. */
enum heat { COLD, WARM, HOT };

static enum heat heat_of(uint32_t type) {
  if (type == APROF_CHUNK_BLOCK || type == APROF_CHUNK_COUNTERS || type == APROF_CHUNK_FUTURES ||
      type == APROF_CHUNK_MISSES || type == APROF_CHUNK_REQUESTS || type == APROF_CHUNK_KINDS ||
      type == APROF_CHUNK_KIND_PARTS || type == APROF_CHUNK_TIERS || type == APROF_CHUNK_SLOWEST ||
      type == APROF_CHUNK_LOGGED || type == APROF_CHUNK_SHARES)
    return HOT;
  return type == APROF_CHUNK_HISTOGRAMS ? WARM : COLD;
}

/* -- the chunks there are ------------------------------------------------------------ */

/* False at the end. The size is never 0, so that every walk ends; type 0: of no use, or not
   yet. */
static bool read_part(const struct profile *p, int fd, uint64_t at, struct profile_part *part) {
  struct aprof_chunk chunk;
  if (at >= p->size || p->size - at < sizeof chunk ||
      profile_read_at(fd, &chunk, sizeof chunk, at) != sizeof chunk)
    return false;
  bool fits = chunk.size && chunk.size % APROF_PAGE == 0 && chunk.size <= p->size - at;
  *part = (struct profile_part){
      .at = at,
      .size = fits ? chunk.size : APROF_PAGE,
      .type = fits ? chunk.type : 0,
      .block = chunk.type == APROF_CHUNK_BLOCK ? chunk.first : chunk.owner,
      .sequence = UINT64_MAX,
  };
  if (part->type)
    memcpy(p->data + at, &chunk, sizeof chunk);
  return true;
}

/* Lists the chunks behind those known. A chunk's type is written last, and stays. */
static void list_parts(struct profile *p, int fd) {
  size_t known = 0;
  while (known < p->parts && p->part[known].type)
    known++;
  uint64_t at = known ? p->part[known - 1].at + p->part[known - 1].size : APROF_HEADER_SIZE;
  struct profile_part part;
  for (p->parts = known; read_part(p, fd, at, &part); at += part.size) {
    if (p->parts == p->part_room) {
      p->part_room = p->part_room ? p->part_room * 2 : 64;
      p->part = reallocate(p->part, p->part_room, sizeof *p->part);
    }
    p->part[p->parts++] = part;
  }
}

static uint64_t usable_size(struct profile *p, int fd) {
  struct stat st;
  struct aprof_header header;
  if (profile_read_at(fd, &header, sizeof header, 0) == sizeof header &&
      header.used > p->header.used)
    p->header.used = header.used;
  uint64_t size = p->header.used;
  if (fstat(fd, &st) == 0 && size > (uint64_t)st.st_size)
    size = (uint64_t)st.st_size;
  if (size > p->reserved)
    size = p->reserved;
  return size < APROF_HEADER_SIZE ? APROF_HEADER_SIZE : size;
}

/* -- copying -------------------------------------------------------------------------- */

static bool is_zero(const unsigned char *page, size_t length) {
  return !length || (!page[0] && !memcmp(page, page + 1, length - 1));
}

/* Empty pages, half of all histograms, take no memory here, and unchanged pages are not written to.
   True if one was written. */
static bool copy_range(struct profile *p, int fd, uint64_t at, uint64_t size, bool again) {
  unsigned char buffer[16 * APROF_PAGE];
  bool changed = false;
  for (uint64_t end = at + size; at < end;) {
    size_t room = sizeof buffer - at % APROF_PAGE; /* so that pages here are pages there */
    size_t part = end - at < room ? (size_t)(end - at) : room, done = 0;
    size_t got = profile_read_at(fd, buffer, part, at);
    while (done < got) {
      size_t length = APROF_PAGE - (at + done) % APROF_PAGE;
      if (length > got - done)
        length = got - done;
      if (again ? memcmp(p->data + at + done, buffer + done, length) != 0
                : !is_zero(buffer + done, length)) {
        memcpy(p->data + at + done, buffer + done, length);
        changed = true;
        if (p->fresh)
          p->fresh[(at + done) / APROF_PAGE] = 1;
      }
      done += length;
    }
    if (got < part)
      break;
    at += part;
  }
  return changed;
}

static bool copy_part(struct profile *p, int fd, struct profile_part *part) {
  bool again = part->copied;
  part->copied = true;
  return copy_range(p, fd, part->at + sizeof(struct aprof_chunk),
                    part->size - sizeof(struct aprof_chunk), again);
}

/* How long each is stands at its beginning. */
static void copy_named(struct profile *p, int fd, struct named *n) {
  uint64_t at, size;
  while (named_next(n, &at, &size))
    copy_range(p, fd, at, size, true);
  named_reach(n, p);
  while (named_next(n, &at, &size))
    copy_range(p, fd, at, size, true);
  named_free(n);
}

/* Copies the records that changed. No histogram but those they name can have changed. */
static void copy_counters(struct profile *p, int fd, const struct profile_part *part,
                          struct named *named) {
  struct aprof_counters record[256];
  uint64_t at = part->at + sizeof(struct aprof_chunk), end = part->at + part->size;
  while (at < end) {
    size_t wanted = end - at < sizeof record ? (size_t)(end - at) : sizeof record;
    size_t got = profile_read_at(fd, record, wanted, at);
    for (size_t i = 0; (i + 1) * sizeof *record <= got; i++) {
      void *mine = p->data + at + i * sizeof *record;
      if (!memcmp(mine, &record[i], sizeof *record))
        continue;
      memcpy(mine, &record[i], sizeof *record);
      if (p->histograms)
        named_add(named, p, &record[i]);
    }
    if (got < wanted)
      return;
    at += got;
  }
}

static void part_amounts(const void *record, const struct aprof_amount *amount[4]) {
  const struct aprof_kind_part *k = record;
  amount[0] = &k->wall;
  amount[1] = &k->exec;
  amount[2] = &k->queued;
  amount[3] = &k->waiting;
}

static void tier_amounts(const void *record, const struct aprof_amount *amount[4]) {
  const struct aprof_kind_tier *t = record;
  amount[0] = &t->calls;
  amount[1] = &t->exec;
  amount[2] = &t->waiting;
  amount[3] = &t->wall;
}

/* The same of records of `size` bytes that have four amounts. */
static void copy_amounts(struct profile *p, int fd, const struct profile_part *part,
                         struct named *named, size_t size,
                         void (*amounts_of)(const void *, const struct aprof_amount *[4])) {
  uint64_t at = part->at + sizeof(struct aprof_chunk), end = part->at + part->size;
  union {
    struct aprof_kind_part part;
    struct aprof_kind_tier tier;
  } record;
  for (; end - at >= size; at += size) {
    const struct aprof_amount *amount[4];
    if (profile_read_at(fd, &record, size, at) != size)
      return;
    if (!memcmp(p->data + at, &record, size))
      continue;
    memcpy(p->data + at, &record, size);
    amounts_of(&record, amount);
    for (size_t i = 0; p->histograms && i < 4; i++)
      named_add_amount(named, p, amount[i]);
  }
}

/* -- a live one ----------------------------------------------------------------------- */

enum {
  LONG_WAITS = 25, /* for each try, ... */
  SOME_PARTS = 64, /* ... of so few parts: of more a look takes as long as several waits */
};

static uint64_t sequence_of(int fd, const struct profile_part *part) {
  uint64_t sequence = 0;
  profile_read_at(fd, &sequence, sizeof sequence,
                  part->at + sizeof(struct aprof_chunk) + offsetof(struct aprof_block, sequence));
  return sequence;
}

/* What the threads are inside of: no event, some, or one that lasts since the look before. */
enum events { NO_EVENT, EVENTS, LONG_EVENT };

/* Marks the blocks that had events since they were looked at last. */
static enum events look_at_blocks(struct profile *p, int fd, bool *any) {
  enum events inside = NO_EVENT;
  for (size_t i = 0; i < p->parts; i++) {
    struct profile_part *part = &p->part[i];
    if (part->type != APROF_CHUNK_BLOCK)
      continue;
    uint64_t sequence = sequence_of(fd, part);
    bool went_on = sequence != part->sequence;
    if (sequence & 1 && inside != LONG_EVENT)
      inside = went_on ? EVENTS : LONG_EVENT;
    part->moved |= went_on;
    part->sequence = sequence;
    *any |= part->moved;
  }
  return inside;
}

/* Of all blocks up to the highest number: has it moved? What has no block counts as moved. */
static unsigned char *moved_blocks(const struct profile *p, uint32_t *count) {
  uint32_t most = (uint32_t)(p->size / APROF_PAGE);
  unsigned char *still = allocate(most + 1, 1);
  for (size_t i = 0; i < p->parts; i++)
    if (p->part[i].type == APROF_CHUNK_BLOCK && p->part[i].block <= most)
      still[p->part[i].block] = !p->part[i].moved;
  *count = most + 1;
  return still;
}

static void copy_hot_part(struct profile *p, int fd, struct profile_part *part,
                          struct named *named) {
  if (part->type == APROF_CHUNK_COUNTERS && part->copied)
    copy_counters(p, fd, part, named);
  else if (part->type == APROF_CHUNK_KIND_PARTS && part->copied)
    copy_amounts(p, fd, part, named, sizeof(struct aprof_kind_part), part_amounts);
  else if (part->type == APROF_CHUNK_TIERS && part->copied)
    copy_amounts(p, fd, part, named, sizeof(struct aprof_kind_tier), tier_amounts);
  else
    copy_part(p, fd, part);
}

/* Histograms come behind the counters that name them: where the process does not hold still they
   have what these have, and may have more. */
static void copy_hot(struct profile *p, int fd) {
  uint32_t blocks;
  struct named named = {0};
  unsigned char *still = moved_blocks(p, &blocks);
  for (size_t i = 0; i < p->parts; i++) {
    struct profile_part *part = &p->part[i];
    bool owned = part->type == APROF_CHUNK_BLOCK || part->type == APROF_CHUNK_COUNTERS ||
                 part->type == APROF_CHUNK_MISSES || part->type == APROF_CHUNK_KIND_PARTS;
    if (heat_of(part->type) != HOT ||
        (part->copied && owned && part->block < blocks && still[part->block]))
      continue;
    part->moved = false;
    copy_hot_part(p, fd, part, &named);
  }
  for (size_t i = 0; i < p->parts && p->histograms; i++)
    if (heat_of(p->part[i].type) == WARM && !p->part[i].copied)
      copy_part(p, fd, &p->part[i]);
  copy_named(p, fd, &named);
  free(still);
}

/* Copies at one moment, if the process holds still for that long; blocks that moved meanwhile are
   copied again. An event that makes a ring, or whose thread has no processor, lasts milliseconds:
   its end is awaited, as it is no reason to give up. */
static void copy_live(struct profile *p, int fd, int tries) {
  int waits = tries * LONG_WAITS;
  p->consistent = false;
  for (int try = 0; try < tries && !p->consistent; try++) {
    bool any = false;
    p->size = usable_size(p, fd);
    list_parts(p, fd);
    enum events inside = look_at_blocks(p, fd, &any);
    bool waits_on = inside == LONG_EVENT && waits > 0;
    if (waits_on || (inside && try < tries - 1)) {
      nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
      waits -= waits_on ? 1 + (int)(p->parts / SOME_PARTS) : 0;
      try -= waits_on;
      continue;
    }
    if (any || !p->read_tick)
      copy_hot(p, fd);
    struct aprof_header header = p->header;
    profile_read_at(fd, &header, sizeof header, 0);
    p->read_tick = profile_clock(&header);
    p->size = usable_size(p, fd);
    list_parts(p, fd);
    any = false;
    p->consistent = !look_at_blocks(p, fd, &any) && !any && !inside;
  }
}

/* -- the whole ------------------------------------------------------------------------ */

/* Labels, or tiers, have come. */
static bool is_labelled(struct profile *p) {
  if (p->kinds_named == p->header.kinds &&
      !memcmp(p->tiers_named, p->header.tier_names, sizeof p->tiers_named))
    return false;
  p->kinds_named = p->header.kinds;
  memcpy(p->tiers_named, p->header.tier_names, sizeof p->tiers_named);
  return true;
}

static void copy_cold(struct profile *p, int fd) {
  bool named = is_labelled(p);
  for (size_t i = 0; i < p->parts; i++) {
    struct profile_part *part = &p->part[i];
    uint32_t type = part->type;
    if (type == APROF_CHUNK_SITES || type == APROF_CHUNK_MODULES)
      named |= copy_part(p, fd, part);
    else if (type == APROF_CHUNK_NODES)
      copy_part(p, fd, part);
  }
  /* names_new makes texts printable in the copy, so they are copied again with the sites that name
     them. */
  for (size_t i = 0; named && i < p->parts; i++)
    if (p->part[i].type == APROF_CHUNK_STRINGS)
      copy_part(p, fd, &p->part[i]);
  p->renamed |= named;
}

void profile_fill(struct profile *p, int fd, bool live, int tries) {
  p->size = usable_size(p, fd);
  list_parts(p, fd);
  if (live)
    copy_live(p, fd, tries);
  else {
    copy_hot(p, fd);
    p->consistent = true;
  }
  /* What the counters refer to was written before them. */
  profile_read_header(fd, "", &p->header, true);
  p->size = usable_size(p, fd);
  list_parts(p, fd);
  copy_cold(p, fd);
  profile_index(p);
}
