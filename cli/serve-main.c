/* SPDX-License-Identifier: MIT */
/* aprof serve, a program of its own: the libraries that it needs would cost each other command more
   than all that it does. Options, the server, its end. */
#include "arguments.h"
#include "ask/value.h"
#include "cli.h"
#include "export.h"
#include "load.h"
#include "periodic.h"
#include "read/arena.h"
#include "read/labels.h"
#include "serve-many.h"
#include "serve-route.h"
#include "target.h"

#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUNCTIONS = 50, LAST_MS = 2000, MEMORY_LEAST = 64000000 };
/* Of one connection: its request, and what is said of the answer; of one address, beyond this
   machine; of nothing coming or going, s; of answers that are on their way, bytes. */
enum { REQUEST_MEMORY = 32768, OF_ONE_ADDRESS = 64, SILENCE = 90, ANSWERS_LIMIT = 64 << 20 };

struct serve_options {
  const char *listen, *token_file, *source, *from_token_file, *totals;
  uint64_t functions, every, keep;
  bool no_source;
  char *labels;
  struct push_wishes push;
  struct slowest_filter requests;
  struct guard *guard;
  struct agent_sources from;
  uint64_t memory; /* of what they tell; 0: not given */
};

static char *take_from(void *options, const char *from) {
  struct agent_sources *s = &((struct serve_options *)options)->from;
  s->from = reallocate(s->from, s->froms + 1, sizeof *s->from);
  s->from[s->froms++] = from;
  return NULL;
}

static char *take_memory(void *options, const char *text) {
  struct serve_options *o = options;
  return value_count(text, &o->memory) && o->memory >= MEMORY_LEAST
             ? NULL
             : print_string("--memory %s: bytes, as 500M or 4G, 64M at least", text);
}

static char *take_host(void *options, const char *name) {
  struct guard *g = ((struct serve_options *)options)->guard;
  if (strpbrk(name, ":/ "))
    return print_string("--host %s: a name alone, without port", name);
  g->name = reallocate(g->name, g->names + 1, sizeof *g->name);
  g->name[g->names++] = name;
  return NULL;
}

static char *take_label(void *options, const char *label) {
  struct serve_options *o = options;
  const char *fault = label_fault(label);
  o->labels = fault ? o->labels : labels_add(o->labels, label);
  return fault ? print_string("%s", fault) : NULL;
}

static char *take_push(void *options, const char *text) {
  return push_wish_take(&((struct serve_options *)options)->push, text);
}

static const char *offer_push(size_t i) {
  static const char *const words[] = {
      "otlp=", "otlp-proto=", "otlp-metrics=", "clickhouse=", "ndjson=", "pprof=", NULL};
  return words[i];
}

