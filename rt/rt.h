/* SPDX-License-Identifier: MIT */
/*
 * The inside of libaprof: the nouns.
 *
 * Purpose: events (event/) move futures between queued, running
 * and waiting with one clock reading each; everything else serves them.
 * Cost: an event touches its thread, the future and two counters records; only
 * functions named *_slow, and those that a header calls slow paths, may lock,
 * grow the arena or enter the kernel.
 * Locking: `rt.lock` is one spin lock for all slow paths. Its holder has signals
 * blocked, so no handler runs, or jumps away, while it is held.
 *
 * Invariants:
 *   block->state == RUNNING  =>  t->cur runs: cur->state == RUNNING, cur->last == block->last
 *   f->state == ASIDE       <=>  f->callee != 0: what it waits for runs on its stack
 *   t->suspended != NULL     =>  nothing ran on this thread since its suspend
 * Between events, and in fast ones, what was suspended last stands in t->cur, too: the block's
 * state tells which it is. General events have them apart, and NULL in t->cur while nothing runs.
 */
#ifndef APROF_RT_H
#define APROF_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#include <aprof/abi.h>
#include <aprof/profile.h>

#include "aprof.h"
#include "rt/sys/bytes.h"
#include "rt/sys/compiler.h"
#include "rt/sys/kernel.h"

#pragma GCC visibility push(hidden) /* reached without the GOT */
#define NODE_SEGMENT 64u            /* counters records in one chunk of a block */
#define NODE_CACHE 256u             /* entries of a thread's node cache at first ... */
#define NODE_CACHE_MOST 16384u      /* ... and at most, a megabyte */
#define GIVEN 16u
#define TOPS 1024u /* futures whose stacks a thread remembers */
#define TRACE_BEGINS UINT32_MAX
#define FINISHING 8u
#define HOLDS 8u                  /* long holds that a thread remembers */
#define NODE_CHUNK 1024u          /* nodes in one chunk */
#define NS_FRAME 0xfffffffeu      /* of a body that was entered: key0 is where its token lies */
#define CALLEE_MINE 0x80000000u   /* the await was opened by what put it aside */
#define VIRTUAL_START 1000000000u /* the virtual clock's first reading: 0 means "none" */
#define CALLEE_IDLE 0x7ffffffeu
#define CALLEE_CREATE 0x7ffffffdu
#define CALLEE_NO_FUTURE CALLEE_CREATE /* from here on it is not a future's index */

/* What a call, or a create, begins a future with, as it stands in its record: see record_begin. */
struct begins {
  uint32_t node, await;
  uint8_t state, flags, open, ending;
  uint32_t lease;
  uint32_t ns, origin;
};

/* What a thread found last at (parent node, site): saves the walk of the tree. */
struct node_entry {
  struct aprof_site *site;
  uint32_t place, node; /* place: parent << 1 | is_await */
  struct aprof_counters *counters;
  /* Of a call: the body that it led to last; of a created function: the create that it
     came from last. How that begins, and what counts it. */
  struct aprof_site *callee;
  struct aprof_counters *callee_counters;
  struct begins begins;
} __attribute__((aligned(64)));

/*
 * A thread's private half. Lies in memory that the kernel wipes in a forked
 * child, so that a child, however it was made, starts with epoch 0 and comes
 * to thread_sees at its first event. Never freed, reused by later threads.
 */
