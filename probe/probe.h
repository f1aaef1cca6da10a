/* SPDX-License-Identifier: MIT */
/*
 * Probes: lines of a running program watched from outside, without compiling or stopping it.
 *
 * In: a live process, a place in its source, expressions of C over what is visible there. Out: how
 * often it came by, and what the expressions were (struct probe_result), which show/ writes.
 *
 *     debug.h       what of the process is debugged: modules, lines, functions, by libdw
 *     place.h       FILE:LINE or FUNCTION to addresses
 *     machine.h     registers, as the kernel and as DWARF number them
 *     location.h    where DWARF says that something is, of one hit
 *     entry.h       what arguments were, as the caller has it
 *     number.h      arithmetic of C
 *     value.h       types, and values of them
 *     expression.h  a->b[i].c == 3
 *     perf.h        perf events of another process's threads, their rings, and why not
 *     breakpoint.h  hardware breakpoints on them
 *     tally.h       what was seen, added up
 *     uprobe.h      breakpoint instructions instead, for who is privileged
 *     watch.h       all together, until it is time to end
 *
 * The same events sample processes that are recorded (sampler.h, with mappings.h and generated.h
 * for what lies at an address); what comes of that is the recording's.
 *
 * Nothing is written to the process, unless breakpoint instructions are asked for. Each hit stops
 * its thread for some microseconds, whoever asks.
 * Locking: none; one thread.
 */
#ifndef APROF_PROBE_PROBE_H
#define APROF_PROBE_PROBE_H

#include "read/arena.h"
#include "read/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  PROBE_ADDRESSES = 64,
  PROBE_HARDWARE = 4, /* breakpoints that a processor has */
  PROBE_SHOWN = 16,
};
enum { PROBE_RANGES = 129, PROBE_ZERO = 64 };

/* One place that is armed. */
struct probe_place {
  uint64_t address;     /* in the process */
  const char *file;     /* or NULL */
  const char *function; /* or NULL */
  uint64_t line;        /* 0: unknown */
  bool inlined;         /* that function's body, into another one */
  uint64_t hits;        /* as the kernel counted them */
};

/* What an expression was, over all hits. */
struct probe_value {
  char *text;
  uint64_t count;
};
struct probe_shown {
  const char *text; /* the expression */
  uint64_t numbers; /* of the values that are known */
  bool is_number;   /* all of them; then also: */
  int64_t least, most;
  double sum;
  uint64_t range[PROBE_RANGES]; /* by powers of two, see probe_range() */
  struct probe_value *value;    /* the most frequent come first, once settled */
  size_t values;
  uint64_t known, other; /* hits with a value; of these, with one that is not in the list */
  uint64_t late;         /* of these, read from memory after the hit */
  uint64_t unknown;      /* hits without, ... */
  char *why;             /* ... as the last of them says; or NULL */
};

/* Range 64 is 0, 65 is 1, 66 is 2 and 3, 67 4 to 7, 63 is -1, 62 -3 and -2 and so on: what lies in
   one. */
static inline void probe_range(unsigned range, int64_t *least, int64_t *most) {
  *least = *most = 0;
  if (range > PROBE_ZERO) {
    *least = (int64_t)((uint64_t)1 << (range - PROBE_ZERO - 1));
    *most = (int64_t)((uint64_t)*least - 1 + (uint64_t)*least);
  } else if (range < PROBE_ZERO) {
    *most = (int64_t)(0 - ((uint64_t)1 << (PROBE_ZERO - range - 1)));
    *least = range == 0 ? INT64_MIN : 2 * *most + 1;
  }
}

/* What an expression was at one hit. */
struct probe_seen {
  char *text;      /* NULL: not known, ... */
  const char *why; /* ... as this says */
  int64_t number;
  bool is_number, late;
};

/* One hit that matched, while it is kept. */
struct probe_hit {
  uint64_t time;     /* ns of CLOCK_MONOTONIC */
  uint64_t duration; /* ns until it returned; UINT64_MAX: not asked, or not known */
  int tid;
  uint32_t place;
  char *stack;              /* or NULL */
  struct probe_seen *value; /* of each expression; NULL: none is asked */
};

/* What kind of requests came by. */
struct probe_kind {
  const char *kind;
  uint64_t hits, requests, all; /* requests: that came by; all: there were */
  uint64_t slow; /* of those that came by: among the slowest, if these are asked for */
};

struct probe_frame_count {
  char *stack; /* "main < run < read_one", the innermost last; of a future that is traced: what it
                  is of before that, "get > read; " */
  uint64_t count;
};

struct probe_result {
  struct arena arena;
  const char *what; /* the process, for people */
  int64_t pid;
  const char *asked; /* the place, as it was asked for */
  uint64_t began;    /* ns of CLOCK_MONOTONIC */
  uint64_t elapsed;  /* ns that it was watched */
  struct probe_place place[PROBE_ADDRESSES];
  size_t places;
  uint64_t late_places;           /* of these, in code that was loaded later; ... */
  uint64_t late_places_most;      /* ns: ... which ran for so long unwatched, at most */
  uint64_t unwatched_places;      /* in such code, too, that could not be armed */
  uint64_t hits;                  /* of all places */
  uint64_t seen;                  /* of these, with what was asked of them */
  uint64_t lost;                  /* of these hits, not looked at: they came too fast */
  uint64_t matched;               /* of these, where the condition held */
  uint64_t undecided;             /* of those seen: it could not be told whether it holds, ... */
  const char *why_undecided;      /* ... as the last of them says; or NULL */
  const char *condition;          /* or NULL */
  uint64_t threads, late_threads; /* watched; of these, begun after the first ones */
  uint64_t late_most;             /* ns: one of these ran for so long unwatched, at most */
  uint64_t unwatched;             /* threads that could not be armed, ... */
  const char *why_unwatched;      /* ... as the kernel says of the last of them; or NULL */
  bool too_hot;                   /* it came by too often, and was switched off */
  uint64_t ceiling;               /* hits a second */
  bool ended;                     /* the process has */
  struct probe_shown shown[PROBE_SHOWN];
  size_t showns;
  /* From the entry of a function to its return. */
  bool has_duration;
  struct distribution duration;
  uint64_t durations, duration_sum; /* ns */
  uint64_t unpaired;                /* entries whose return was not seen */
  uint64_t over, overs;             /* ns: only longer ones count as matched; so many */
  struct probe_frame_count *stack;
  size_t stacks;
  /* Of a process that is recorded meanwhile: hits are kept until it is known whose they were. */
  struct probe_hit *hit;
  size_t kept, room;
  uint64_t unkept; /* that there was no room for */
  bool joined;     /* then: */
  struct probe_kind *kind;
  size_t kinds;
  uint64_t outside, unseen;   /* hits of no request; that it is not known of */
  double slowest;             /* per cent: only hits of so many count; 0: all */
  uint64_t left_out;          /* hits of others */
  const char *label;          /* or NULL */
  const char *why_not_joined; /* it is profiled, but ...; or NULL */
};

#endif
