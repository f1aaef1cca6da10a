/* SPDX-License-Identifier: MIT */
/*
 * The profile: layout of the file that holds a process's live data.
 *
 * Purpose: what rt/ and cli/ share, with aprof/trace.h. The runtime writes it
 * through one shared mapping; the reader may map it at any moment, also after
 * the process was killed, and must treat every byte as hostile.
 * Cost: nothing here is converted, summed or sorted by the writer.
 * Locking: none. Each field says who writes it. Counters are plain 64-bit
 * stores by the one thread that leases their block. What a reader derives
 * (live, created, wall, sums over functions) is never stored, so the ledger's
 * equations hold for any moment it looks.
 *
 * Everything is referenced by offset from the start of the file, never by
 * pointer. 0 is "none" for every offset and index.
 *
 *   page 0..7   struct aprof_header          (APROF_HEADER_SIZE)
 *   then        chunks, back to back, each a multiple of APROF_PAGE and headed
 *               by struct aprof_chunk; `used` is where the next one will go.
 *               A chunk whose type is 0 was being made: skip `size` bytes, or
 *               one page where size is 0 too.
 *
 * Units: *_tick is a reading of the profile's clock, ticks an amount of it.
 * Nanoseconds are ticks * mult >> 32 with a 128-bit product (mult: see fit).
 *
 * The partition (the reader's arithmetic):
 *   leaf            every counters record (thread block x node) is a leaf; its
 *                   sums are converted to ns each on their own, then added
 *   open segment    a future that lives adds (end - last) to exec, waiting or
 *                   queued by its state, at its node / await node; end is now
 *                   for the current epoch, else the end of its epoch.
 *                   Running futures whose thread is dead (recovered profile)
 *                   end at the greatest tick found anywhere in the file
 *   function wall   queued + exec + waiting, children counted nowhere twice
 *   live            futures of the current epoch; detached: those of an older
 *                   epoch not older than reset_epoch, plus the counter
 *   created         done + failed + cancelled + detached + live
 *   thread elapsed  exec of its block + idle + other + its open segment
 */
#ifndef APROF_PROFILE_H
#define APROF_PROFILE_H

#include <stdint.h>

#define APROF_PROFILE_MAGIC "aprofPF1"
#define APROF_PROFILE_VERSION 18
#define APROF_PAGE 4096u
#define APROF_HEADER_SIZE (8u * APROF_PAGE)
#define APROF_DIRECTORIES 4u /* /dev/shm/aprof-UID; if it is somebody else's, aprof-UID.1, ... */
#define APROF_EPOCHS 256u /* a ring: epoch e lies in slot e % APROF_EPOCHS */

#define APROF_TIERS 64u /* tier 1 stands in tier_names[1]; 0 is none */
#define APROF_KINDS 257u
#define APROF_KIND_CHUNK 16u /* kinds, and parts of them, to a chunk */
#define APROF_KIND_CHUNKS ((APROF_KINDS + APROF_KIND_CHUNK - 1) / APROF_KIND_CHUNK)
#define APROF_LABEL_MOST 63u /* bytes of a label */
#define APROF_SLOWEST 16u    /* requests kept of a kind, ... */
#define APROF_LOGGED 256u    /* ... and of all kinds in the log, the latest */
#define APROF_SLOW_TIERS 8u  /* ... with so many of their tiers, those with the most time */
#define APROF_REQUESTS 4096u /* in detail at a time */

enum aprof_clock_source {
  APROF_CLOCK_TSC = 1,
  APROF_CLOCK_MONOTONIC = 2, /* ticks are ns */
  APROF_CLOCK_VIRTUAL = 3,   /* ticks are ns, advanced by the program */
};

/*
 * What a thread sheds while its events cost more than header.overhead_ppm allows: at
 * each step this and all before it. Counts are exact and the partition holds at each.
 */
enum aprof_step {
  APROF_STEP_NONE = 0,
  APROF_STEP_HISTOGRAMS = 1, /* no histograms */
  APROF_STEP_TREE = 2,   /* a new future's node is a root, whatever called or created it */
  APROF_STEP_COARSE = 3, /* its clock moves on only when the kernel's tick has (4 ms):
                            sums are right in expectation; no maxima */
  APROF_STEP_COUNTS = 4, /* its clock moves on every so many events, and around idle:
                            sums say nothing */
  APROF_STEPS
};

#define APROF_COARSE_NS 4000000u /* of the virtual clock; others: the kernel's */

struct aprof_epoch {
  uint64_t begin_tick;
  uint64_t end_tick; /* 0 while it is the current one. While profiling is off there
                        is an epoch too: it ends where it begins */
};

struct aprof_header {
  char magic[8];        /* written last at creation */
  uint32_t version;     /* APROF_PROFILE_VERSION */
  uint32_t header_size; /* APROF_HEADER_SIZE */
  uint64_t capacity;    /* bytes the mapping may grow to */
  uint64_t used;        /* atomic; end of the last chunk */

  /* The process; constant. */
  int32_t pid;
  int32_t parent_pid;
  uint64_t start_time;   /* field 22 of /proc/PID/stat: tells a reused pid */
  int64_t started_at_ns; /* CLOCK_REALTIME at creation of the profile */
  char boot_id[40];      /* of /proc/sys/kernel/random/boot_id */
  char host[64];
  char command[256];     /* program's short name, then its arguments, cut */
  char dir[256];         /* absolute directory that totals go to */
  char name[128];        /* PROG of PROG.PID.json: no slash, printable */

