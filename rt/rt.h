/* SPDX-License-Identifier: MIT */
/*
 * The inside of libaprof: the nouns, and what each file offers the others.
 *
 * Purpose: events (events.c, brackets.c) move futures between queued, running
 * and waiting with one clock reading each; everything else serves them.
 * Cost: an event touches its thread, the future and two counters records; only
 * functions named *_slow, and those this header calls slow paths, may lock,
 * grow the arena or enter the kernel.
 * Locking: `rt.lock` is one spin lock for all slow paths. Its holder has signals
 * blocked, so no handler runs, or jumps away, while it is held.
 *
 * Invariants:
 *   t->cur != NULL       <=>  block->state == RUNNING, cur->state == RUNNING
 *   cur->last            ==   block->last
 *   f->state == ASIDE    <=>  f->callee != 0: what it waits for runs on its stack
 *   t->suspended != NULL  =>  nothing ran on this thread since its suspend
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
#include "rt/sys/kernel.h"

#pragma GCC visibility push(hidden) /* reached without the GOT */

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define SLOW __attribute__((noinline, cold))
#define EXPORT __attribute__((visibility("default")))

#if defined __x86_64__ || defined __i386__
#define publish_fence() __asm__ volatile("" ::: "memory") /* stores stay in order */
#else
#define publish_fence() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* Read with acquire what other threads write, address and all in one instruction: for an
   atomic load GCC computes the address before, with instructions of its own. */
