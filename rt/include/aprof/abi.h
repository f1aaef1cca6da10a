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
 * Any change of layout or meaning raises APROF_ABI; a runtime leaves a gate
 * with another number alone, so the program runs as if never instrumented.
 */
#ifndef APROF_ABI_H
#define APROF_ABI_H

#include <stdint.h>

#define APROF_ABI 3

#define APROF_SITE_SECTION "aprof_sites"
#define APROF_GATE_SYMBOL "__aprof_gate"
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
  APROF_SITE_BLOCKING = 11
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
  APROF_WORKER = 1 << 7,     /* run: slices hold no loop */
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

/* Namespaces of keys: FNV-1a (32 bit) of the text before the colon, 0 where
   the line has none. */
#define APROF_NS_NONE 0u
#define APROF_NS_ANY 0xffffffffu

/*
 * One static record per place; 64 bytes, aligned to 8, in a section of its own
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
  uint64_t reserved[2];
};

/*
 * The place where a bracket remembers what it opened: lies in the frame of the
 * instrumented function, is zeroed by the plugin, and is opaque to it but for
 * one rule: the closing event is called if and only if word[0] != 0.
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

/*
 * One per linked module: weak, hidden, in .data, merged over its units.
 * `flag` points to `closed` (zero) in the object file and to the runtime's
 * switch once attached; so "off" and "absent" are the same two loads.
 *
 * Instrumented code, for each event:
 *     if (__builtin_expect (*__aprof_gate.flag != 0, 0))
 *       __aprof_gate.EVENT (...);
 * Flag and pointers are read afresh for each event; opening events store a
 * token, closing events test the token and never the flag.
 */
struct aprof_gate {
  const volatile uint32_t *flag;
  uint32_t closed; /* always 0 */
  uint32_t abi;    /* APROF_ABI of the plugin that emitted it */
  uint32_t tried;  /* set by the first constructor of the module that looked for
                      a runtime, found or not */
  uint32_t unused;

  /* A body of an async function begins. self is its address where the plugin
     can name it without changing the code (it is public or its address is
     taken anyway), else NULL. Pairs with leave. */
  void (*enter)(struct aprof_site *function, struct aprof_token *, const void *self);
  void (*leave)(struct aprof_token *, int how);

  /* The running future waits for the extent of a call. */
  void (*suspend)(struct aprof_site *await, struct aprof_token *);
  void (*resume)(struct aprof_token *);

  /* The next async body entered on this thread is called from here; NULL: no more,
     the call is over without one. */
  void (*at)(struct aprof_site *call);

  /* A call that brings a future to life. function is the site of the body
     that fn= names where it is defined in this unit, else NULL; fn is its
     address (NULL when the line has no fn=, then function may be NULL too: the
     future takes the name of the first body that runs it, else of the create
     site). ok is the verdict of the line's ok=, 1 without one. A second
     function of fn=a2,a3 needs no event: its body carries the run line. */
  void (*create_begin)(struct aprof_site *create, struct aprof_token *, struct aprof_site *function,
                       const void *fn);
  void (*create_end)(struct aprof_token *, uint64_t key0, uint64_t key1, int ok);

  /* Future (site->ns, key0, key1) runs until run_end. function is the site of
     the body when the bracket is around a body, else NULL; self as for enter, around a
     call what fn= names: one that nobody creates is called so. */
  void (*run_begin)(struct aprof_site *run, struct aprof_token *, uint64_t key0, uint64_t key1,
                    struct aprof_site *function, const void *self);
  /* where: the RETURN site of the return taken, or NULL. */
  void (*run_end)(struct aprof_token *, int how, struct aprof_site *where);

  void (*wake)(struct aprof_site *wake, uint64_t key0, uint64_t key1);
  void (*end)(struct aprof_site *end, uint64_t key0, uint64_t key1, int how);

  void (*idle_begin)(struct aprof_site *idle, struct aprof_token *);
  void (*idle_end)(struct aprof_token *);

  /* Control came back through setjmp or the like into the frame that holds
     this token: whatever began above it is over. */
  void (*resync)(struct aprof_token *);

  /* key=cur: the key of the running future cannot be spelled by the program,
     so these act on it directly. */
  void (*wake_current)(struct aprof_site *wake);
  void (*end_current)(struct aprof_site *end, int how);

  /* Behind <aprof.h>. */
  int (*api_snapshot)(void);
  int (*api_enable)(int on);
  int (*api_reset)(void);
  int (*api_callback)(aprof_callback callback, void *arg);
  void (*api_clock_advance)(uint64_t ns);
  uint64_t (*api_clock_now)(void);

  /* From here on the future of a key runs on this thread: what ran waits until it
     is switched to itself, or until the call returns to this frame. Pairs with
     resume, by the usual rule; the token stays zero where nothing ran. */
  void (*switch_to)(struct aprof_site *to, struct aprof_token *, uint64_t key0, uint64_t key1);
  /* Between create_begin and create_end: when the future should run, in ns from
     the begin of the bracket. It counts as woken then. */
  void (*due)(struct aprof_token *, uint64_t ns);
  /* Around a call that must not happen while a future holds the loop. */
  void (*blocking_begin)(struct aprof_site *call, struct aprof_token *);
  void (*blocking_end)(struct aprof_token *);
  /* Between create_begin and create_end, where another thread may run the future
     before the call returns: the key, which the arguments tell already. */
  void (*create_key)(struct aprof_token *, uint64_t key0, uint64_t key1);
  /* A function that is no body itself is about to call setjmp or the like: what runs
     now. When that comes back, resync of this token: bodies that were entered on this
     stack since, and still run, were jumped over. */
  void (*here)(struct aprof_token *);
  void *reserved[1];
};

/*
 * What the unit's constructor looks for and calls: fills the gate of this
 * module. Idempotent. Thread safe. Returns 0, or -1 when the ABI differs.
 */
int __aprof_attach(struct aprof_gate *gate);

#ifdef __cplusplus
}
#endif

#endif