static const struct option_row options[] = {
    {"listen", 0, OPTION_TEXT, offsetof(struct serve_options, listen), "ADDR:PORT",
     .text = "Where to listen (default 127.0.0.1:9797); port 0: any that is free"},
    {"token-file", 0, OPTION_TEXT, offsetof(struct serve_options, token_file), "FILE",
     .text = "Answer only who sends the token in FILE; beyond this machine one is always wanted, "
             "and made where FILE is not given"},
    {"host", 0, OPTION_OWN, 0, "NAME", .take = take_host,
     .text = "A name that this server is reached by, beside this machine's own; more than once"},
    {"label", 0, OPTION_OWN, 0, "KEY=VALUE", .take = take_label,
     .text = "A label of this host, to tell hosts apart by; may be given more than once"},
    {"from", 0, OPTION_OWN, 0, "URL|FILE", .take = take_from,
     .text = "Serve what other `aprof serve` tell, put together: [NAME=]URL of one, or a FILE with "
             "one on each line; more than once"},
    {"from-token-file", 0, OPTION_TEXT, offsetof(struct serve_options, from_token_file), "FILE",
     .text = "The token in FILE is sent to them; else that of APROF_FROM_TOKEN"},
    {"memory", 0, OPTION_OWN, 0, "SIZE", .take = take_memory,
     .text = "Keep SIZE of what they tell, as 4G, and say what has no room (default: a quarter of "
             "what there is)"},
    {"every", 0, OPTION_S, offsetof(struct serve_options, every), "TIME",
     .text = "Ask them that often while nobody looks; write --totals, and --push, that often "
             "(default 10s)"},
    {"totals", 0, OPTION_TEXT, offsetof(struct serve_options, totals), "DIR",
     .text = "Write totals of the processes that are served into DIR, as PROG.PID.every-N.json"},
    {"keep", 0, OPTION_COUNT, offsetof(struct serve_options, keep), "N",
     .text = "Of these keep the last N of each process (default 60; 0: all)"},
    {"push", 0, OPTION_OWN, 0, "FORMAT=URL", .take = take_push, .offer = offer_push,
     .text = "Send what happens to the server at URL as time goes on, as otlp, otlp-proto, ndjson "
             "or clickhouse (requests, which are recorded), pprof or otlp-metrics; more than once"},
    {"header-file", 0, OPTION_TEXT, offsetof(struct serve_options, push.headers), "FILE",
     .text = "Send the lines of FILE as headers to these, such as a token"},
    {"top", 'n', OPTION_COUNT, offsetof(struct serve_options, functions), "N",
     .text = "The N functions of each process that ran most, in metrics (default 50; 0: all)"},
    {"source", 's', OPTION_TEXT, offsetof(struct serve_options, source), "DIR",
     .text = "Look for sources below DIR, where they are not where they were compiled"},
    {"no-source", 0, OPTION_FLAG, offsetof(struct serve_options, no_source),
     .text = "Leave the lines of sources out"},
    {0}};

/* -- the server -------------------------------------------------------------------------------- */

static bool open_daemon(struct serve *s) {
  const struct MHD_OptionItem per_address[] = {
      {s->listening.loopback ? MHD_OPTION_END : MHD_OPTION_PER_IP_CONNECTION_LIMIT, OF_ONE_ADDRESS,
       NULL},
      {MHD_OPTION_END, 0, NULL}};
  clients_open(&s->clients);
  s->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, route_request, s,
      MHD_OPTION_LISTEN_SOCKET, s->listening.fd, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)s->clients.room, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MEMORY, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_NOTIFY_CONNECTION, clients_notify, &s->clients, MHD_OPTION_NOTIFY_COMPLETED,
      route_completed, s, MHD_OPTION_ARRAY, per_address, MHD_OPTION_END);
  if (!s->daemon)
    complain("the server does not start; is there memory, and are there descriptors (ulimit -n)?");
  return s->daemon != NULL;
}

static int wait_ms(const struct serve *s) {
  MHD_UNSIGNED_LONG_LONG timeout;
  int ms = s->clients.count ? 1000 : -1;
  if (MHD_get_timeout(s->daemon, &timeout) == MHD_YES && (ms < 0 || timeout < (unsigned)ms))
    ms = (int)timeout;
  if (s->asks.first && (ms < 0 || ms > 1000))
    ms = 1000;
  int due = streams_wait(&s->streams);
  return due >= 0 && (ms < 0 || due < ms) ? due : ms;
}

/* Until a signal asks for the end. */
static void run(struct serve *s, int signals) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  struct pollfd fds[2 + ASKS_MOST] = {{.fd = signals, .events = POLLIN},
                                      {.fd = info->epoll_fd, .events = POLLIN}};
  do {
    struct agents *agents = s->source.of.agents;
    if (agents)
      agents_tick(agents);
    size_t count = 2 + asks_fds(&s->asks, fds + 2);
    if ((agents ? agents_poll(agents, fds, 2, wait_ms(s)) : poll(fds, count, wait_ms(s))) < 0 &&
        errno != EINTR)
      break;
    asks_tick(&s->asks);
    streams_tick(&s->streams, source_feed, &s->source);
    MHD_run(s->daemon);
    clients_sweep(&s->clients, documents_held, ANSWERS_LIMIT);
  } while (!(fds[0].revents & POLLIN));
}

