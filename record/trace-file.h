/* SPDX-License-Identifier: MIT */
/*
 * The file of a recording: a header, then frames.
 *
 * Purpose: what the recorder writes and the replay reads; aprof-trace(5) describes it. A frame
 * stands by itself: who finds the file cut off has all frames before. Numbers are little-endian,
 * as in the profile.
 * Readers treat every byte as hostile.
 *
 * Order: all ranges of the image that it began with, the MARK of that; EVENTS of all blocks, each
 * block's in order, with ranges of what has been added to the tables of names; then, where it was
 * finished, all ranges of the image that it ended with, its MARK, and END. KERNEL, CODE and NAMED
 * stand anywhere before that; CODE before the records whose addresses lie in it. So do, where
 * places were watched meanwhile, the PROBE of each, before its HITS.
 */
#ifndef APROF_RECORD_TRACE_FILE_H
#define APROF_RECORD_TRACE_FILE_H

#include <aprof/profile.h>
#include <aprof/trace.h>

#define TRACE_MAGIC "aprofTR1"
#define TRACE_VERSION 1u
#define TRACE_KIND 240u
#define TRACE_FRAME_MAGIC 0x6d724661u /* "aFrm" */
#define TRACE_RAW_MOST (1u << 20)     /* bytes of a frame, before it is compressed */
#define TRACE_STORED_MOST (TRACE_RAW_MOST + (TRACE_RAW_MOST >> 3))

struct trace_header {
  char magic[8];
  uint32_t version;         /* TRACE_VERSION */
  uint32_t header_size;     /* sizeof(struct trace_header) */
  uint32_t profile_version; /* of the images and the events: APROF_PROFILE_VERSION */
  uint32_t clock_source;    /* enum aprof_clock_source */
  uint64_t mult;            /* ns per tick << 32 */
  uint64_t begin_tick;
  int64_t begin_ns;    /* CLOCK_REALTIME then */
  uint64_t start_time; /* of the process, as in the profile's header */
  int32_t pid;
  uint32_t flags; /* enum trace_flags */
  char aprof[24]; /* version of the command that wrote it */
  uint64_t reserved[5];
};

enum trace_flags {
  TRACE_FLIGHT = 1, /* what was in the rings: there is no image of its beginning */
  TRACE_SHARED = 2, /* of requests that began meanwhile, those of a share; of what else there is,
                       which threads it held */
};

enum trace_type {
  TRACE_IMAGE = 1,  /* ranges of the profile, each a struct trace_range and its bytes; `block`: enum
                       trace_image */
  TRACE_MARK = 2,   /* the image `block` is complete. number: 1, if no thread had an event while it
                       was copied; first: tick when it had been copied */
  TRACE_EVENTS = 3, /* struct aprof_trace_event[] of a block, from event `number` on; first, last:
                       ticks between which it was fetched */
  TRACE_SHARE = 4,  /* from tick `first` on, `number` of a million requests that begin are kept:
                       a struct trace_share. Written again some time later with the counts of then */
  TRACE_SIEVE = 9,  /* some requests were taken out of the file, and its events numbered anew: a
                       struct trace_sieve */
  TRACE_END = 5,    /* first: the last tick; number: events in the file; lost: in it */
  TRACE_KERNEL = 6, /* the kernel's side: struct trace_kernel, each with its addresses behind it;
                       number: ns of processor time for which a sample stands, 0: there are none;
                       block: enum trace_kernel_flags; lost: records that are missing */
  TRACE_CODE = 7,   /* code in the process's memory: struct trace_code, each with its path */
  TRACE_NAMED = 8,  /* code that was generated: struct trace_named, each with its name */
  TRACE_PROBE = 16, /* a place that is watched, `block`; number: enum trace_probe_flags. Texts, each
                       with its NUL: what requests that come by are marked with, or none; as it was
                       asked for; what else it is called */
  TRACE_HITS = 17, /* struct trace_hit[] of the place `block`, in the order that they were found out
                      in */
};

/* What the kernel says of a thread at a moment. */
struct trace_kernel {
  uint64_t tick;
  int32_t tid;
  uint16_t frames; /* addresses behind this, 8 bytes each: where it was, then its callers */
  uint8_t what;    /* enum trace_kernel_what */
  uint8_t kernel;  /* a sample: it ran in the kernel */
};

enum trace_kernel_what {
  TRACE_SAMPLE = 1,
  TRACE_ON = 2,        /* it goes on on a processor */
  TRACE_PREEMPTED = 3, /* it left one, and would have gone on */
  TRACE_BLOCKED = 4,   /* it left one, and waits */
  TRACE_OVER = 5,      /* it has ended */
  TRACE_UNKNOWN = 6,   /* records of it are missing before this */
  TRACE_WATCHED = 7,   /* from then on ON, PREEMPTED and BLOCKED are told of it */
};

enum trace_kernel_flags {
  TRACE_USER_ONLY = 1, /* what runs in the kernel was not sampled */
  TRACE_SWITCHES = 2,  /* ON, PREEMPTED and BLOCKED are there */
  TRACE_THROTTLED = 4, /* the kernel gave fewer samples than were asked for */
};

/* Where an offset of a file is in memory, from that tick on. */
struct trace_code {
  uint64_t tick, start, end, offset;
  uint8_t build_id[20];
  uint32_t build_id_length; /* 0: not known */
  uint32_t path_length;     /* bytes behind this; 0: of no file */
  uint32_t reserved;
};

struct trace_named {
  uint64_t start, end;
  uint32_t length; /* bytes behind this */
  uint32_t reserved;
};

enum trace_probe_flags {
  TRACE_IF_HIT = 1, /* samples count in requests that came by, from there on */
};

enum trace_image {
  TRACE_BASE = 0,  /* as it began */
  TRACE_LATER = 1, /* what was added to the tables of names since */
  TRACE_LAST = 2,  /* as it ended */
};

struct trace_range {
  uint64_t at, size; /* offset in the profile */
};

/* Requests of the process so far; differences between frames count. */
struct trace_share {
  uint64_t begun, kept;
};

/* What is left: requests that took so long (ns; 0: any), of kinds that match ("": any), and those
   of which that was not known yet. `left_out`: so many are not. */
struct trace_sieve {
  uint64_t over, left_out;
  char kind[TRACE_KIND];
};

struct trace_hit {
  uint64_t tick;
  int32_t tid; /* as the process has it in its own namespace */
  uint32_t reserved;
};

struct trace_frame {
  uint32_t magic;  /* TRACE_FRAME_MAGIC */
  uint16_t type;   /* enum trace_type */
  uint16_t flags;  /* enum trace_packing */
  uint32_t raw;    /* bytes that it holds */
  uint32_t stored; /* bytes behind this; the next frame follows at once */
  uint32_t block;
  uint32_t check; /* CRC-32 of this, with 0 here, and of what is stored */
  uint64_t number;
  uint64_t first, last;
  uint64_t lost; /* EVENTS: events of the block for which there was no ring, up to these; what was
                    overwritten is missing by its numbers */
  uint64_t reserved;
};

enum trace_packing {
  TRACE_PACKED = 1, /* by zstd; else as it is */
};

#endif