struct thread {
  /* What almost every event takes: two lines of the cache. */
  uint32_t usual;  /* the epoch; or 0 while its events are timed, which is no epoch */
  uint32_t paths;  /* bytes of `cache`, less an entry */
  uint32_t serial; /* of the next future */
  uint32_t lease;  /* epoch << 16 | index: the upper half of its futures' ids */
  struct aprof_block *block;
  struct aprof_future *cur;        /* what runs here; see running() */
  struct aprof_counters *counters; /* of cur's node, this block's */
  struct node_entry *cache;        /* of nodes; see node.c */
  uint32_t free_list;              /* index of the first free record */
  uint16_t free_count;
  uint16_t rest;                  /* enum aprof_thread_state when no future runs: OTHER or IDLE */
  uint64_t slice_count;           /* slices ended so far */
  struct aprof_future *tentative; /* create bracket open here */
  struct aprof_site *at;          /* call site announced ... */
  uint64_t at_sequence;           /* ... when the block's sequence was this */
  struct aprof_counters *slice_counters; /* of the block's slice_node */
  struct aprof_future *suspended;        /* last event here was its suspend; see cur_apart() */
  uint64_t suspended_id;
  uintptr_t suspended_at;    /* address of that token, ... */
  uintptr_t suspended_stack; /* ... and where that frame ends */
  /* What creates, runs and general events take. */
  uint64_t tentative_id;            /* 0: there is none */
  struct aprof_future *published;   /* of a create bracket open here: its key is known, */
  uint64_t published_id;            /* and a body inside is its, rather than an older one's */
  struct aprof_future *polled;      /* ran a stackless child that is not over and was called from */
  uint32_t polled_node;             /* this await; nothing happened here since `polled_sequence` */
  uint32_t shed;                    /* enum aprof_step; see govern.h */
  uint64_t held_until;              /* tick: end of the last of `holds` */
  struct aprof_counters **segments; /* by node / NODE_SEGMENT */
  uint32_t finishing; /* request whose root is over, while one of its members ran here */
  uint32_t also_finishing_count;
  uint32_t epoch;    /* the profile's, as of the last event; 0: nothing leased */
  uint32_t index;    /* of the block */
  uint64_t check_at; /* of the block's sequence: when the governor looks, ... */
  uint64_t time_at;  /* ... and when events are timed again; or never */
  enum { FILTERS_OUTSIDE, FILTERS_UNASKED, FILTERS_ASKED } filters; /* in this event; confine.c */
  uint32_t waits;           /* for another thread, in an event; atomic */
  uint64_t polled_sequence; /* of the block */
  struct spare {
    uint32_t first, count; /* what this thread gave back last: no other one takes it */
  } spare_shares, spare_brackets, spare_cells; /* see request/pool.h */
  uint32_t seen;                               /* header.usual, by its last event */
  uint32_t tracing;              /* header.traces of the trace that it writes, or TRACE_BEGINS; 0 */
  uint32_t noting;               /* `tracing`, where there is a ring; 0 */
  uint16_t told;                 /* `rest`, as the trace has it */
  bool partly, told_held, muted; /* it traces some requests; HELD is what it told last; what
                                 belongs to its last event is left out with that */
  uint64_t ring_mask, ring_lap;  /* of its block's ring: see ring_put */
  /* Where it notes what fast events do: those that tell it (event/timed.h); or NULL. */
  const struct aprof_gate *told_by;
  uint32_t to_time;                       /* so many events more, see row_events */
  uint64_t kind_parts[APROF_KIND_CHUNKS]; /* as its block has them */
  struct aprof_future *held;      /* whose lease this thread took away last, to end it, ... */
  uint32_t held_lease;            /* ... which was that one */
  uint64_t row_events, row_ticks; /* ... after these; */
  uint64_t row_most;              /* ticks: one that took longer lost its processor */
  uint64_t row_from;              /* all of its events when the row before ended */
  struct aprof_future *idler;     /* put aside by the idle bracket, or NULL */
  uint64_t long_count, long_own;  /* slice_count after the last long one, and its own length */
  struct processor {
    uint64_t tick, ns; /* at the last reading: when, and its time on a processor; 0: none */
    uint64_t blocked, preempted; /* so often it had let go of the processor, or lost it */
    uint64_t polls;              /* since then: idle brackets that may have let go of it */
  } processor;
  uint64_t untraced;    /* all of its events when it stopped tracing; 0: it never did */
  uint32_t fast_events; /* of all of its events so far that told no trace, when it began to */
  uint64_t stood;       /* its time while its clock stands still */
  uint64_t coarse;      /* the kernel's tick at that time */
  uint64_t asked;       /* the block's sequence in the event that follows a look at filters */
  struct govern {
    uint64_t begin, events, general; /* of the window: its tick, events until then */
    uint64_t calm_since, calm_for;   /* less would have to be shed since; how long before
                                        it is believed */
    uint64_t relieved;               /* tick of the last step taken back */
    uint32_t calm_step;
  } govern;
  uintptr_t handler_frame;         /* that its last event in a handler found, or 0 */
  uintptr_t callback_at;           /* address of the frame that calls the user's callback; or 0 */
  uintptr_t stack_high, stack_low; /* where the thread's own stack can be */
  struct thread *next;             /* of the free ones */
  struct aprof_counters no_slices; /* of a worker */
  uint32_t cache_shared;           /* so often an entry's first place was taken, since it grew */
  uint32_t spare_records;          /* the first of a batch, kept by a thread that ... */
  bool takes_records;              /* ... does; see future/record.c */
  struct node_entry first_cache[NODE_CACHE] __attribute__((aligned(2 * sizeof(struct node_entry))));
  struct hold {
    uint64_t begin, end, preempted; /* ticks */
    uint64_t slice;                 /* slice_count when it ended */
    uint32_t node;                  /* of the outermost future; 0: none */
  } holds[HOLDS];                   /* the last long ones, a ring */
  uint32_t holds_next;              /* where the next one goes */
  uint64_t forgot_until;            /* tick: end of the last that is not there */
  struct finishing {
    uint32_t number;
    struct aprof_future *cur;    /* the member of it that ran here */
    uint64_t id, over;           /* its id; when the root was over */
  } pending,                     /* the request in `finishing`, */
      also_finishing[FINISHING]; /* and others whose roots are over by the same event */
  /* What spans outside futures have had since the await of that future; see event/span.c. */
  uint64_t given_id;
  uint32_t given;
  struct given {
    uint64_t tick, ticks;
    uint32_t node;
  } given_to[GIVEN];
  /* By index of a future whose key a run found: what lay on top of its stack when its bracket
     closed; see top_known(). Memory that nobody touches until then. */
  struct top {
    uint64_t both; /* their ids, as top_ids() makes one of them; 0: none. A jump that leaves half
                      of this behind leaves none, either */
    uint32_t top;
  } tops[TOPS];
};
_Static_assert(offsetof(struct thread, tentative_id) == 128, "two lines are all that most take");