#if defined __x86_64__ && defined __LP64__ && !defined __SANITIZE_THREAD__
static inline uint64_t word_read(const uint64_t *at) {
  uint64_t word;
  __asm__ volatile("movq %1, %0" : "=r"(word) : "m"(*at) : "memory");
  return word;
}
static inline void *pointer_read(void *const *at) {
  void *pointer;
  __asm__ volatile("movq %1, %0" : "=r"(pointer) : "m"(*at) : "memory");
  return pointer;
}
#else
static inline uint64_t word_read(const uint64_t *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static inline void *pointer_read(void *const *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
#endif

#define NODE_SEGMENT 64u    /* counters records in one chunk of a block */
#define NODE_CACHE_BITS 8u
#define NODE_CACHE (1u << NODE_CACHE_BITS) /* entries of a thread's node cache */
#define NODE_CHUNK 1024u    /* nodes in one chunk */
#define NS_FRAME 0xfffffffeu /* of a body that was entered: key0 is where its token lies */
#define CALLEE_MINE 0x80000000u /* the await was opened by what put it aside */
#define VIRTUAL_START 1000000000u /* the virtual clock's first reading: 0 means "none" */
#define CALLEE_IDLE 0x7ffffffeu
#define CALLEE_CREATE 0x7ffffffdu
#define CALLEE_NO_FUTURE CALLEE_CREATE /* from here on it is not a future's index */

/* What a thread found last at (parent node, site): saves the walk of the tree. */
struct node_entry {
  struct aprof_site *site;
  uint32_t place, node; /* place: parent << 1 | is_await */
  struct aprof_counters *counters;
  /* Of a call: the body that it led to last; of a created function: the create that it
     came from last, and its wait there. */
  struct aprof_site *callee;
  struct aprof_counters *callee_counters;
  uint32_t callee_node;
} __attribute__((aligned(64)));

/*
 * A thread's private half. Lies in memory that the kernel wipes in a forked
 * child, so that a child, however it was made, starts with epoch 0 and comes
 * to thread_sync at its first event. Never freed, reused by later threads.
 */
struct thread {
  uint32_t epoch; /* the profile's, as of the last event; 0: nothing leased */
  uint32_t index; /* of the block */
  uint32_t serial; /* of the next future */
  uint32_t lease;  /* epoch << 16 | index: the upper half of its futures' ids */
  uint32_t usual; /* the epoch; or 0 while its events are timed, which is no epoch */
  uint32_t to_time; /* so many events more, ... */
  uint64_t row_events, row_ticks; /* ... after these; */
  uint64_t row_most;              /* ticks: one that took longer lost its processor */
  uint64_t row_from;              /* all of its events when the row before ended */
  struct aprof_block *block;
  struct aprof_future *cur;             /* what runs here */
  struct aprof_counters *counters;      /* of cur's node, this block's */
  struct aprof_counters **segments;     /* by node / NODE_SEGMENT */
  struct aprof_future *suspended;       /* last event here was its suspend */
  uint64_t suspended_id;
  uintptr_t suspended_at;               /* address of that token, ... */
  uintptr_t suspended_stack;            /* ... and where that frame ends */
  struct aprof_future *idler;           /* put aside by the idle bracket, or NULL */
  struct aprof_site *at;                /* call site announced ... */
  uint64_t at_sequence;                 /* ... when the block's sequence was this */
  uint64_t slice_count;                 /* slices ended so far */
  struct aprof_counters *slice_counters; /* of the block's slice_node */
  uint64_t long_count, long_own; /* slice_count after the last long one, and its own length */
  struct processor {
    uint64_t tick, ns; /* at the last reading: when, and its time on a processor; 0: none */
    uint64_t blocked, preempted; /* so often it had let go of the processor, or lost it */
    uint64_t polls;              /* since then: idle brackets that may have let go of it */
  } processor;
  enum aprof_thread_state rest;         /* state when no future runs: OTHER or IDLE */
  struct aprof_future *tentative;       /* create bracket open here */
  uint64_t tentative_id;                /* 0: there is none */
  struct aprof_future *published;       /* of a create bracket open here: its key is known, */
  uint64_t published_id;                /* and a body inside is its, rather than an older one's */
  struct aprof_future *polled;          /* ran a stackless child that is not over, */
  uint64_t polled_sequence;             /* nothing happened here since (that sequence), and */
  uint32_t polled_node;                 /* the child was called from this await */
  struct aprof_counters no_slices;      /* of a worker */
  uint32_t free_count;
  uint32_t free_list; /* index of the first free record */
  uint32_t shed;         /* enum aprof_step; see govern.h */
  uint32_t waits;            /* for another thread, in an event; atomic */
  struct aprof_future *held; /* whose lease this thread took away last, to end it, ... */
  uint32_t held_lease;       /* ... which was that one */
  enum { FILTERS_OUTSIDE, FILTERS_UNASKED, FILTERS_ASKED } filters; /* in this event; confine.c */
  uint64_t check_at;     /* of the block's sequence: when the governor looks, ... */
  uint64_t time_at;      /* ... and when events are timed again; or never */
  uint64_t stood;        /* its time while its clock stands still */
  uint64_t coarse;       /* the kernel's tick at that time */
  struct govern {
    uint64_t begin, events, general; /* of the window: its tick, events until then */
    uint64_t calm_since, calm_for;   /* less would have to be shed since; how long before
                                        it is believed */
    uint64_t relieved;               /* tick of the last step taken back */
    uint32_t calm_step;
  } govern;
  uintptr_t handler_frame; /* that its last event in a handler found, or 0 */
  uintptr_t callback_at; /* address of the frame that calls the user's callback; or 0 */
  uintptr_t stack_high, stack_low; /* where the thread's own stack can be */
  struct thread *next;             /* of the free ones */
  struct node_entry cache[NODE_CACHE];
};

struct rt_options {
  char dir[256];     /* absolute; where totals go */
  char profile[256]; /* directory, or "memfd", or "" */
  uint64_t memory;   /* bytes; 0: as the machine has room */
  int signal;        /* 0: none */
  bool exit, enabled, histograms;
  bool trusted; /* the filter that the process was started behind */
  uint32_t clock; /* enum aprof_clock_source, 0: auto */
  uint32_t nodes;
  uint32_t overhead; /* ceiling in ppm of a thread's time; 0: none */
};

struct rt {
  struct aprof_header *header; /* also the base of the mapping; constant once set */
  uint32_t clock;              /* enum aprof_clock_source */
  const uint32_t *usual_epoch; /* the profile's while fast events may happen, else
                                  one that no thread is ever in */
  uint32_t histograms;
  aprof_callback callback; /* user's, or NULL */
  void *callback_arg;
  uint32_t instance; /* raised by each new profile: sites register again */
  uint64_t creating; /* CREATING_BIT of each namespace of a create line that ran */
  uint32_t nodes_cap;
  int32_t pid;   /* owner of the profile; 0: none yet */
  int32_t state; /* enum rt_state */
  uint32_t lock;
  uint64_t signals; /* that the holder of the lock had blocked before */
  uint32_t opening; /* a thread makes the profile */
  uint64_t child_now; /* the virtual clock of a child without a profile of its own */
  int fd; /* of the profile, -1: none, or the program has too few to spare one */
  bool hole; /* a child has nothing mapped behind the header, until profile_keep_range */
  bool child;    /* by fork: what there was to say, its parent has said, or will */
  bool confined; /* the program has given up system calls: we make none of our own */
  struct {
    uint32_t modules, abi; /* how many; of the first */
    char name[64];
  } refused; /* whose gates were left alone */
  dev_t device;
  ino_t inode;
  uint64_t capacity, committed; /* bytes: reserved; backed by the file */
  uint64_t records;             /* that fit into what is backed */
  char path[512];               /* of the profile; "": memfd */
  char command[512];            /* the `aprof` executable */
  struct rt_options options;
  struct aprof_node *node_segments[64 * 1024 * 16 / NODE_CHUNK];
};

enum rt_state {
  RT_NEW = 0,      /* nothing done */
  RT_ATTACHED = 1, /* options read, address range reserved, no footprint */
  RT_ON = 2,       /* a profile exists */
  RT_DEAD = 3,     /* cannot profile here; says so once */
};

/* Of what reads words that others may be writing, and says why that does no harm: ThreadSanitizer is
   not told of it, who would name it by stacks that it often has forgotten. */
#if defined __has_attribute
#if __has_attribute(no_sanitize_thread)
#define HINT __attribute__((no_sanitize_thread))
#endif
#endif
#ifndef HINT
#define HINT
#endif

extern struct rt rt;
extern __thread struct thread *aprof_self __attribute__((tls_model("initial-exec")));

static inline char *rt_base(void) { return (char *)rt.header; }
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
  return (at >> 7 | at << 57) < rt.records; /* in one instruction; see word_read */
#endif
}
static inline struct aprof_future *record_of(uint64_t address) {
  return likely(in_profile(address)) ? (struct aprof_future *)(uintptr_t)address : &no_future;
}
static inline struct aprof_future *record_at(uint64_t index) {
  struct aprof_future *f = future_at((uint32_t)index);
  return likely(in_profile((uintptr_t)f)) ? f : &no_future;
}

/* nested.c: the lock of all slow paths, with signals blocked while it is held. */
void rt_lock(void);
void rt_unlock(void);
/* Between looks at what another thread is about to do, which may have lost its processor:
   ours is then better off with it. */
void wait_for_other(unsigned tries, bool confined);
bool rt_locked_here(void); /* a handler, while its own thread holds it */
void signals_block(uint64_t *before);
void signals_restore(const uint64_t *before);
uint64_t signals_pending(void); /* for this thread, and held back */
/* An event found its thread inside another one. True: that one was left for good, the
   thread's records are sound again. False: this is a handler, the event is dropped. */
bool event_recover(struct thread *t);
/* ... is known to have been left. */
void event_left(struct thread *t);
/* Is this a handler that may have interrupted an event, or a callback inside one? */
bool event_interrupted(struct thread *t);

/* vdso.c: the kernel's own clocks, whatever stands in the place of clock_gettime. Any thread,
   async-signal-safe; a system call only where the kernel has no other way. */
void vdso_find(void); /* once, before the profile */
uint64_t vdso_clock(clockid_t clock); /* ns */

/* hold.c: is it time to read what this thread has had of its processor? Before it is idle no
   more; `idle`: since when. */
void hold_poll(struct thread *t, uint64_t idle);
void hold_start(struct thread *t, uint64_t now); /* ... at its first event */

/* quiet.c: no signal reaches the program for what is done in between (SIGXFSZ, SIGPIPE,
   SIGTTOU). Async-signal-safe; does nothing once the program has given up system calls. */
struct quiet {
  uint64_t mask, pending;
  bool on;
};
void quiet_begin(struct quiet *q);
void quiet_end(const struct quiet *q);

/* clock.c: ticks of the profile's clock; any thread, async-signal-safe. */
extern const uint32_t clock_never; /* an epoch that never is */
uint64_t clock_slow(void);
void clock_start(struct aprof_header *header);
static inline uint64_t clock_read(void) {
#if defined __x86_64__ || defined __i386__
  if (likely(rt.clock == APROF_CLOCK_TSC))
    return __builtin_ia32_rdtsc();
#endif
  return clock_slow();
}
uint32_t clock_planned(void);      /* enum aprof_clock_source of the profile to come */
void clock_choose_usual(void);     /* rt.usual_epoch by what is known now */
uint64_t clock_ns(uint64_t ticks); /* an amount of ticks; by the best rate known */
uint64_t clock_ticks(uint64_t ns); /* ... and the other way round */
uint64_t clock_coarse(void);       /* moves on with the kernel's tick; in no unit */

/* options.c: APROF_OPTIONS into rt.options; warns of unknown keys. */
void options_read(void);
void options_resolve(void); /* ... as the directory is now */

/* profile.c: the file. All slow paths. */
bool profile_reserve(void);           /* address range, with a header page that says "on" */
bool profile_keep_range(void); /* in a child, before others take it; false: they have */
void profile_cover(void); /* where it is not mapped in what should share our memory */
bool profile_open(void);              /* makes the file and maps it over the range */
bool profile_commit(uint64_t until);  /* backs [0, until) with memory; rt.lock held */
void profile_note_refused(struct aprof_header *h); /* what rt.refused says */
bool profile_fd_ok(void);             /* is rt.fd still the profile */
void profile_remove(void);            /* its file, if the path still leads to it */
void profile_abandon(void);           /* after fork: let go of the parent's */
void profile_none(void);              /* the gates' flag is off, for good */
/* For a child that is forked inside an event: all that there is, outside the range. */
struct profile_copy {
  void *at; /* NULL: none */
  uint64_t size;
};
void profile_copy(struct profile_copy *copy);         /* in the parent, before */
void profile_copy_release(struct profile_copy *copy); /* in the parent, behind it */
bool profile_copy_use(struct profile_copy *copy);     /* in the child, for abandon; false: none */
int profile_reopen(void);             /* a descriptor where the program closed ours; or -1 */

/* confine.c: seccomp. Any thread, async-signal-safe. */
/* Was the process started behind a filter that is not that of all around it, as a container's
   is: one that somebody made for this program, and that may kill it for what only we call? */
bool confine_foreign(void);
void confine_watch(void);    /* once, at attach */
void confine_opened(void);   /* this process has its profile now */
void confine_forget(void);   /* in a child: what threads of its parent were about to ask */
void confine_left(void);     /* this thread's question was left by a handler */
bool profile_confined(void); /* is there a filter that was not at the start: no system calls */
bool profile_confined_lately(void); /* ... or was there a moment ago: for what is frequent */
bool profile_ours(void);     /* is this the process that made the profile; asks the kernel
                                only where it may be asked */

/* room.c: of `wanted` bytes of memory as many as a profile may take: by the limits of the
   process; a quarter of its control group's limit, which counts both a file in memory and a
   memfd; a quarter of a directory's file system, where the program's own shared memory may lie,
   in a container's 64 MB, and what forked children left: none where half of that is used. The
   first when the runtime is loaded, the others while a profile is opened. */
uint64_t room_of_process(uint64_t wanted);
uint64_t room_of_group(uint64_t wanted);
uint64_t room_in(const char *dir, uint64_t wanted);
bool room_on_tmpfs(const char *dir);

/* arena.c: chunks. rt.lock held; NULL when the memory limit is reached. */
void *arena_chunk(uint32_t type, uint32_t owner, uint32_t first, uint32_t count, uint32_t element);
void arena_publish(void *elements, uint32_t type);
uint32_t arena_string(const char *text); /* offset / 8; 0 for NULL or no memory */
void arena_reset(void);

/* site.c: numbers of sites in this profile; slow paths but for the inline test. */
uint32_t site_register_slow(struct aprof_site *site);
uint32_t site_of_address(const void *function, uint8_t model);
uint32_t site_alias_slow(uint32_t dynamic, struct aprof_site *site);
/* A create line has named this function and its address. */
void site_told(struct aprof_site *function, const void *address);
struct aprof_psite *site_record(uint32_t id);
bool site_creates(uint32_t ns); /* did a create line of this namespace ever run; rare */
/* ... false: certainly not. */
#define CREATING_BIT(ns) ((uint64_t)1 << ((ns) % 64))
static inline bool site_may_create(uint32_t ns) {
  return __atomic_load_n(&rt.creating, __ATOMIC_RELAXED) & CREATING_BIT(ns);
}
void site_reset(void);
static inline bool site_known(const struct aprof_site *site) {
  return likely(__atomic_load_n(&site->instance, __ATOMIC_ACQUIRE) == rt.instance);
}
static inline uint32_t site_id(struct aprof_site *site) {
  return site_known(site) ? site->id : site_register_slow(site);
}
/* This place, where it means waiting for new work: a helper's, of a create line inside it that
   says so. The place itself without memory. Rare. */
uint32_t site_in_background(uint32_t place);
/* An end, wake or switch that has found a future: said in the profile once, so that a
   reader can tell a wrong key from a call that is made for much else. */
void site_found_slow(struct aprof_site *site);
static inline void site_found(struct aprof_site *site) {
  if (unlikely(site->reserved[0] != rt.instance))
    site_found_slow(site);
}

/* Where paths go that there is no room for: a function and an await beneath it. */
#define OTHER_NODE 1u
#define OTHER_AWAIT 2u

/* node.c: paths. node_slow registers the site and the path. */
struct node_entry *node_slow(struct thread *t, uint32_t parent, struct aprof_site *site,
                             bool is_await);
struct node_entry *node_keep(struct thread *t, uint32_t place, struct aprof_site *site,
                             uint32_t node); /* in the thread's cache, from now on */
uint32_t node_of_site_slow(uint32_t parent, uint32_t site, uint32_t kind); /* aprof_node_kind */
struct aprof_counters *counters_slow(struct thread *t, uint32_t node);
struct aprof_counters *await_known(struct thread *t, uint32_t await); /* with its shortcuts */
/* What is counted where there is no memory for it; never read. It has no histograms, so
   fast events let a future whose counters are not known count there, and go on in the
   general ones. */
extern struct aprof_counters nowhere[];
bool counters_lost(const struct aprof_counters *c);
/* What `own` of counters is for a function of this site: its number in this profile. */
static inline uint64_t own_site(uint32_t site) {
  return (uint64_t)rt.instance << 32 | site;
}
void node_forget_sites(struct aprof_counters **segments); /* see thread_forget_sites */
bool node_start(void);
void node_reset(void);
static inline uint32_t node_site(uint32_t node) {
  return rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK].site;
}
static inline uint32_t node_parent(uint32_t node) {
  return rt.node_segments[node / NODE_CHUNK][node % NODE_CHUNK].parent;
}
static inline struct node_entry *node_entry_for(struct thread *t, uint32_t place,
                                                struct aprof_site *site) {
  /* Sites lie side by side, and nodes are numbered one by one: without the product a
     dozen functions throw each other out. */
  uint64_t both = (uintptr_t)site + ((uint64_t)place << 20);
  return &t->cache[(both * 0x9e3779b97f4a7c15ull) >> (64 - NODE_CACHE_BITS)];
}
/* A future that runs finds the site of its bodies in these counters of its function. */
static inline void function_known(struct aprof_counters *c, uint32_t node) {
  if (unlikely(c->function.own == 0))
    c->function.own = own_site(node_site(node));
}
/* What stands for its site, in that cache alone, of a function that is known by its address. */
static inline struct aprof_site *address_as_site(const void *function) {
  return (struct aprof_site *)(uintptr_t)function;
}
/* What the cache knows there; else NULL. */
static inline __attribute__((always_inline)) struct node_entry *
node_cached(struct thread *t, uint32_t place, struct aprof_site *site) {
  struct node_entry *e = node_entry_for(t, place, site);
  return likely(e->site == site) && likely(e->place == place) ? e : NULL;
}
static inline struct node_entry *node_find(struct thread *t, uint32_t parent,
                                           struct aprof_site *site, bool is_await) {
  struct node_entry *e = node_cached(t, parent << 1 | is_await, site);
  return likely(e != NULL) ? e : node_slow(t, parent, site, is_await);
}
static inline struct aprof_counters *counters_of(struct thread *t, uint32_t node) {
  struct aprof_counters *segment = t->segments[node / NODE_SEGMENT];
  return likely(segment != NULL) ? segment + node % NODE_SEGMENT : counters_slow(t, node);
}