  /* The clock. */
  uint32_t clock_source;  /* enum aprof_clock_source */
  uint32_t pad0;
  uint64_t tick0;         /* one pair of readings at creation: the profile's clock */
  uint64_t mono0_ns;      /* ... and CLOCK_MONOTONIC */
  uint64_t estimated_mult; /* ns per tick << 32, by a short measurement: mostly within 1e-3 */
  uint64_t fit_mult;      /* atomic; 0 until a reader has fitted tick0/mono0 against
                             a second pair at least APROF_FIT_NS later, then frozen.
                             Clocks other than TSC: 1 << 32 from the start */
  uint64_t event_cost_mticks; /* calibrated cost of a suspend/resume pair halved:
                             thousandths of a tick per event; 0: not measured */

  /* Constant. */
  uint64_t mapped_at; /* where the process has this header: what its addresses begin from */

  /* Control; written by the runtime and by `aprof on|off|reset`. What gates and events look at
     lies in one line of the cache. */
  uint32_t enabled __attribute__((aligned(64))); /* atomic; what every gate's flag points to */
  uint32_t epoch;        /* atomic; current, from 1 */
  uint64_t virtual_now;  /* atomic; the virtual clock's reading */
  uint32_t reset_epoch;  /* atomic; counters and futures of blocks and epochs
                            before it count as zero */
  uint32_t control_lock; /* atomic; aprof_control_word of who is changing enabled, epoch and
                            reset_epoch */
  /* The trace (aprof/trace.h). Written under control_lock by who records, and by any thread that
     finds that it has come to its end. */
  uint32_t mode;        /* enum aprof_trace_mode: who wants it. Whether it is on says `usual` */
  uint32_t usual;       /* atomic; the epoch, and APROF_TRACED: threads that know this number have
                           fast events, and none knows one with that bit */
  uint64_t trace_until; /* atomic; the first event from this tick on finds that nobody has prolonged
                           the trace: it goes off */
  uint64_t log_over;    /* atomic; ticks: requests that take so long are logged, below. UINT64_MAX:
                           nobody asks */
  uint32_t recorder;    /* atomic; aprof_control_word of who records; 0: nobody */
  uint32_t traces;      /* atomic; how often it was switched on */
  uint64_t recorder_start; /* as start_time, of that process */
  struct aprof_epoch epochs[APROF_EPOCHS];

  /* Counts; atomic adds on slow paths. Events look at some of this line. */
  uint32_t sites __attribute__((aligned(64)));
  uint32_t nodes;
  uint32_t blocks;
  uint32_t modules;
  uint32_t kinds;         /* atomic; so many there are. Number 0: all that had no room, "(other)" */
  uint32_t roots;         /* 1: a root has begun: requests without one are none (aprof_kind) */
  uint64_t folded_nodes;
  uint64_t other_nodes;      /* paths sent to (other): cap or memory reached */
  uint64_t lost_futures;     /* no memory for a record: not in any other count */
  uint64_t lost_histograms;  /* no memory for a histogram: sums are complete */
  uint64_t lost_events;      /* events without a thread block */
  /* Atomic; what each request writes has a line of its own. */
  uint64_t begun_requests __attribute__((aligned(64))); /* all so far */
  uint64_t kept_requests;    /* ... that traces of a share have taken */
  uint64_t free_requests;    /* the runtime's: list of records */
  uint32_t trace_share;      /* atomic; of 2^32 requests that begin a trace with APROF_TRACE_SHARED
                                keeps so many; UINT32_MAX: all. Written by who records */
  uint32_t flight_share;     /* the same of the option trace:flight; 0: not only of requests */
  uint64_t delays;           /* nodes of kind DELAYED so far; at most APROF_DELAYS */
  uint64_t lost_delays;      /* that had no node, or fell behind more holds than are remembered */
  uint64_t detached_swept;   /* records of old epochs recycled (see counters) */
  uint64_t signals;          /* dumps asked by signal so far */
  uint64_t exit_tick;        /* when the process asked for its totals at exit; 0:
                                it did not. The reader's `now` for that dump */
  uint32_t exit_kind;        /* 1: exit(), 2: quick_exit */
  uint32_t totals_written;   /* set by the dump that wrote the exit totals */

  /* Governing; constant once measured. */
  uint32_t overhead_ppm; /* ceiling: millionths of a thread's time; 0: none */
  uint32_t confined; /* 1: the process gave up system calls: nothing new has room since */
  uint64_t step_cost_mticks[APROF_STEPS]; /* event_cost_mticks at each step */
  uint64_t general_cost_mticks; /* what an event takes beyond that where it is not one
                                   of the usual */

  /* Modules whose gates were left alone: built by a plugin of another ABI. */
  uint32_t refused_modules; /* atomic */
  uint32_t refused_abi;     /* of the first of them, and its file's name */
  char refused_name[64];