struct rt_options {
  char dir[256];     /* absolute; where totals go */
  char profile[256]; /* directory, or "memfd", or "" */
  uint64_t memory;   /* bytes; 0: as the machine has room */
  int signal;        /* 0: none */
  bool exit, enabled, histograms;
  bool trusted;   /* the filter that the process was started behind */
  uint32_t clock; /* enum aprof_clock_source, 0: auto */
  uint32_t nodes;
  uint32_t overhead;     /* ceiling in ppm of a thread's time; 0: none */
  uint32_t requests;     /* in detail at a time; 0: none at all */
  uint64_t flight;       /* bytes of a ring; 0: events are not traced from the start */
  uint32_t flight_share; /* as in the header */
  bool labels;
};

struct rt {
  /* What events look at: one line of the cache. */
  struct aprof_header *header; /* also the base of the mapping; constant once set */
  const uint32_t *usual_epoch; /* header.usual while fast events may happen, else
                                  one that no thread is ever in */
  uint64_t records;            /* that fit into what is backed of the mapping */
  uint64_t creating;           /* CREATING_BIT of each namespace of a create line that ran */
  uint32_t clock;              /* enum aprof_clock_source */
  uint32_t instance;           /* raised by each new profile: sites register again */
  uint32_t histograms;
  aprof_callback callback; /* user's, or NULL */
  uint64_t spread;         /* constant: a factor of hashes */
  void *callback_arg;
  uint32_t nodes_cap;
  int32_t pid;   /* owner of the profile; 0: none yet */
  int32_t state; /* enum rt_state */
  uint32_t lock;
  uint64_t signals;    /* that the holder of the lock had blocked before */
  uint32_t opening;    /* a thread makes the profile */
  bool (*start)(void); /* the first future asks for the profile: host/control.c */
  uint64_t child_now;  /* the virtual clock of a child without a profile of its own */
  int fd;              /* of the profile, -1: none, or the program has too few to spare one */
  bool hole;           /* a child has nothing mapped behind the header, until profile_keep_range */
  bool child;          /* by fork: what there was to say, its parent has said, or will */
  bool confined;       /* the program has given up system calls: we make none of our own */
  struct {
    uint32_t modules, abi; /* how many; of the first */
    char name[64];
  } refused; /* whose gates were left alone */
  dev_t device;
  ino_t inode;
  uint64_t capacity, committed; /* bytes: reserved; backed by the file */
  char path[512];               /* of the profile; "": memfd */
  char command[512];            /* the `aprof` executable */
  struct rt_options options;
  struct aprof_node *node_segments[64 * 1024 * 16 / NODE_CHUNK];
} __attribute__((aligned(64)));

