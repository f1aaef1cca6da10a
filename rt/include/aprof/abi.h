/* SPDX-License-Identifier: MIT */
/*
 * The event ABI: what instrumented code and the runtime agree on.
 *
 * Purpose: the only header that plugin/ and rt/ share. The plugin lays out
 * struct aprof_site and struct aprof_gate with GCC trees in exactly this
 * shape; the runtime fills the gate and reads the sites.
 * Cost: an event is one test of the flag and one indirect call.
 * Locking: none. A site's first half is constant; its second half belongs to
 * the runtime. A gate is written once: pointers first, flag last.
 *
 * Any change of layout or meaning raises APROF_ABI; a runtime leaves a gate with another number
 * alone, and so one that holds more than it knows: that module runs as if never instrumented,
 * which the runtime says, and notes in the profile. A gate that holds less is served (event-table.h).
 */
#ifndef APROF_ABI_H
#define APROF_ABI_H

#include <stdint.h>

#include <aprof/event-table.h>

#define APROF_ABI 5

/* What the gate of this ABI, with so many rows, is called: __aprof_gate_5_39. */
#define APROF_GATE_NAME(abi, rows) APROF_GATE_NAME_(abi, rows)
#define APROF_GATE_NAME_(abi, rows) __aprof_gate_##abi##_##rows
#define APROF_GATE APROF_GATE_NAME(APROF_ABI, APROF_GATE_ROWS)
#define APROF_TEXT(name) APROF_TEXT_(name)
#define APROF_TEXT_(name) #name

#define APROF_SITE_SECTION "aprof_sites"
#define APROF_GATE_SYMBOL APROF_TEXT(APROF_GATE)
#define APROF_ATTACH_SYMBOL "__aprof_attach"