/* Who listens hears of the end, unless that takes too long. */
static void finish(struct serve *s) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  struct pollfd fd = {.fd = info->epoll_fd, .events = POLLIN};
  int64_t last = monotonic_now() + LAST_MS * 1000000;
  streams_end(&s->streams);
  asks_end(&s->asks);
  do
    MHD_run(s->daemon);
  while (s->streams.first && monotonic_now() < last && poll(&fd, 1, LAST_MS / 100) >= 0);
  MHD_stop_daemon(s->daemon);
}

/* -- its start ------------------------------------------------------------------------------------
 */

/* Readings are half a megabyte and more, come each second, and stay for up to three hours. Were
   they of the heap, where malloc puts what is so large once it has freed one, those that go would
   leave holes between those that stay: a fifth of its size. */
static void keep_readings_apart(void) {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, ARENA_CHUNK);
#endif
}

static int block_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

/* A log is no place for a token. The variable is inherited; it names the log's stream. */
static bool is_logged(void) {
  const char *stream = getenv("JOURNAL_STREAM");
  unsigned long long device, inode;
  if (!stream || sscanf(stream, "%llu:%llu", &device, &inode) != 2)
    return false;
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
    struct stat at;
    if (!fstat(fd, &at) && at.st_dev == device && at.st_ino == inode)
      return true;
  }
  return false;
}

static bool open_all(struct serve *s, const struct serve_options *o) {
  char host[256] = "";
  if (!listen_open(&s->listening, o->listen))
    return false;
  gethostname(host, sizeof host - 1);
  s->guard.name = reallocate(s->guard.name, s->guard.names + 1, sizeof *s->guard.name);
  s->guard.name[s->guard.names++] = print_string("%s", host);
  if (!guard_open(&s->guard, o->token_file, !s->listening.loopback, s->listening.port))
    return false;
  if (s->guard.made && is_logged()) {
    complain("beyond this machine a token is wanted, and this output is a log, where none belongs: "
             "--token-file FILE");
    return false;
  }
  return open_daemon(s);
}

/* Of a word that is no process and no directory; it is cut where it is very long. */
static const char *word_fault(const char *word) {
  static char text[600];
  bool there = access(word, F_OK) == 0;
  snprintf(text, sizeof text,
           "%.400s %s: serve takes a PID, the NAME of processes, or a directory of totals; without "
           "one it is all processes",
           word, there ? "is a file" : "is not there");
  return text;
}

static const char *fault_of(const struct arguments *a) {
  const struct serve_options *o = a->context;
  return o->labels && o->from.froms
             ? "--label says it of this host; of others a list says it (--from FILE)"
         : a->words && o->from.froms
             ? "serve what others tell (--from), or TARGET: a server of its own beside them tells "
               "of this machine"
         : a->words && !directory_is(a->word[0]) && !is_of_processes(a->word[0])
             ? word_fault(a->word[0])
         : o->memory && !o->from.froms ? "--memory is of what others tell (--from)"
         : o->totals && (o->from.froms || (a->words && directory_is(a->word[0])))
             ? "--totals is of live processes of this machine"
         : o->totals && !directory_is(o->totals) ? "--totals DIR: there is no such directory"
         : o->push.count && (o->from.froms || (a->words && directory_is(a->word[0])))
             ? "--push is of live processes of this machine"
         : !o->push.count && (o->requests.kind || o->requests.over || o->requests.percent > 0)
             ? "--kind, --slowest and --over say which requests are sent: --push"
         : !o->push.count && o->push.headers ? "--header-file says what is sent along with --push"
         : slowest_fault(&o->requests)       ? slowest_fault(&o->requests)
         : !o->totals && o->keep != UNKNOWN  ? "--keep is of --totals DIR"
         : o->every < 10000000 || o->every > 3600 * (uint64_t)1000000000
             ? "--every is 10ms to 1h"
             : periodic_fault(o->totals ? o->every : 0, UNKNOWN);
}

/* -- totals as time goes on ----------------------------------------------------------------------
 */

static void write_one(struct found *found, void *context) {
  struct periodic *p = context;
  if (!p->of || found_is(found, p->of))
    periodic_write(p, found, found->pid);
}

static void write_round(struct periodic *p) {
  find_live(write_one, p);
}

