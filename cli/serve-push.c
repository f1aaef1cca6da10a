/* SPDX-License-Identifier: MIT */
/* What is sent as time goes on; see serve-push.h. */
#include "serve-push.h"

#include "find.h"
#include "load.h"
#include "read/util.h"
#include "serve-push-send.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 1000, RECORDED = 256 };

struct pushes {
  const struct push_wishes *wishes;
  struct push_counts *counts; /* of each wish; shared */
  pid_t maker;
  int stop; /* closed when it ends */
};

char *push_wish_take(struct push_wishes *w, const char *text) {
  const char *equals = strchr(text, '='), *scheme = strstr(text, "://");
  char *name = equals && (!scheme || equals < scheme)
                   ? print_string("%.*s", (int)(equals - text), text)
                   : print_string("%s", "");
  const struct format *f = format_find(name);
  const char *url = *name ? equals + 1 : text, *host = scheme ? scheme + 3 : "",
             *slash = strchr(host, '/');
  free(name);
  if (!f || !f->push)
    return print_string("it takes FORMAT=URL, where FORMAT is otlp, otlp-proto, otlp-metrics, "
                        "ndjson, clickhouse or pprof");
  if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
    return print_string("it takes a URL, as http://HOST:PORT");
  if (strcspn(host, "@") < strcspn(host, "/"))
    return print_string("a URL is no place for a password, which pages and metrics would show: "
                        "--header-file FILE");
  if (!f->push->path && (!slash || !slash[1]))
    return print_string("%s takes a whole URL, with a path", f->name);
  if (w->count == PUSH_MOST)
    return print_string("%d servers at most", PUSH_MOST);
  w->of[w->count++] = (struct push_wish){f, url, print_string("%.*s", (int)strcspn(url, "?"), url)};
  return NULL;
}

static bool wants(const struct push_wishes *w, bool recorded) {
  for (size_t i = 0; i < w->count; i++)
    if (push_is_recorded(&w->of[i]) == recorded)
      return true;
  return false;
}

/* -- who starts them ------------------------------------------------------------------------- */

struct maker {
  struct pushes *all;
  int stop;
  pid_t recorder[RECORDED], of[RECORDED];
  size_t recorders;
};

static pid_t begin_child(void) {
  pid_t parent = getpid(), child = fork();
  if (child)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(0);
  return 0;
}

static void record_one(struct found *found, void *context) {
  struct maker *m = context;
  const char *target = m->all->wishes->target;
  for (size_t i = 0; i < m->recorders; i++)
    if (m->of[i] == found->pid)
      return;
  if (!found->pid || m->recorders == RECORDED || (target && !found_is(found, target)))
    return;
  pid_t child = begin_child();
  if (!child)
    push_requests(&(struct push_job){m->all->wishes, m->all->counts, m->stop}, (pid_t)found->pid);
  if (child < 0)
    return;
  m->recorder[m->recorders] = child;
  m->of[m->recorders++] = (pid_t)found->pid;
}

static void bury(struct maker *m) {
  for (size_t i = 0; i < m->recorders;)
    if (waitpid(m->recorder[i], NULL, WNOHANG) > 0) {
      m->recorder[i] = m->recorder[--m->recorders];
      m->of[i] = m->of[m->recorders];
    } else {
      i++;
    }
}

/* Once when it begins to fail, and once when it has ended. */
static void say_changes(const struct pushes *all, bool *said) {
  for (size_t i = 0; i < all->wishes->count; i++) {
    const struct push_counts *c = &all->counts[i];
    bool fails = c->fails;
    if (fails == said[i])
      continue;
    said[i] = fails;
    complain_never(false);
    if (fails)
      complain("pushing to %s fails, and %s: %.255s", all->wishes->of[i].shown,
               c->refuses ? "what it refuses is dropped" : "is tried again", c->fault);
    else
      complain("%s takes what is pushed again; dropped so far: %" PRIu64, all->wishes->of[i].shown,
               (uint64_t)c->dropped);
    complain_never(true);
  }
}

static _Noreturn void make(struct pushes *all, int stop) {
  struct maker m = {.all = all, .stop = stop};
  bool said[PUSH_MOST] = {false};
  pid_t totals = 0;
  sigset_t none;
  complain_never(true);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGINT, SIG_IGN); /* meant for who started this one, who then ends it */
  do {
    bury(&m);
    say_changes(all, said);
    if (wants(all->wishes, true))
      find_live(record_one, &m);
    if (totals && waitpid(totals, NULL, WNOHANG) > 0)
      totals = 0;
    if (!totals && wants(all->wishes, false) && !(totals = begin_child()))
      push_totals(&(struct push_job){all->wishes, all->counts, stop});
  } while (!push_ends_within(stop, (uint64_t)LOOK_MS * 1000000));
  for (size_t i = 0; i < m.recorders; i++)
    kill(m.recorder[i], SIGTERM); /* ends its recording, and sends that */
  while (wait(NULL) > 0 || errno == EINTR)
    ;
  _exit(0);
}

struct pushes *pushes_start(const struct push_wishes *w) {
  int stop[2];
  if (!w->count)
    return NULL;
  if (w->headers && access(w->headers, R_OK)) { /* each process reads it, and has nobody to tell */
    complain("cannot read %s: %s", w->headers, strerror(errno));
    return NULL;
  }
  struct pushes *all = allocate(1, sizeof *all);
  *all = (struct pushes){.wishes = w, .maker = -1};
  all->counts = mmap(NULL, sizeof *all->counts * PUSH_MOST, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fflush(NULL);
  if (all->counts != MAP_FAILED && pipe2(stop, O_CLOEXEC) == 0) {
    all->maker = begin_child();
    if (all->maker == 0) {
      close(stop[1]);
      make(all, stop[0]);
    }
    close(stop[0]);
    all->stop = stop[1];
  }
  if (all->maker > 0)
    return all;
  complain("nothing can be pushed: %s", strerror(errno));
  free(all);
  return NULL;
}

void pushes_end(struct pushes *all) {
  if (!all)
    return;
  close(all->stop);
  while (waitpid(all->maker, NULL, 0) < 0 && errno == EINTR)
    ;
  munmap(all->counts, sizeof *all->counts * PUSH_MOST);
  free(all);
}

/* -- what is told ------------------------------------------------------------------------------ */

void pushes_json(const struct pushes *all, struct emit *e) {
  emit_open(e, "pushes", '[');
  for (size_t i = 0; i < all->wishes->count; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "format", all->wishes->of[i].format->name);
    emit_text(e, "url", all->wishes->of[i].shown);
    push_counts_json(&all->counts[i], e);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

struct format_pushed *pushes_states(const struct pushes *all, size_t *count) {
  size_t pushes = all ? all->wishes->count : 0;
  struct format_pushed *state = allocate(pushes + 1, sizeof *state);
  for (size_t i = 0; i < pushes; i++) {
    const struct push_wish *w = &all->wishes->of[i];
    state[i] = push_counts_state(&all->counts[i], w->format->name, w->shown);
  }
  *count = pushes;
  return state;
}