#ifdef __cplusplus
extern "C" {
#endif

/* What a site stands for; the place decides, not the verb on the line. */
enum aprof_site_kind {
  APROF_SITE_FUNCTION = 1, /* body of an async function: name is the function */
  APROF_SITE_AWAIT = 2,    /* name is the callee, line the call */
  APROF_SITE_CREATE = 3,   /* name is the callee (uv_write), line the call */
  APROF_SITE_RUN = 4,      /* a run bracket around a call */
  APROF_SITE_WAKE = 5,
  APROF_SITE_END = 6,
  APROF_SITE_IDLE = 7,
  APROF_SITE_RETURN = 8, /* where a body returned "not over yet" (stackless) */
  APROF_SITE_CALL = 9,   /* a call of an async function: name is the callee */
  APROF_SITE_SWITCH = 10,
  APROF_SITE_BLOCKING = 11,
  APROF_SITE_SPAN = 12, /* a plain function or call: name is its, line its definition or the call */
  APROF_SITE_TIER = 13, /* around a call that is a wait: only whose tier that is */
  APROF_SITE_LABEL = 14
};

/* How futures of a function are carried; kept per function for the report. */
enum aprof_model {
  APROF_MODEL_NONE = 0,
  APROF_MODEL_STACK = 1,    /* the body is the future, suspended with its stack */
  APROF_MODEL_FRAME = 2,    /* re-entered until it stops returning "pending" */
  APROF_MODEL_CALLBACK = 3 /* created by a request, run by callbacks */
};

/* Words of a binding line that the runtime must know. */
enum aprof_site_flags {
  APROF_ONCE = 1 << 0,       /* create: its run ends it (run has once) */
  APROF_MULTI = 1 << 1,      /* create: its runs repeat (run has multi) */
  APROF_READY = 1 << 2,      /* create: runnable at once */
  APROF_REARM = 1 << 3,      /* create: on a live key the same future goes on */
  APROF_ROOT = 1 << 4,       /* create, async: starts a task */
  APROF_NAMES = 1 << 5,      /* await: names suspensions inside, clock goes on */
  APROF_BACKGROUND = 1 << 6, /* create, run, await, async: waiting for new work */
  APROF_WORKER = 1 << 7,     /* run: slices hold no loop; create: such a run follows */
  APROF_ORPHAN = 1 << 8,     /* run: no create line shares the namespace, so an
                                unknown key creates the future */
  APROF_QUIET = 1 << 9,      /* run: comes from "| run": an unknown key is silent */
  APROF_TUPLE = 1 << 10,     /* the key has two parts: equal ones may live side by
                                side, first in, first out */
  APROF_HELPER = 1 << 11,    /* await with names, around a project's own wrapper:
                                creates inside are reported there too */
  APROF_POLLING = 1 << 12,   /* run: its line has polling= */
  APROF_KEYLESS = 1 << 13,   /* create: its line has no key=; only a body that adopts
                                the future can run it */
  APROF_NORETURN = 1 << 14, /* end: the call does not return, so nothing above it closes */
  APROF_OWN = 1 << 15      /* run: from "| run" of a line with one fn=: a future that was made
                               for another function is none of this body's */
};

/* Where kinds of sites differ, so does what a bit means. */
enum aprof_wake_flags {
  APROF_HAND = 1 << 0 /* the woken futures go over to the request of who wakes them */
};

/* What `about` is about. */
enum aprof_about {
  APROF_ABOUT_LABEL = 1, /* the label of its request */
  APROF_ABOUT_TOKEN = 2, /* a W3C traceparent, as text, that its request goes on with */
  /* Its request has just begun, and a trace of some requests leaves it out; no value. A runtime that
     does not know this keeps it. */
  APROF_ABOUT_LEFT_OUT = 3,
};

/* What `value` of a label is; `length` only where that is said, else 0. */
enum aprof_value {
  APROF_VALUE_TEXT = 1,    /* const char *, to its NUL, or to 63 bytes */
  APROF_VALUE_COUNTED = 2, /* const char *, `length` bytes of it; or 63 */
  APROF_VALUE_SIGNED = 3,
  APROF_VALUE_UNSIGNED = 4,
};

/* Namespaces of keys: FNV-1a (32 bit) of the text before the colon, 0 where
   the line has none. */
#define APROF_NS_NONE 0u
#define APROF_NS_ANY 0xffffffffu

/*
 * One static record per place; 64 bytes, aligned so, in a section of its own
 * (aprof_sites,"aw",@progbits,unique,N) that only the code of its function
 * refers to, so that it lives and dies with that code.
 */
struct aprof_site {
  const char *name;     /* never NULL; see enum aprof_site_kind */
  const char *file;     /* as the compiler printed it; never NULL */
  uint32_t line;        /* 0 if unknown */
  uint32_t column;      /* 0 if unknown */
  uint8_t kind;         /* enum aprof_site_kind */
  uint8_t model;        /* enum aprof_model; FUNCTION sites only */
  uint16_t flags;       /* enum aprof_site_flags */
  uint32_t ns;          /* namespace of the keys this site passes */
  const char *function; /* enclosing function, for messages; may be NULL */
  /* Written by the runtime; zero in the object file. */
  uint32_t id;       /* number in the current profile */
  uint32_t instance; /* which profile that number belongs to */
  uint64_t reserved;
  const char *tier; /* the plugin's again: the name of its tier, or NULL */
};

/*
 * The place where a bracket remembers what it opened: lies in the frame of the
 * instrumented function, and is opaque to the plugin but for two rules: it clears word[0],
 * and the closing event is called if and only if word[0] != 0.
 * Nothing else ever points to it.
 */
struct aprof_token {
  uint64_t word[3];
};

/* The last argument of leave and run_end. */
enum aprof_how {
  APROF_DONE = 0,      /* the future is over */
  APROF_FAILED = 1,    /* over: a C++ exception passed through */
  APROF_CANCELLED = 2, /* over: unwound (pthread_exit, cancellation) */
  APROF_PENDING = 3,   /* not over: pending=, once=COND that fails, multi, or no
                          word at all */
  APROF_POLLED = 4    /* not even woken (polling=) */
};

struct aprof_future;
struct aprof_user_event;
typedef void (*aprof_callback)(const struct aprof_user_event *event, void *arg);
typedef void (*aprof_totals_callback)(const char *path, void *arg);

/*
 * One per linked module and shape of a gate: weak, hidden, in .data, merged over its units.
 * Units of plugins that differ in that have one each, so that no event of the one is looked for
 * in the gate of the other. `flag` points to `closed` (zero) in the object file and to the
 * runtime's switch once attached; so "off" and "absent" are the same two loads.
 *
 * Instrumented code, for each event:
 *     if (__builtin_expect (*gate.flag != 0, 0))
 *       gate.EVENT (...);
 * Flag and pointers are read afresh for each event; opening events store a
 * token, closing events test the token and never the flag.
 */
#define APROF_GATE_MEMBER(with, role, name, parameters, arguments) void (*name) parameters;
#define APROF_GATE_API(with, result, name, parameters) result(*name) parameters;
struct aprof_gate {
  /* Of every ABI: so any runtime can tell which it is. */
  const volatile uint32_t *flag;
  uint32_t closed; /* always 0 */
  uint32_t abi;    /* APROF_ABI of the plugin that emitted it */
  uint32_t tried;  /* set by the first constructor of the module that looked for
                      a runtime, found or not */
  uint32_t size;   /* of all this, as that plugin knows it; 0 up to ABI 3 */

  /* The first five fill the line of the cache that all the above is in, the next eight another. */
  APROF_GATE_MEMBERS(APROF_GATE_MEMBER, APROF_GATE_API, 0)
};
#undef APROF_GATE_MEMBER
#undef APROF_GATE_API

/*
 * What the unit's constructor looks for and calls: fills the gate of this
 * module. Idempotent. Thread safe. Returns 0, or -1 where it is left alone.
 */
int __aprof_attach(struct aprof_gate *gate);

#ifdef __cplusplus
}
#endif

#endif