  /* The process, too; constant. */
  char aprof[24];          /* the runtime's version */
  uint8_t build_id[24];    /* of the program */
  uint32_t build_id_length; /* 0: it has none */
  uint32_t processors;     /* that it might run on at the start; 0: not known */
  /* Requests. */
  uint32_t tier_names[APROF_TIERS]; /* strings, as psite.name; 0: from here on there is none. The
                                       last: all that had no room, "(other)" */
  uint64_t lost_requests; /* atomic; that had no record: their futures are part of none */
  uint64_t lost_shares;   /* atomic; futures whose time could not be told apart any more: what they
                             had from then on is in no request */
  uint64_t slow_missed;   /* atomic; requests that were not looked at, whether they are among the
                             slowest, as another thread was about to keep one */
  uint64_t trace_size; /* bytes of each ring that is made from now on; 0: APROF_TRACE_USUALLY */
  /* A log of requests that have ended, for who follows the process from outside: that one writes
     log_over, and prolongs the lease. */
  uint64_t log_until; /* atomic; the first that ends behind this tick puts the log out */
  uint64_t logged;    /* atomic; so many so far: request number n lies in place n % APROF_LOGGED */
  uint32_t log;       /* atomic; offset / 8 of the places; 0: none yet */
  uint32_t pad2;
  char container[72];      /* its id, or its kind; "": none, or it cannot be told */
  uint64_t set_aside; /* atomic; the file has memory up to there, by who records; or 0 */
};