static bool start_periodic(struct periodic *p, const struct serve_options *o, const char *target) {
  *p = (struct periodic){.every = o->totals ? o->every : 0,
                         .keep = o->keep == UNKNOWN ? PERIODIC_KEEP : o->keep,
                         .into = o->totals,
                         .round = write_round,
                         .of = target};
  return periodic_start(p);
}

/* -- together ------------------------------------------------------------------------------------
 */

/* Of others, of a directory, or of live ones. False after a message. */
static bool open_source(struct source *s, struct serve_options *o, const char *target) {
  bool recorded = target && directory_is(target);
  s->of.directory.path = recorded ? target : NULL;
  s->of.watch.target = recorded ? NULL : target;
  s->of.labels = o->labels;
  s->functions = o->functions;
  s->page =
      (struct page_options){.source = o->source, .no_source = o->no_source, .limits = ASK_DEFAULTS};
  if (o->from.froms && !agent_token(o->from_token_file, &o->from.token))
    return false;
  s->of.agents =
      o->from.froms ? agents_new(o->from, o->every, o->memory ? o->memory : agents_memory()) : NULL;
  return s->of.agents || !o->from.froms;
}

/* Before there is a socket, which they would keep. */
static bool start_pushes(struct source *s, struct serve_options *o, const char *target) {
  o->push.every = o->every;
  o->push.target = target;
  o->push.labels = o->labels;
  o->push.which = &o->requests;
  s->pushes = pushes_start(&o->push);
  return s->pushes || !o->push.count;
}

/* The same program sends what is exported, as it has the library for that. */
static int push_export(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  export_push = &push_by_curl;
  int status = cmd_export(argc, argv);
  return fflush(stdout) ? CLI_FAILED : status;
}

/* So does what compares what others tell. */
static int compare(int argc, char **argv) {
  many_pull = &many_pull_by_curl;
  int status = show_output(output_named(argv[0] + strlen("aprof ")), argc, argv);
  return fflush(stdout) ? CLI_FAILED : status;
}

int main(int argc, char **argv) {
  static char name[] = "aprof serve";
  struct serve s = {.listening = {.fd = -1}};
  struct serve_options o = {.listen = "127.0.0.1:9797",
                            .functions = FUNCTIONS,
                            .every = PERIODIC_EVERY,
                            .keep = UNKNOWN,
                            .guard = &s.guard};
  struct periodic periodic;
  struct arguments a = {
      .usage = "[TARGET|DIR]",
      .about = "Serves what is profiled on this machine over HTTP: a page for people, as it moves, "
               "and at /metrics what Prometheus and its kin scrape.\v"
               "TARGET: a PID, or the NAME of processes; without one it is all live processes that "
               "are profiled and that you may read. DIR: totals that were written as time went on.",
      .table = {{options, &o}, {slowest_kinds, &o.requests}},
      .most = 1,
      .offers = OFFER_PROCESSES,
      .too_many = "one target at a time",
      .fault = fault_of,
      .context = &o};
  argp_err_exit_status = CLI_USAGE;
  if (!strcmp(argv[0], "aprof export"))
    return push_export(argc, argv);
  if (!strcmp(argv[0], "aprof tail"))
    return compare(argc, argv);
  argv[0] = name;
  arguments_parse(&a, argc, argv);
  int signals = block_signals();
  keep_readings_apart();
  const char *target = a.words ? a.word[0] : NULL;
  if (!open_source(&s.source, &o, target) || !start_pushes(&s.source, &o, target))
    return CLI_FAILED;
  if (!open_all(&s, &o) || !start_periodic(&periodic, &o, target)) {
    pushes_end(s.source.pushes);
    return CLI_FAILED;
  }
  printf("serving %s\n", s.listening.url);
  if (s.guard.made)
    printf("token: %s\n", s.guard.token);
  fflush(stdout);
  run(&s, signals);
  periodic_end(&periodic);
  pushes_end(s.source.pushes);
  finish(&s);
  source_close(&s.source);
  guard_close(&s.guard);
  listen_close(&s.listening);
  return CLI_OK;
}
