/* SPDX-License-Identifier: MIT */
/*
 * aprof: the async profiler for C. What a program may say to it.
 *
 * Purpose: annotations, and the few calls by which a program steers its own
 * profile. Everything here vanishes, or does nothing, where the plugin is not
 * loaded or no runtime is found: annotated code builds and runs anywhere.
 * Cost: annotations none beyond what they ask for; calls, one test of a pointer.
 * Locking: each call says.
 */
#ifndef APROF_H
#define APROF_H

#include <stddef.h>
#include <stdint.h>

/*
 * APROF("verb key=value ...") before or behind a declaration of a function, a
 * pointer to one, a field or a typedef: a line of aprof-bindings(5) without its
 * place. Example:
 *     APROF ("async") static void handle_upload (struct request *);
 */
#if defined __has_attribute
#if __has_attribute(aprof)
#define APROF(text) __attribute__((aprof(text)))
#define APROF_PLUGIN 1
#elif defined __clang__ && defined APROF_ANNOTATE
/* For tools that read a program by libclang, and ask for it: in one that is compiled, annotations
   of fields, parameters and variables would change the code. */
#define APROF(text) __attribute__((annotate("aprof:" text)))
#endif
#endif
#ifndef APROF
#define APROF(text)
#endif

#define APROF_ASYNC APROF("async")
#define APROF_AWAIT APROF("await")
#define APROF_SPAN APROF("span")

/* What happened to a future, as told to a callback; see aprof_on_event. */
enum aprof_event_kind {
  APROF_EVENT_CREATED = 1,
  APROF_EVENT_RUNNING = 2, /* began to run, or runs again */
  APROF_EVENT_WAITING = 3, /* suspended, or put aside for a child */
  APROF_EVENT_QUEUED = 4,  /* woken */
  APROF_EVENT_DONE = 5,
  APROF_EVENT_FAILED = 6,
  APROF_EVENT_CANCELLED = 7
};

struct aprof_user_event {
  enum aprof_event_kind kind;
  uint64_t future;      /* identity; comes again only after 2^32 more of its thread */
  uint64_t parent;      /* creator's identity; 0: none, or it is over */
  const char *function; /* of the future; NULL if known by address only */
  const char *file;     /* of the place where it happened; NULL if unknown */
  uint32_t line;
  uint64_t time_ns; /* as aprof_clock_now() would say */
};

#ifdef APROF_PLUGIN
#include <aprof/abi.h>
#ifdef __cplusplus
extern "C" {
#endif
/* The plugin defines it in every unit that it instruments. */
extern struct aprof_gate APROF_GATE __attribute__((weak, visibility("hidden")));
#ifdef __cplusplus
}
#endif
#define APROF_CALL_(event, args, absent)                                                           \
  (&APROF_GATE != NULL && APROF_GATE.event != NULL ? APROF_GATE.event args : (absent))
#else
typedef void (*aprof_callback)(const struct aprof_user_event *event, void *arg);
typedef void (*aprof_totals_callback)(const char *path, void *arg);
#define APROF_CALL_(event, args, absent) (absent)
#endif

/*
 * Starts a dump of the totals, as SIGUSR1 does, and returns without waiting
 * for it. Returns 0, or -1 where nothing is profiled or no dump could be
 * started (one line on stderr says why). Any thread; async-signal-safe.
 */
static __inline__ int aprof_snapshot(void) { return APROF_CALL_(api_snapshot, (), -1); }

/*
 * Switches profiling on (1) or off (0) for the whole process. Off closes the
 * epoch: futures alive then are counted as detached. Returns the state before,
 * or -1 where no runtime is attached. Any thread; async-signal-safe.
 */
static __inline__ int aprof_enable(int on) {
  (void)on;
  return APROF_CALL_(api_enable, (on), -1);
}

/*
 * Starts the totals again from zero; futures alive are left out of the new
 * ones. Returns 0, or -1 where nothing is profiled. Any thread;
 * async-signal-safe.
 */
static __inline__ int aprof_reset(void) { return APROF_CALL_(api_reset, (), -1); }

/*
 * Has `callback` called, on the thread where it happens and in the middle of
 * the event, for everything that happens to any future; NULL ends that. The
 * callback must not run async functions (their events are not recorded) and
 * must not keep `event`. Returns 0, or -1 where no runtime is attached. Call it
 * while no other thread has events; not async-signal-safe.
 */
static __inline__ int aprof_on_event(aprof_callback callback, void *arg) {
  (void)callback;
  (void)arg;
  return APROF_CALL_(api_callback, (callback, arg), -1);
}

/*
 * Advances the virtual clock (APROF_OPTIONS=clock:virtual) by `ns` nanoseconds;
 * does nothing with any other clock. Any thread; async-signal-safe.
 */
static __inline__ void aprof_clock_advance(uint64_t ns) {
  (void)ns;
  APROF_CALL_(api_clock_advance, (ns), (void)0);
}

/*
 * Nanoseconds since the profile's clock began, 0 where nothing is profiled.
 * Any thread; async-signal-safe.
 */
static __inline__ uint64_t aprof_clock_now(void) { return APROF_CALL_(api_clock_now, (), 0); }

#undef APROF_CALL_
#endif
