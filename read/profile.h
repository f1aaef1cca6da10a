/* SPDX-License-Identifier: MIT */
/*
 * The profile reader: a private, bounds-checked copy of a profile.
 *
 * Purpose: the one place that touches the bytes of a profile (layout:
 * <aprof/profile.h>). They may be written while we read, torn by a kill, or
 * hostile: what is checked here once stays checked, because all later code
 * works on the copy.
 * Cost: one copy of what is used (the key table is left out), at most
 * PROFILE_LIMIT bytes. Of a live profile the blocks that had events in between are
 * copied again, up to a few times: `consistent` says how that ended.
 * Locking: none.
 */
#ifndef APROF_READ_PROFILE_H
#define APROF_READ_PROFILE_H

#include <aprof/profile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_LIMIT ((size_t)4 << 30)
#define PROFILE_STRING_LIMIT 4096u

/* A run of equal elements inside the copy. */
struct profile_run {
  const void *elements;
  uint32_t first, count, owner;
};

struct profile_runs {
  struct profile_run *run;
  size_t count, room;
};

/* A chunk of the file. */
struct profile_part {
  uint64_t at, size;
  uint64_t sequence;    /* of a block: when it was looked at last */
  uint32_t type, block; /* type 0: none yet; block: its own, or its owner's number */
  bool copied, moved;   /* moved: of a block: it had events since it was copied */
};

struct profile {
  struct aprof_header header; /* a copy whose strings are terminated */
  unsigned char *data;
  size_t size, reserved;
  struct profile_runs sites, nodes, modules, blocks, counters, futures, misses, requests, kinds,
      kind_parts, shares;
  uint64_t read_tick; /* the profile's clock when the counters were copied; 0 for
                         a process that has ended */
  bool histograms;    /* they are wanted */
  uint32_t kinds_named, tiers_named[APROF_TIERS]; /* whose texts have been copied */
  bool renamed; /* sites have come or changed; names_new cleans their texts */
  struct profile_part *part;
  size_t parts, part_room;
  unsigned char *fresh; /* of each page: the last refresh has changed it; NULL before one */
  bool consistent;      /* no thread had an event while they were copied */
};

/*
 * Copies the profile open as `fd`. `live`: its process runs, so the clock is
 * read and the copy repeated until consistent, some 40 times at most; an event that lasts is
 * awaited for a tenth of a second. Without `histograms` these, which are most
 * of it, are empty. `what` names it in the message that is printed on failure. Returns NULL
 * then.
 */
struct profile *profile_read(int fd, const char *what, bool live, bool histograms);
/* Brings the copy of a live profile up to date. Cost: what was written meanwhile, and the sites and
   nodes. A busy process is copied again once or twice only. */
void profile_refresh(struct profile *, int fd);
/* Whether the last refresh has changed that histogram. */
bool profile_is_fresh(const struct profile *, uint32_t reference);
void profile_free(struct profile *);

/* Reads and checks the header only; false prints a message unless `quiet`. */
bool profile_read_header(int fd, const char *what, struct aprof_header *header, bool quiet);

enum profile_state {
  PROFILE_LIVE, /* its process runs */
  PROFILE_BUSY, /* its process has ended, its totals are being written */
  PROFILE_LEFT, /* nobody has it any more */
};

/* By its first bytes only. */
enum profile_kind {
  PROFILE_OURS,
  PROFILE_OTHER_VERSION,
  PROFILE_UNFINISHED, /* its process is about to make it, or was killed then */
  PROFILE_DAMAGED,    /* or no profile at all */
  PROFILE_KINDS
};
enum profile_kind profile_kind(int fd);

/* Each returns NULL for a number that is not there. */
const struct aprof_psite *profile_site(const struct profile *, uint32_t number);
const struct aprof_node *profile_node(const struct profile *, uint32_t number);
const struct aprof_module *profile_module(const struct profile *, uint32_t number);
const struct aprof_block *profile_block(const struct profile *, uint32_t number);
/* What a block has counted at a node. */
const struct aprof_counters *profile_counters(const struct profile *, uint32_t block,
                                              uint32_t node);
/* By the number that the runtime has for a record: its offset / 128. */
const struct aprof_future *profile_future(const struct profile *, uint32_t index);

const struct aprof_request *profile_request(const struct profile *, uint32_t number);
/* The request that the future is a part of, over or not; NULL: of none. */
const struct aprof_request *profile_request_of(const struct profile *, const struct aprof_future *);
uint32_t profile_request_number(const struct profile *, const struct aprof_future *);
/* Its share of that; NULL: all of it is. */
const struct aprof_share *profile_share_of(const struct profile *, const struct aprof_future *);
const struct aprof_kind *profile_kind_of(const struct profile *, uint32_t number);
/* A thread's part of that kind; the next one where `*run`, 0 at first, is handed in again. NULL: no
   more. */
const struct aprof_kind_part *profile_kind_part(const struct profile *, size_t *run,
                                                uint32_t number);
/* By their references (offset / 8); of the slowest, all APROF_SLOWEST. */
const struct aprof_kind_tier *profile_tier(const struct profile *, uint32_t reference);
const struct aprof_slow *profile_slowest(const struct profile *, uint32_t reference);
/* All APROF_LOGGED places of the log; NULL: there is none. */
const struct aprof_slow *profile_log(const struct profile *);
/* The name of a tier, or NULL. */
const char *profile_tier_name(const struct profile *, uint32_t tier);

/* A string by its reference (offset / 8); NULL where there is none or its end
   is not within PROFILE_STRING_LIMIT. */
const char *profile_string(const struct profile *, uint32_t reference);

/* A reference to the histogram that counters name by `buckets`; of one of two values to the one of
   that number. 0: there is none. */
uint32_t profile_buckets(const struct profile *, uint64_t buckets, bool two, bool second);

/* ... of an amount's. */
uint32_t profile_amount_buckets(const struct profile *, const struct aprof_amount *);

/* What a histogram has, by its reference. Where that is numbers of buckets, a count is one of
 * those.
 */
struct profile_counts {
  const uint16_t *count;
  const uint32_t *carried; /* or NULL: times 65536, beside each count */
  uint32_t counts, step;   /* so many, each `step` from the one before */
  bool numbers;
  uint64_t at, end, carried_at, carried_end; /* where all that lies in the file */
};
struct profile_counts profile_counts(const struct profile *, uint32_t reference);
/* It is asked for in a moment: the processor fetches it meanwhile. */
void profile_counts_soon(const struct profile *, uint32_t reference);

/* One more than the highest number of any node or site there is. */
uint32_t profile_node_end(const struct profile *);
uint32_t profile_site_end(const struct profile *);

/* The tick that it is of. One that did nothing before it was killed lived on for as long as it was
   seen to: `lived`, or 0. */
uint64_t profile_now(const struct profile *, bool live, uint64_t lived);

#endif
