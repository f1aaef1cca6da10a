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
#if defined __cplusplus && defined __cpp_exceptions
extern "C++" {
#include <exception>
}
#endif
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
 * or -1 where no runtime is attached, or another process or thread keeps the
 * switch for milliseconds (it was stopped there; or a signal handler asks while
 * it interrupts this very call): nothing has changed then. Any thread;
 * async-signal-safe.
 */
static __inline__ int aprof_enable(int on) {
  (void)on;
  return APROF_CALL_(api_enable, (on), -1);
}

/*
 * Starts the totals again from zero; futures alive are left out of the new
 * ones. Returns 0, or -1 where nothing is profiled, or as aprof_enable. Any
 * thread; async-signal-safe.
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
 * Has `callback` called with the path of totals once they are whole, of each that this process asks
 * for from now on: by aprof_snapshot, or the signal. On a thread of its own, which sleeps otherwise,
 * handles no signal, and makes totals one after the other; in the callback everything may be called.
 * NULL ends that, and behind it none is running (but the one that says so). Not told are totals that
 * others make from outside, and those of the program's end. Returns 0, or -1 where no runtime is
 * attached or no thread can be had. One thread at a time; not async-signal-safe; a forked child
 * says it anew.
 */
static __inline__ int aprof_on_totals(aprof_totals_callback callback, void *arg) {
  (void)callback;
  (void)arg;
  return APROF_CALL_(api_totals, (callback, arg), -1);
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

/*
 * Calls the request that runs on this thread `text` from now on: that is its kind, for all of its
 * time. The text is copied; NULL is no label. Returns 0, or -1 where no request runs. Any thread;
 * async-signal-safe.
 */
static __inline__ int aprof_label(const char *text) {
  (void)text;
  return APROF_CALL_(api_label, (text), -1);
}

/*
 * Writes the W3C traceparent of the request that runs on this thread to `buffer`, of 56 bytes: 55
 * characters and a NUL. Returns 0, or -1, and an empty text, where no request runs. Any thread;
 * async-signal-safe.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* there is a struct of that name */
static __inline__ int aprof_token(char *buffer) {
  *buffer = 0;
  return APROF_CALL_(api_token, (buffer), -1);
}
#pragma GCC diagnostic pop

/*
 * The request that runs on this thread goes on with this traceparent, which came with it. Returns 0,
 * or -1 where no request runs or the text is none. Any thread; async-signal-safe.
 */
static __inline__ int aprof_token_set(const char *traceparent) {
  (void)traceparent;
  return APROF_CALL_(api_token_set, (traceparent), -1);
}

/*
 * APROF_REQUEST(kind) { ... } makes a request of a block: a future, from where it is entered to where
 * it is left, with the label `kind`, a text. break and continue leave the block, as return and
 * exceptions do. Example:
 *     while ((job = next_job()))
 *       APROF_REQUEST(job->name) {
 *         ...
 *       }
 */
#ifdef APROF_PLUGIN
#if defined __cplusplus && defined __cpp_exceptions
#define APROF_THROWN_() std::uncaught_exceptions()
#if __cplusplus < 201703L
#undef APROF_THROWN_
#define APROF_THROWN_() (int)std::uncaught_exception()
#endif
#else
#define APROF_THROWN_() 0
#endif

/* The plugin knows them by their names, too. */
struct aprof_request_ {
  struct aprof_token token;
  int thrown; /* exceptions on their way when it began */
};

static __inline__ struct aprof_request_ *
aprof_request_begin_(struct aprof_request_ *request, struct aprof_site *site, const char *kind) {
  request->thrown = APROF_THROWN_();
  if (&APROF_GATE != NULL && *APROF_GATE.flag != 0)
    APROF_GATE.enter(site, &request->token, NULL);
  if (request->token.word[0] != 0)
    APROF_GATE.about(&request->token, APROF_ABOUT_LABEL, APROF_VALUE_TEXT,
                     (uint64_t)(uintptr_t)kind, 0);
  return request;
}

static __inline__ void aprof_request_end_(struct aprof_request_ *request) {
  if (request->token.word[0] != 0)
    APROF_GATE.leave(&request->token,
                     APROF_THROWN_() > request->thrown ? APROF_FAILED : APROF_DONE);
}

#define APROF_REQUEST(kind) APROF_REQUEST_1_(kind, __LINE__)
#define APROF_REQUEST_1_(kind, line) APROF_REQUEST_2_(kind, line)
#define APROF_REQUEST_2_(kind, line)                                                               \
  for (struct aprof_request_ aprof_block_##line                                                    \
           __attribute__((cleanup(aprof_request_end_))) = {{{0, 0, 0}}, 0},                        \
           *aprof_in_##line = aprof_request_begin_(&aprof_block_##line, __extension__({            \
                                static struct aprof_site aprof_site_ __attribute__((aligned(64))) = \
                                    {__func__, __FILE__, __LINE__, 0, APROF_SITE_FUNCTION,         \
                                     APROF_MODEL_STACK, APROF_ROOT, 0, __func__, 0, 0, 0, NULL};   \
                                &aprof_site_;                                                      \
                              }),                                                                  \
                              (kind));                                                             \
       aprof_in_##line != NULL; aprof_in_##line = NULL)
#else
#define APROF_REQUEST(kind)                                                                        \
  for (int aprof_once_ = ((void)(kind), 1); aprof_once_; aprof_once_ = 0)
#endif

#undef APROF_CALL_
#endif