/* histogram.c */
void histogram_forget(uint32_t block);
uint64_t *histogram_slow(struct thread *t, uint32_t node, uint32_t which, uint32_t *offset);
void histogram_reset(void);
enum histogram_of { OF_EXEC, OF_WALL, OF_SLICE, OF_QUEUED, OF_WAITING };
static inline uint64_t *histogram_add(struct thread *t, uint32_t node, uint32_t which,
                                      uint32_t *offset, uint64_t value) {
  uint32_t at = *offset;
  uint64_t *buckets;
  if (likely(at > 1))
    buckets = (uint64_t *)(rt_base() + ((uint64_t)at << 3));
  else if (at == 1 || (buckets = histogram_slow(t, node, which, offset)) == NULL)
    return NULL; /* 1: no memory for it, counted once */
  if (unlikely(t->shed != APROF_STEP_NONE))
    return NULL; /* made all the same: fast events ask for it */
  buckets += aprof_bucket_of(likely((int64_t)value >= 0) ? value : 0); /* threads that race */
  ++*buckets;
  return buckets;
}

/* future.c */
_Static_assert(offsetof(struct thread, lease) == offsetof(struct thread, serial) + 4 &&
                   offsetof(struct thread, serial) % 8 == 0,
               "both are read at once");
static inline uint64_t next_id(struct thread *t) {
  uint64_t id = (uint64_t)t->lease << 32 | t->serial;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&id, &t->serial, sizeof id);