#define APROF_TRACED (1u << 31)
/* Names a trace in the records of its requests; never 0. */
static inline uint16_t aprof_trace_mark(uint32_t traces) {
  return (uint16_t)(traces | 0x8000u);
}
/* From now on it is that epoch. Under control_lock; the trace may go off meanwhile. */
static inline void aprof_epoch_begins(struct aprof_header *h, uint32_t epoch) {
  uint32_t seen = __atomic_load_n(&h->usual, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&h->usual, &seen,
                                      (epoch & ~APROF_TRACED) | (seen & APROF_TRACED), 0,
                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
  __atomic_store_n(&h->epoch, epoch, __ATOMIC_RELEASE);
}
/* The current epoch ends then, unless it is one of being off, which has no length. */
static inline void aprof_epoch_next(struct aprof_header *h, uint64_t now, int on) {
  uint32_t epoch = h->epoch;
  struct aprof_epoch next = {now, on ? 0 : now};
  if (h->enabled)
    h->epochs[epoch % APROF_EPOCHS].end_tick = now;
  h->epochs[(epoch + 1) % APROF_EPOCHS] = next;
  aprof_epoch_begins(h, epoch + 1);
}
/* Profiling goes on or off; returns whether it was on. Under control_lock, as the next one. */
static inline int aprof_switch(struct aprof_header *h, int on, uint64_t now) {
  int before = h->enabled != 0;
  if (before != !!on) {
    aprof_epoch_next(h, now, on);
    __atomic_store_n(&h->enabled, !!on, __ATOMIC_RELEASE);
  }
  return before;
}
/* All starts from zero. */
static inline void aprof_start_again(struct aprof_header *h, uint64_t now) {
  h->reset_epoch = h->epoch + 1;
  aprof_epoch_next(h, now, h->enabled != 0);
}
/*
 * A process in the header: its pid, and above it what tells its PID namespace, made of that one's
 * inode number; 0: not known. The same pid is another process in another namespace, where
 * nobody can ask whether it lives.
 */
#define APROF_CONTROL_PID_BITS 22u /* as many as Linux has */
static inline uint32_t aprof_control_word(uint32_t pid, uint64_t space) {
  return (pid & ((1u << APROF_CONTROL_PID_BITS) - 1)) |
         (space ? (uint32_t)(space % 1022 + 1) << APROF_CONTROL_PID_BITS : 0);
}
static inline uint32_t aprof_control_pid(uint32_t word) {
  return word & ((1u << APROF_CONTROL_PID_BITS) - 1);
}
static inline int aprof_control_together(uint32_t a, uint32_t b) {
  return a >> APROF_CONTROL_PID_BITS && a >> APROF_CONTROL_PID_BITS == b >> APROF_CONTROL_PID_BITS;
}
/*
 * Takes control_lock where nobody has it, or its holder is known to be dead; gives it back by storing
 * 0. False: that process has it. `me`: the caller's word.
 */
static inline int aprof_control_take(struct aprof_header *h, uint32_t me, uint32_t *holder,
                                     int (*is_dead)(uint32_t pid)) {
  *holder = 0;
  return __atomic_compare_exchange_n(&h->control_lock, holder, me, 0, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED) ||
         (aprof_control_together(*holder, me) && is_dead(aprof_control_pid(*holder)) &&
          __atomic_compare_exchange_n(&h->control_lock, holder, me, 0, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED));
}

/* Threads begin what they trace anew: what is to be traced has changed. */
static inline void aprof_trace_anew(struct aprof_header *h) {
  __atomic_fetch_add(&h->traces, 1, __ATOMIC_SEQ_CST);
}
/* The trace goes on, under control_lock; or off, also by who finds that its time is over. */
static inline void aprof_trace_switch(struct aprof_header *h, int on) {
  if (!on) {
    __atomic_fetch_and(&h->usual, ~APROF_TRACED, __ATOMIC_SEQ_CST);
  } else if (!(__atomic_load_n(&h->usual, __ATOMIC_SEQ_CST) & APROF_TRACED)) {
    __atomic_fetch_add(&h->traces, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(&h->usual, APROF_TRACED, __ATOMIC_SEQ_CST);
  }
}

#define APROF_FIT_NS 20000000ull /* 20 ms: the pair's jitter is then below 5e-6 */

enum aprof_chunk_type {
  APROF_CHUNK_SITES = 1,    /* struct aprof_psite[], numbered from `first` */
  APROF_CHUNK_STRINGS = 2,  /* NUL-terminated strings */
  APROF_CHUNK_NODES = 3,    /* struct aprof_node[], numbered from `first` */
  APROF_CHUNK_BLOCK = 4,    /* one struct aprof_block; `first` is its number */
  APROF_CHUNK_COUNTERS = 5, /* struct aprof_counters[]: block `owner`, nodes from
                               `first` */
  APROF_CHUNK_HISTOGRAMS = 6,
  APROF_CHUNK_FUTURES = 7, /* struct aprof_future[] */
  APROF_CHUNK_KEYS = 8,    /* private to the runtime */
  APROF_CHUNK_MODULES = 9, /* struct aprof_module[], numbered from `first` */
  APROF_CHUNK_PRIVATE = 10, /* other tables of the runtime */
  APROF_CHUNK_MISSES = 11,  /* struct aprof_missed[] of block `owner` */
  APROF_CHUNK_REQUESTS = 12, /* struct aprof_request[], numbered from `first` */
  APROF_CHUNK_KINDS = 13,    /* struct aprof_kind[], numbered from `first` */
  APROF_CHUNK_TIERS = 14,    /* struct aprof_kind_tier[], found from parts of kinds */
  APROF_CHUNK_SLOWEST = 15,  /* struct aprof_slow[], found from kinds */
  APROF_CHUNK_SHARES = 16,   /* struct aprof_share[], numbered from `first` */
  APROF_CHUNK_RING = 17,     /* struct aprof_trace_event[] of block `owner`; aprof/trace.h */
  APROF_CHUNK_LOGGED = 18,   /* struct aprof_slow[APROF_LOGGED], found from the header */
  APROF_CHUNK_KIND_PARTS = 19, /* struct aprof_kind_part[]: block `owner`, kinds from `first` */
};

struct aprof_chunk {
  uint32_t type;  /* enum aprof_chunk_type; atomic, written last */
  uint32_t owner; /* block number, where one owns it */
  uint64_t size;  /* of the whole chunk, a multiple of APROF_PAGE */
  uint32_t first; /* number of the first element */
  uint32_t count; /* elements there is room for */
  uint32_t element; /* sizeof one element */
  uint32_t reserved[25]; /* to 128 bytes: elements start at offset 128 */
};

/* A bit of a psite's flags that no binding has: an end, wake or switch there has found a
   future. Set by the runtime, atomically. */
#define APROF_PSITE_FOUND (1u << 15)

/* A site as the profile knows it. Sites are equal when kind, name, file, line
   and column are: the reader folds them. Number 0 is never used. */
struct aprof_psite {
  uint32_t name; /* offsets of strings / 1 byte, from the start of the file in
                    units of 8 bytes; 0: NULL */
  uint32_t file;
  uint32_t function;
  uint32_t line;
  uint32_t column;
  uint8_t kind; /* enum aprof_site_kind (abi.h); 0: not complete yet */
  uint8_t model;
  uint16_t flags;
  uint64_t address; /* a function known only by address (name is 0): link-time
                       address is this minus its module's bias */
  uint32_t module;  /* number; 0 where address is 0 */
  uint32_t alias;   /* atomic; site that the same function turned out to have once
                       its body was seen; 0: none */
  uint32_t detail;  /* atomic; enum aprof_detail: how much is kept of a span; `aprof set` */
  uint32_t tier;    /* atomic; number of its tier; 0: none; `aprof set` */
};

enum aprof_detail { APROF_DETAIL_TIME = 0, APROF_DETAIL_COUNT = 1, APROF_DETAIL_OFF = 2 };

struct aprof_module {
  uint64_t bias, low, high; /* run-time range */
  uint32_t path;            /* string, as psite.name */
  uint32_t build_id_length;
  uint8_t build_id[24];
};

/* A path of the calling-context tree; append only, constant once `site` is
   written. Node 1 is (other), node 2 its await: both have site 0. */
struct aprof_node {
  uint32_t site;    /* number; atomic, written last */
  uint32_t parent;  /* node; 0: a root */
  uint32_t first_child; /* runtime's; the reader uses parent */
  uint32_t next_sibling;
  uint32_t is_await; /* enum aprof_node_kind */
  uint32_t shared; /* the last epoch in which a thread ran a future of it while another one did:
                      one of the two is in no number. 0: never */
  uint32_t reserved[2];
};

#define APROF_DELAYS 1024u
enum aprof_node_kind {
  APROF_NODE_FUNCTION = 0,
  APROF_NODE_AWAIT = 1,    /* of its parent */
  APROF_NODE_WAKER = 2,    /* of its parent: counters as an await's; count: wakes that
                              led to a run, waiting and max: queued after them. Part
                              of the parent's queued, not beside it. A waker whose site
                              is a CREATE is the clock: the time is lateness */
  APROF_NODE_BLOCKING = 3, /* a call that held the loop, under what ran (0: nothing):
                              counters as an await's; part of the parent's exec */
  APROF_NODE_SPAN = 5,     /* a span, under what ran or another span, or a root outside futures:
                              counters as a function's, but of its own: exec; done: how often it
                              was left; nodes below it as below a function. Of one under no
                              function exec is a part of the thread's other */
  APROF_NODE_DELAYED = 4,  /* a function whose futures were ready while its parent held their
                              loop for long: counters as an await's; count: times that one hold
                              delayed one future; part of that function's queued */
};

/*
 * What one block counted at one node: written by the block's thread only. Three lines of the
 * cache: what every call and every wait takes, what slices and the next wait take, the rest.
 * What is marked "runtime's" are its shortcuts. Where threads race for a future, the one kind may
 * be taken for the other: what is 0 there says so (`none`).
 */
struct aprof_counters {
  union {
    struct {
      uint64_t exec;     /* ticks */
      uint64_t exec_max; /* ticks; the largest over ended futures */
      /* Runtime's, ticks: what lasts so long, or longer, is looked at: the longest so far, or more
         than its histogram has buckets for. 0: all, as long as that has none. */
      uint64_t ended_limit;
      uint64_t born_done;     /* ended without ever having waited or queued */
      uint64_t ended_buckets; /* exec's and wall's in turn; see struct aprof_buckets */
      uint64_t wall_max;      /* ticks, as exec_max */
      uint64_t none;          /* 0: an await's limit */
      uint64_t done, failed, cancelled;
      uint64_t last_site, last_await; /* runtime's: the await it was in last, and where its
                                         counters are mapped */
      uint64_t slices;
      uint64_t slice_limit; /* as ended_limit; long ones are looked at, too */
      uint64_t slice_buckets;
      uint64_t own; /* runtime's: the site of its bodies: number, and instance above it */
      uint64_t queued_buckets, queued_limit;
      uint64_t queued;    /* ticks */
      uint64_t detached;  /* swept: records of closed epochs that were recycled;
                             their open segments were added to exec, queued and
                             the await's waiting */
      uint64_t slice_max; /* ticks; less what the thread was preempted for in it, where known */
      /* Of that slice: at least and at most so many microseconds on a processor; at most 0:
         not known. */
      uint32_t on_cpu_least_us, on_cpu_most_us;
      uint32_t slice_from, slice_to; /* sites that bracket the largest slice */
      uint64_t pad;
    } function;
    struct {
      uint64_t waiting, max;     /* ticks */
      uint64_t count, immediate; /* count includes immediate */
      uint64_t buckets;          /* of the waits that were not immediate */
      uint64_t function;         /* runtime's: where its function's counters are mapped */
      uint64_t limit;            /* as ended_limit */
      uint32_t node, site;       /* runtime's: its own number, its site's */
      /* runtime's: not 0: whoever waits there waits for new work, or at a create with a tier; 1 +
         limit where a request begins behind that, or the tier has it, whose limit is 0 */
      uint64_t apart;
      uint64_t pad0[4];
      uint64_t no_slices; /* 0: a function's limit */
      uint64_t pad1;
      uint64_t own; /* its function's */
      uint64_t pad2;
      uint64_t no_queued; /* 0 */
      uint64_t pad3[6];
    } await;
    uint64_t words[24];
  } __attribute__((aligned(64)));
};

/*
 * Log-linear: 16 buckets to the octave, so a bucket's middle is off by at most
 * 1/32 = 3.1 %. The index is read off the value and a half, so that 0 has one too, as a
 * floating-point number: exponent and four bits of fraction. Below 16 most buckets stay
 * empty.
 *
 * A thread's histogram (struct aprof_buckets) takes as much as it was given to count: of a few
 * values their buckets' numbers, then counts for as many octaves, from the lowest on, as values
 * have reached. `buckets` of the counters is where `count` is mapped in the process (see
 * header.mapped_at), less APROF_BUCKETS_BEFORE, so that it is the index alone that is added; 0 and
 * 1: nowhere. Nodes of one function (and one await) share their block's histogram, and may have one
 * each of several that it grew through: add up each once per function.
 *
 * Two of the same values' number lie in one, their counts in turn: exec and wall of what has ended.
 */
#define APROF_HISTOGRAM_BUCKETS 1024u /* room for every amount */
#define APROF_OCTAVES (APROF_HISTOGRAM_BUCKETS / 16u)
#define APROF_BUCKET_BASE (1022u << 4)
#define APROF_HISTOGRAM_ALIGN 32u
#define APROF_FEW 8u
#define APROF_BUCKETS_BEFORE(two) ((uint64_t)APROF_BUCKET_BASE << (1 + (two)))
struct aprof_buckets {
  uint8_t octaves;  /* that it has counts for; 0: none, but `few` numbers of buckets */
  uint8_t two;      /* 1: of two values */
  uint8_t few, full; /* full: there was no memory for more */
  uint32_t carried; /* offset / 8 of a uint32_t for each count: so often it passed 65535; 0: none */
  uint32_t older, users; /* runtime's: what it grew from, and is still used; how many counters do */
  uint16_t count[];
};

/* `value` is an amount of time, at most APROF_MOST. From 2^52 on (26 days at 2 GHz) the
   last few below a bucket count in it. */
#define APROF_MOST ((uint64_t)1 << 62)
static inline uint32_t aprof_bucket_of(uint64_t value) {
  union {
    double number;
    uint64_t bits;
  } as = {.number = (double)(int64_t)value + 0.5};
  return (uint32_t)(as.bits >> 48) - APROF_BUCKET_BASE;
}

/* The least value of a bucket; of one that no value falls in, that of the next. */
static inline uint64_t aprof_bucket_lower(uint32_t bucket) {
  uint32_t octave = bucket >> 4, part = 16u + (bucket & 15u);
  uint64_t twice = octave >= 4 ? (uint64_t)part << (octave - 4u)
                               : (part + (15u >> octave)) >> (4u - octave);
  return twice >> 1;
}

enum aprof_thread_state {
  APROF_THREAD_FREE = 0, /* nobody leases the block */
  APROF_THREAD_OTHER = 1,
  APROF_THREAD_IDLE = 2,
  APROF_THREAD_RUNNING = 3,
};

/*
 * Events that found nothing to act on, or not what they expected. The first ones are
 * missed events: what they had to say is in no number. Then a key that was used again,
 * and events that may well be all right: what they name need not be there.
 */
enum aprof_miss {
  APROF_MISS_RUN = 1,     /* a run of a key that no future has */
  APROF_MISS_BUSY = 2,    /* a run of, or switch to, a future that runs elsewhere */
  APROF_MISS_RESUME = 3,  /* an await came back whose future was over or elsewhere */
  APROF_MISS_LEAVE = 4,   /* a body was left whose future was over or elsewhere */
  APROF_MISS_UNSEEN = 5,  /* what ran, of this function, was left without an event */
  APROF_MISS_CURRENT = 6, /* the end of the running future, where none ran */
  APROF_MISS_BROKEN = 7,  /* an event that a signal handler never returned to */
  APROF_MISS_REUSED = 8,  /* a create whose key was a live future's */
  APROF_MISS_AWAIT = 9,   /* an await outside any future */
  APROF_MISS_END = 10,    /* an end, ... */
  APROF_MISS_WAKE = 11,   /* ... a wake, ... */
  APROF_MISS_SWITCH = 12, /* ... a switch of a key that no future has */
  APROF_MISS_BEFORE = 13, /* a body's run, of a key that no future has: its own was created while
                             profiling was off, or before a reset, and is followed from here on */
  APROF_MISS_KINDS
};

/* How often, by place, as the block's sums have them altogether. Written by the thread
   that leases the block. */
struct aprof_missed {
  uint32_t site; /* that sent it; 0: not known, or there are too many places */
  uint32_t kind; /* enum aprof_miss; 0: free. Written last */
  uint64_t count;
};

/* A time in which a thread had shed detail. */
struct aprof_period {
  uint64_t begin_tick, end_tick; /* 0: it goes on */
  uint64_t events;               /* in it, once it has ended */
  uint32_t step;                 /* enum aprof_step; 0: never used */
  uint32_t pad;
};

#define APROF_PERIODS 32u /* a ring: the last ones */
#define APROF_ENDS_HOW 62u

/* A thread's own record, and its place in line for the next thread. Written by
   the leasing thread only, but for `state` 0 -> 1 (compare and swap). */
struct aprof_block {
  uint64_t sequence; /* odd inside an event; still odd in a dead process: torn.
                        Events so far: sequence / 2 */
  uint64_t last;     /* tick of the last transition; open segment begins here */
  uint32_t state;    /* atomic; enum aprof_thread_state */
  uint32_t epoch;    /* of the last event; the open segment of an older epoch ends
                        with that epoch */
  uint64_t ends; /* how many of its node had ended so before the end that this thread made last;
                    of what was RUNNING above that enum aprof_how; see struct aprof_future */
  uint64_t other, idle; /* ticks */
  /* The slice that is open while a future runs: since when, the site that let the future
     go on, and the node of the outermost future of its stack; 0: a worker's, which holds
     no loop. */
  uint64_t slice_tick;
  uint32_t slice_from, slice_node;
  uint64_t missed_events, reused_keys, migrations;
  uint64_t nested_events; /* came inside an event (signal handler): not recorded */
  uint64_t unmatched_awaits; /* awaits outside any future */
  uint64_t leases;  /* threads that used this block */
  int32_t tid;      /* of the last of them */
  uint32_t counters_epoch; /* reset_epoch at which its counters were last zeroed */
  char name[16];
  uint64_t serial; /* of the ids that its former threads gave out */
  uint64_t misses; /* offset of its struct aprof_missed[]; the runtime's */
  uint64_t general_events; /* of its events, those that were not of the usual */
  /* Of its events so many took that long, by those among them that were timed from outside. */
  uint64_t timed_events, timed_ticks;
  uint64_t cpu_ns, cpu_tick; /* its threads' time on a processor up to that moment; tick 0: not known */
  uint64_t preempted, preempted_max; /* ticks: in slices of which that is known; in one of them */

  /* Governing: at which step it is since when, and was before; see enum aprof_step.
     From zero after a reset. */
  uint32_t step, changes; /* changes: into a period; the last is changes - 1 */
  uint64_t step_tick, step_event, step_general; /* at the last change */
  struct {
    uint64_t ticks, events, general; /* at that step, up to the last change */
  } at_step[APROF_STEPS];
  struct aprof_period periods[APROF_PERIODS];

  /* The span that is open where no future runs, 0: none; and what `other` was when the span, or
     the one before it, was given its part of that last. The rest is the span's exec, too. */
  uint32_t span_node, pad;
  uint64_t span_other;

  /* Its ring: offset of the first event, 0: none was made; of how many, the binary logarithm.
     `traced` is the runtime's: of its events those that told the ring and were no general ones. */
  uint64_t ring;
  uint32_t ring_bits, traced;
  uint64_t ring_head; /* atomic; events written so far: each counts once it is there */
  uint64_t ring_lost; /* events of the trace for which there was no ring */

  /* The runtime's: where its parts of so many kinds each are mapped; 0: not asked for yet, 1: there
     is no memory for them. Offset / 8 of its tiers that no part has yet, and how many. */
  uint64_t kind_parts[APROF_KIND_CHUNKS];
  uint32_t tiers_from, tiers_left;
};

enum aprof_future_state {
  APROF_FUTURE_FREE = 0,
  APROF_FUTURE_QUEUED = 1,
  APROF_FUTURE_RUNNING = 2,
  APROF_FUTURE_WAITING = 3,
  APROF_FUTURE_TENTATIVE = 4, /* inside its create bracket: not counted yet */
  APROF_FUTURE_ASIDE = 5,     /* waits for what runs on its stack: see callee */
  APROF_FUTURE_ENDING = 6,    /* + enum aprof_how; over, and just being counted */
};

enum aprof_future_flags {
  APROF_F_NAMELESS = 1, /* takes the name of the first body that runs it */
  APROF_F_NAMED = 2,    /* no body that runs it can tell more about its name */
  APROF_F_BODY = 4,       /* a body has adopted it */
  APROF_F_STARTED = 8,    /* has run */
  APROF_F_WAITED = 16,    /* has waited or queued since its creation */
  APROF_F_KEYED = 32,     /* is in the key table */
  APROF_F_MEMBER = 64,    /* `request` is not 0: what it calls, what it creates and its end are fast
                             events of their own */
  APROF_F_IMPLICIT = 128, /* waits at a create or return, not in an await bracket */
};

/* 128 bytes; never unmapped, recycled. Written by the side that runs it, but for
   `id` (0 = free, written last on birth and first on death) and the words of
   wake and end, which any thread may set. An index is offset / 128.
   A death is id = 0, the count of its node, state = FREE. Where a process was killed between the
   first and the last (its block is odd) the reader counts the future: one that is RUNNING or
   ENDING only where block.ends tells that nobody has, any other one in any case. */
struct aprof_future {
  /* What its caller's events take: one line of the cache. */
  uint64_t id;   /* epoch << 48 | block << 32 | serial (32 bits, wraps) */
  uint64_t last; /* tick of its last transition */
  uint64_t counters; /* the runtime's shortcut: where the thread of its lease has those
                        of its await while it waits, of its node while it is queued; or
                        of nothing */
  uint64_t waiting; /* ticks, closed segments */
  uint32_t node;
  uint32_t await; /* node of the await it is in; 0 outside one */
  uint8_t state;  /* enum aprof_future_state */
  uint8_t flags;  /* enum aprof_future_flags */
  uint8_t open;   /* bodies and run brackets open */
  uint8_t ending; /* 1 + how: asked to end while a bracket is open */
  uint32_t lease; /* epoch << 16 | block that last ran it; 0 there: a job that no thread of a pool
                     has taken yet */
  uint32_t callee; /* index of what this one is put aside for, or a constant of the
                      runtime's; top bit: the await was opened for it */
  uint32_t outer;  /* node of the outermost future on this one's stack (slices); 0: a future
                      with a key lies below, which may be run by this one and that one */
  uint64_t wake_tick; /* atomic; runnable since, or due then; 0: neither. A waiting
                         future whose wake_tick has passed is queued since then. Of one
                         that was woken before it waited: its waker's site, which is less
                         than any tick */
  /* Births, ends and keys. */
  uint64_t created_tick;
  uint64_t queued; /* ticks, as `waiting`. What ran is the rest of last - created_tick */
  uint64_t key0, key1;
  uint32_t ns;
  uint32_t origin;  /* number of the site that created it, and APROF_ORIGIN_TIER */
  uint32_t parent;  /* index of the creator; see aprof_is_parent */
  uint32_t request; /* what it is a part of: number of a request; 0: nothing. With APROF_SHARE: of a
                       share, which names the request */
  uint32_t caller;        /* index: the future that awaits this body's return */
  uint32_t wake_site;     /* atomic; site number of the waker; 0: the clock */
  uint64_t polled;        /* ticks of the wait that it is polled in, closed so far; of one that
                             was armed again while it runs: when it is due */
} __attribute__((aligned(64)));

#define APROF_ORIGIN_BITS 24
#define APROF_ORIGIN_SITE ((1u << APROF_ORIGIN_BITS) - 1)
#define APROF_ORIGIN_TIER (1u << APROF_ORIGIN_BITS) /* it has a tier open, or had; what is above is free */
static inline uint32_t aprof_create_site(const struct aprof_future *f) {
  return f->origin & APROF_ORIGIN_SITE;
}

/* Does that record still hold the future that created f? Records that are used again are younger;
   of one tick, a thread's later serials are. */
static inline int aprof_is_parent(const struct aprof_future *parent, const struct aprof_future *f) {
  if (parent->id == 0 || parent->created_tick != f->created_tick)
    return parent->id != 0 && parent->created_tick < f->created_tick;
  return parent->id >> 32 != f->id >> 32 || (int32_t)((uint32_t)parent->id - (uint32_t)f->id) < 0;
}

/*
 * A future's share of its request, where that is not all of the future: it came to it in mid-life,
 * or has been in a tier. Written by who runs the future, or moves it while it rests.
 */
#define APROF_SHARE (1u << 31) /* in future.request */
struct aprof_share {
  uint32_t request;  /* number; 0: none. Written last */
  uint32_t cells;    /* the runtime's: what it had in tiers since it was booked last */
  uint32_t brackets; /* the runtime's: the innermost that is open */
  uint32_t tier;     /* it is in now, below 256; 0: none. Of one that is free the runtime's */
  uint64_t open;     /* a bit for each tier that has a bracket open on this stack */
  uint64_t joined;   /* tick: since then a part of this request */
  /* What it had when it was booked last: until that tick, so much queued and waiting. */
  uint64_t since, queued, waiting;
  uint64_t aside; /* ticks: put aside for others since then */
};

/*
 * A request that lives: what it is, and what has been booked of it so far. `id` is written last on
 * birth and first on its end, by whoever ends it; counts and sums are added to atomically by any
 * thread whose future was a part of it. Member time is exec + queued + waiting, where waiting is of
 * leaves: who is put aside for a callee waits for nothing of its own.
 */
enum aprof_request_state {
  APROF_REQUEST_FREE = 0,
  APROF_REQUEST_LIVE = 1,
  APROF_REQUEST_OVER = 2, /* booked; futures that rest are still a part of it: what they do from
                             here on is `after` */
};
enum aprof_request_flags {
  APROF_REQUEST_IMPLICIT = 1, /* of no root: began behind a background wait */
  APROF_REQUEST_FAILED = 2,
  APROF_REQUEST_SAMPLED = 4, /* the traceparent that it goes on with says so */
  APROF_REQUEST_ENDING = 8   /* its root is over, and what runs on that stack still is a part of it */
};
struct aprof_request {
  uint64_t id;         /* epoch << 48 | serial; 0: free */
  uint64_t begin_tick;
  uint64_t stopped;    /* the last tick at which a part of it stopped running */
  uint32_t members;    /* futures, but called bodies */
  uint32_t function;   /* site of its root's function, or of the future that it began with; while
                          `first` lives its node knows better: its body may have named it since */
  uint32_t root;       /* index of its root; 0: it has none */
  uint32_t parent;     /* request that ran where it began; 0: none */
  uint32_t cells;      /* the runtime's */
  uint16_t kind;       /* label: number of any kind that has it; 0 with no_label: none so far */
  uint8_t state, flags;
  uint8_t no_label;    /* 1: it has no label */
  uint8_t trace_flags; /* of its traceparent */
  uint16_t kept;       /* aprof_trace_mark of the last trace that has it; 0: none */
  uint32_t first;      /* index of the future that it began with */
  uint64_t exec, queued, total; /* ticks; total: exec + queued + waiting */
  uint64_t trace[2], span, parent_span; /* of W3C trace context; trace 0: none so far */
} __attribute__((aligned(64)));

/*
 * All requests of one label and function that are over: each is booked once, at its end, by the
 * thread that ends it, in that thread's part of the kind, which no other one writes. The reader adds up
 * the parts. A reset empties each. Sums in ticks.
 */
struct aprof_amount {
  uint64_t sum, max;
  uint32_t histogram; /* offset / 8 of a struct aprof_buckets; 0, 1: none */
  uint32_t counts;    /* the runtime's: the first bucket that it has no count for */
};
struct aprof_kind_part {
  uint64_t count, failed;
  uint32_t tiers; /* offset / 8 of its first struct aprof_kind_tier; 0: none */
  uint32_t epoch; /* the header's reset_epoch when it was emptied last: what is in one of another
                     counts as zero */
  struct aprof_amount wall, exec, queued, waiting; /* values of each request */
  uint64_t after, after_exec; /* futures that ran once theirs was over, and for how long */
} __attribute__((aligned(64)));
struct aprof_kind {
  uint32_t label;    /* string, as psite.name; 0: it has none, and is called as its function */
  uint32_t function; /* site; 0: of number 0 */
  uint32_t flags;    /* enum aprof_request_flags: IMPLICIT. Once header.roots is set, the reader leaves
                        these out, and what is in them is part of none */
  uint32_t lock;     /* the runtime's: of the slowest */
  uint32_t slowest;  /* offset / 8 of struct aprof_slow[APROF_SLOWEST]; 0: none */
  uint32_t epoch;    /* as a part's, of the slowest */
  uint64_t least, fresh_until; /* the runtime's: the shortest of the slowest; when the oldest goes */
  struct aprof_kind_part shared; /* of all threads that have no part of their own, by atomic
                                    additions: no memory. Without histograms */
} __attribute__((aligned(64)));
/* ... of one tier: of the requests that were in it at all. exec and waiting are the tier's own,
   wall is of its outermost brackets. calls.sum: how often it was entered from outside. */
struct aprof_kind_tier {
  uint32_t next; /* offset / 8 of the part's next one; 0: none. Written last */
  uint32_t tier;
  uint64_t count; /* requests */
  struct aprof_amount calls, exec, waiting, wall;
};

/* One of the slowest of the last minutes, or of the log. */
struct aprof_slow {
  uint64_t sequence;   /* odd while it is written; 0: never was. Of the log: twice its number, and 2 */
  uint64_t begin_tick, wall, exec, queued, waiting; /* ticks */
  uint64_t trace[2], span; /* as of the request */
  uint32_t function;
  uint8_t failed, tiers;
  uint16_t kind; /* of the log: number of its kind */
  struct {
    uint32_t tier, calls;
    uint64_t exec, waiting, wall;
  } tier[APROF_SLOW_TIERS];
};

#endif