enum rt_state {
  RT_NEW = 0,      /* nothing done */
  RT_ATTACHED = 1, /* options read, address range reserved, no footprint */
  RT_ON = 2,       /* a profile exists */
  RT_DEAD = 3,     /* cannot profile here; says so once */
};

extern struct rt rt;
extern const uint32_t epoch_never;  /* an epoch that never is */
extern struct thread thread_nobody; /* that has had no event */
/* This thread, and its block: both begin to come from memory at once where both are cold. */
extern __thread struct here {
  struct thread *thread;
  struct aprof_block *block;
} aprof_here __attribute__((tls_model("initial-exec")));
#define aprof_self (aprof_here.thread)

/* The block of this thread, which was read before: read the other way round, a handler in between
   may have made the thread's first event, and there is a thread without a block. */
static inline __attribute__((always_inline)) struct aprof_block *block_here(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return aprof_here.block;
}

/* From here on this thread is t. A handler may interrupt this anywhere. */
static inline void thread_is(struct thread *t) {
  aprof_here.thread = &thread_nobody;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  aprof_here.block = t->block;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  aprof_here.thread = t;
}

/* What runs on the thread, in events of both sorts and between them; NULL: nothing. */
static inline struct aprof_future *running(const struct thread *t) {
  return t->block->state == APROF_THREAD_RUNNING ? t->cur : NULL;
}

static inline char *rt_base(void) {
  return (char *)rt.header;
}
/* What lies in the profile is known by its offset / 8. */
static inline void *at_offset(uint32_t offset) {
  return rt_base() + ((uint64_t)offset << 3);
}
static inline uint32_t offset_of(const void *what) {
  return (uint32_t)((uint64_t)((const char *)what - rt_base()) >> 3);
}
static inline uint32_t index_of(const struct aprof_future *f) {
  return (uint32_t)(((uintptr_t)f - (uintptr_t)rt.header) >> 7);
}
static inline struct aprof_future *future_at(uint32_t index) {
  return (struct aprof_future *)(rt_base() + ((uint64_t)index << 7));
}

/*
 * What a token names. Tokens lie in the program's frames, and a program that keeps a stack
 * as a copy may put one back that is older than the bracket: then they are no address of
 * ours, or of a future that is over. The id of no_future is 0, which is in no token.
 */
extern struct aprof_future no_future;
static inline bool in_profile(uint64_t address) {
  uint64_t at = address - (uintptr_t)rt.header;
  /* Turned, so that what is no multiple of a record's size is far beyond, too. */
#if defined __SANITIZE_THREAD__
  return (at >> 7 | at << 57) < __atomic_load_n(&rt.records, __ATOMIC_RELAXED);
#else
  return (at >> 7 | at << 57) < rt.records; /* in one instruction; see pointer_read */
#endif
}
static inline struct aprof_future *record_of(uint64_t address) {
  return likely(in_profile(address)) ? (struct aprof_future *)(uintptr_t)address : &no_future;
}
static inline struct aprof_future *record_at(uint64_t index) {
  struct aprof_future *f = future_at((uint32_t)index);
  return likely(in_profile((uintptr_t)f)) ? f : &no_future;
}

#pragma GCC visibility pop

#endif