#endif
  t->serial++; /* behind the reading, which would have to wait for it */
  return id;
}
struct aprof_future *future_new(struct thread *t); /* NULL: counted as lost */
/*
 * Who takes a future's id away may end it, and nobody else: of two threads that want to,
 * for want of an order between them in the program, one does. False: it is over, or was.
 */
static inline bool future_claim(struct aprof_future *f, uint64_t id) {
  return id != 0 &&
         __atomic_compare_exchange_n(&f->id, &id, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
void future_free(struct thread *t, struct aprof_future *f); /* claimed */
void future_reset(void);
/* This thread begins an epoch, outside events: before the ring of epochs comes round, what was
   open in those that are over is booked, and no id is one of 65536 epochs ago. */
void future_epoch(struct thread *t);
/* The lease that this thread took away last is given back, where it still is away. */
void future_unhold(struct thread *t);
/* f's lease; 0: it is being ended. Waits while that is not sure: who took the lease away may
   have meant the future that had the record before. */
uint32_t future_lease(struct thread *t, const struct aprof_future *f, uint64_t id);
/* Before this thread runs f, of this id: false where another one is ending it. */
bool future_take(struct thread *t, struct aprof_future *f, uint64_t id);
/* A run of a future of this node was left out, since another thread was in one. */
SLOW void node_shared(uint32_t node);

/* thread.c */
struct thread *thread_sync(bool birth); /* what an event does when its epoch is not current */
void thread_wipe(void);           /* in a forked child */
bool thread_keep(bool keep);       /* around a fork inside an event */
void thread_start(void);          /* once per process */
static inline bool threads_share(void) { /* more than one has had events */
  return __atomic_load_n(&rt.header->blocks, __ATOMIC_ACQUIRE) > 1;
}
/* Waits, not for ever, until the thread of this lease has left the event that it is in, or
   waits itself, as is no part of beginning to run a future. False: it stands still there. */
bool thread_settles(struct thread *t, uint32_t lease);
uint64_t thread_sequence(uint32_t lease); /* odd in an event, but where it waits */
/* Is the thread of this lease still in an event that began in an epoch before the current one? */
bool thread_lags(uint32_t lease);
bool thread_in_event(uint32_t lease); /* ... is in one, at this moment */
/* A mark for this moment, by which what no event finds any more is used again once nobody can
   still look at it. Marks are compared by their difference. A thread is late when it has been in
   one event for `patience` marks or more: it stands still, most likely. */
#define MARKS_LATE 4u
struct marks {
  uint32_t now;
  uint32_t all;    /* since this one, all threads have been in no event for a moment */
  uint32_t others; /* ... all but those that are late */
  struct {
    uint32_t first, last; /* of marks: such events began behind one of these, and before the next */
  } late[MARKS_LATE];
  uint32_t late_count;
};
static inline bool mark_before(uint32_t a, uint32_t b) {
  return (int32_t)(a - b) < 0;
}
/* The caller is taken to look at no such thing any more. rt.lock held. */
struct marks threads_mark(uint32_t patience);
static inline void thread_waits(struct thread *t, bool waits) {
  __atomic_store_n(&t->waits, waits, __ATOMIC_SEQ_CST);
}
void thread_forget_sites(void);   /* shortcuts: other code may lie at their addresses now */

/* control.c */
bool control_start(void); /* first future of this process: the profile; slow */
bool control_asked(void); /* by a signal: is there a profile, made now if need be? */
int control_enable(int on);
int control_reset(void);
void control_attach(void); /* once: options, reservation, fork handlers */
void control_say(const char *what, const char *detail); /* one line on stderr */
bool control_stderr(void); /* is descriptor 2 what it was when the program started? */

/* cost.c: event_cost_mticks of the header; once, before the first future */
void cost_measure(void);
void cost_start(struct thread *t); /* its thread begins an epoch */
void cost_time(struct thread *t);  /* its next events are to be timed; in an event */

/* miss.c: an event that could not be placed, counted in its block by what sent it: a
   site's number (0: not known), or the code that called it. Only inside an event. */
SLOW void event_missed(struct thread *t, enum aprof_miss kind, uint32_t site);
SLOW void event_missed_from(struct thread *t, enum aprof_miss kind, const void *caller);
void misses_forget(struct aprof_block *block); /* its counts start from zero */

/* dump.c */
void dump_attach(void); /* once, by the loader: takes the signal */
void dump_start(void);  /* finds the command; takes the signal, if it is the default's again */
void dump_forget(void); /* in a child: commands that its parent started, or was about to */
int dump_request(const char *reason, uint64_t tick);

#pragma GCC visibility pop

#endif
