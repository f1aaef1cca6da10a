/* SPDX-License-Identifier: MIT */
/* Totals found, tested and read; see load.h. */
#include "load.h"

#include "progress.h"
#include "read/clock.h"
#include "read/util.h"
#include "read/verify.h"
#include "series.h"
#include "show/format.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct view *load_found(const struct found *found, struct view_request request) {
  request.reason = found->state == PROFILE_LIVE ? "request" : "recovered";
  request.path = found->path;
  struct view *v = view_of_profile(found->fd, found->what, found->state, &request);
  if (v && found->state == PROFILE_LIVE) {
    v->alive = true;
    v->stopped = find_is_stopped(found->pid ? found->pid : v->process.pid);
  }
  if (v && !view_is_sound(v)) {
    view_free(v);
    v = NULL;
  }
  return v;
}

static struct view *load_profile(const char *target, struct view_request request) {
  struct found found;
  if (!find_profile(target, false, &found))
    return NULL;
  struct view *v = load_found(&found, request);
  found_release(&found);
  return v;
}

bool found_is(const struct found *found, const char *target) {
  struct aprof_header header;
  uint64_t pid;
  return parse_number(target, &pid) ? found->pid > 0 && (uint64_t)found->pid == pid
                                    : profile_read_header(found->fd, found->what, &header, true) &&
                                          !strcmp(header.name, target);
}

struct all_live {
  const char *target;
  struct view **view;
  size_t views;
};

static void add_live(struct found *found, void *context) {
  struct all_live *all = context;
  if (all->target && !found_is(found, all->target))
    return;
  struct view *v = load_found(found, (struct view_request){0});
  for (size_t i = 0; v && i < all->views; i++)
    if (view_shares_process(all->view[i], v)) {
      view_free(v);
      v = NULL;
    }
  if (!v)
    return;
  all->view = reallocate(all->view, all->views + 1, sizeof *all->view);
  all->view[all->views++] = v;
}

size_t view_load_live(const char *target, struct view ***view) {
  struct all_live all = {.target = target};
  find_live(add_live, &all);
  *view = all.view;
  return all.views;
}

static bool is_directory(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct view *view_load(const char *target, const struct view_request *wanted) {
  if (!target)
    return load_profile(NULL, *wanted);
  bool piped = !strcmp(target, "-"), many = !piped && is_directory(target);
  if (!piped && !many && (is_of_processes(target) || is_profile(target)))
    return load_profile(target, *wanted);
  const char *what = piped ? "standard input" : target;
  if (wanted->loop) {
    complain("%s has the sums of all loops: --loop takes a PID, a name or a profile", what);
    return NULL;
  }
  if (many)
    return series_last(target);
  size_t length;
  char *text = piped ? read_stream(STDIN_FILENO, TOTALS_LIMIT, &length)
                     : read_text_file(target, TOTALS_LIMIT, &length);
  if (!text) {
    complain("cannot read %s: %s", what,
             errno == EFBIG ? "it is over 256 MB, which no totals are" : open_fault(errno));
    return NULL;
  }
  struct view *v = NULL;
  if (piped && length >= 8 && !memcmp(text, APROF_PROFILE_MAGIC, 8))
    complain("standard input is a profile: name its file, or pipe totals: aprof dump -o - FILE");
  else
    v = view_of_totals(text, length, what);
  free(text);
  return v;
}

/* -- a part of the time ------------------------------------------------------------ */

#define FOR_ROW                                                                                    \
  {                                                                                                \
    "for", 0, OPTION_S, offsetof(struct load, span), "TIME",                                       \
        .text = "Measure for TIME from now on, as 10s, and show only that; Ctrl-C ends it before"  \
  }

const struct option_row load_for[] = {FOR_ROW, {0}};
const struct option_row load_options[] = {
    FOR_ROW,
    {"window", 0, OPTION_S, offsetof(struct load, window), "TIME",
     .text = "Show only the last TIME, as 10s: what is more than in earlier totals of the process"},
    {0}};

const char *load_fault(const struct load *l, bool interval) {
  return l->span && l->window    ? "--for measures from now on, --window shows what was: not both"
         : l->span && interval   ? "two targets, or --for: not both"
         : l->window && interval ? "two targets, or --window: not both"
                                 : NULL;
}

static bool is_of_totals(const char *target) {
  return target && (!strcmp(target, "-") || !(is_of_processes(target) || is_profile(target)));
}

/* Where totals of the process go: as we see it, if it lives in another mount namespace. NULL: it
   is not known. free() it. */
static char *directory_of(const struct found *found) {
  struct aprof_header header;
  if (!profile_read_header(found->fd, found->what, &header, true))
    return NULL;
  return found->pid && found->state == PROFILE_LIVE
             ? print_string("/proc/%ld/root%s", found->pid, header.dir)
             : print_string("%s", header.dir);
}

/* The last ns of what is found, or of totals: as far as those beside them tell it. */
static bool cut_found(const struct load *l, const struct found *found, struct view *v) {
  char *directory = directory_of(found);
  bool cut = series_cut(v, directory, l->window);
  free(directory);
  return cut;
}

static bool cut_totals(const struct load *l, const char *target, struct view *v) {
  const char *slash = strrchr(target, '/');
  bool many = is_directory(target), piped = !strcmp(target, "-");
  char *directory = piped            ? NULL
                    : many || !slash ? print_string("%s", many ? target : ".")
                                     : print_string("%.*s", (int)(slash - target) + 1, target);
  bool cut = series_cut(v, directory, l->window);
  free(directory);
  return cut;
}

/* Whether it goes on with them: a live process without earlier totals is left out of all. */
static bool add_live_view(struct load *l, const struct found *found, struct view *v) {
  for (size_t i = 0; v && i < l->views; i++)
    if (view_shares_process(l->view[i], v)) {
      view_free(v);
      v = NULL;
    }
  if (!v || (l->window && !cut_found(l, found, v))) {
    view_free(v);
    return false;
  }
  l->view = reallocate(l->view, l->views + 1, sizeof *l->view);
  l->found = reallocate(l->found, l->views + 1, sizeof *l->found);
  l->found[l->views] = (struct found){.fd = -1};
  l->view[l->views++] = v;
  return true;
}

static void add_live_of_all(struct found *found, void *context) {
  struct load *l = context;
  if (!add_live_view(l, found, load_found(found, l->wanted)))
    return;
  struct found *kept = &l->found[l->views - 1];
  *kept = *found; /* whoever called lets go of nothing then */
  *found = (struct found){.fd = -1};
}

void load_add_live(struct load *l) {
  find_live(add_live_of_all, l);
}

struct named {
  struct load *load;
  const char *name;
};

static void add_live_named(struct found *found, void *context) {
  const struct named *named = context;
  if (found_is(found, named->name))
    add_live_of_all(found, named->load);
}

size_t load_add_named(struct load *l, const char *name) {
  size_t before = l->views;
  find_live(add_live_named, &(struct named){l, name});
  return l->views - before;
}

static struct view *load_window(const struct load *l, const char *target) {
  struct found found = {0};
  bool totals = is_of_totals(target);
  if (!totals && !find_profile(target, false, &found))
    return NULL;
  struct view *v = totals ? view_load(target, &l->wanted) : load_found(&found, l->wanted);
  if (v && !(totals ? cut_totals(l, target, v) : cut_found(l, &found, v))) {
    view_free(v);
    v = NULL;
  }
  if (!totals)
    found_release(&found);
  return v;
}

/* The first view of a span is of a process that lives, and the second of the same one. */
static bool add_live_one(struct load *l, const char *target) {
  bool total = is_of_totals(target);
  struct found *found = &l->found[l->views];
  if (!total && !find_profile(target, false, found))
    return false;
  if (total || found->state != PROFILE_LIVE) {
    complain("%s is of no live process: --for measures one from now on; two totals of a process, "
             "the earlier first, show what lies between them",
             total ? target : found->what);
    if (!total)
      found_release(found);
    return false;
  }
  struct view *v = load_found(found, l->wanted);
  if (v)
    l->view[l->views++] = v;
  else
    found_release(found);
  return v != NULL;
}

bool load_add(struct load *l, const char *target) {
  l->view = reallocate(l->view, l->views + 1, sizeof *l->view);
  if (l->views)
    progress_say("aprof: %zu are read", l->views);
  if (l->span) {
    l->found = reallocate(l->found, l->views + 1, sizeof *l->found);
    return add_live_one(l, target);
  }
  struct view *v = l->window ? load_window(l, target) : view_load(target, &l->wanted);
  if (v)
    l->view[l->views++] = v;
  return v != NULL;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* A descriptor that tells the end of each. */
static size_t watch(const struct load *l, struct pollfd *ends) {
  size_t count = 0;
  for (size_t i = 0; i < l->views; i++) {
    long pid = l->found[i].pid ? l->found[i].pid : (long)l->view[i]->process.pid;
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (fd >= 0)
      ends[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
  }
  return count;
}

/* What has ended is not looked at again; how many go on. */
static size_t still(struct pollfd *ends, size_t count) {
  size_t left = 0;
  for (size_t i = 0; i < count; i++) {
    if (ends[i].fd >= 0 && ends[i].revents) {
      close(ends[i].fd);
      ends[i].fd = -1;
    }
    left += ends[i].fd >= 0;
  }
  return left;
}

/* The terminal's Ctrl-C ends the wait, and a second one the command; where it is ignored, it stays
   so. */
static void wait_for(const struct load *l) {
  enum { STEP = 250000000, MS = 1000000 };
  struct sigaction old, mine = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND};
  struct pollfd *ends = allocate(l->views, sizeof *ends);
  if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
    sigaction(SIGINT, &mine, NULL);
  size_t watched = watch(l, ends), left = watched;
  uint64_t begin = clock_monotonic(), now = begin;
  while (!interrupted && now - begin < l->span && (left || !watched)) {
    uint64_t rest = l->span - (now - begin), step = rest < STEP ? rest : STEP;
    poll(ends, watched, (int)((step + MS - 1) / MS));
    left = still(ends, watched);
    now = clock_monotonic();
    progress_say("aprof: measures %s, %s of %s; Ctrl-C ends it here", l->found[0].what,
                 shown_time(now - begin), shown_time(l->span));
  }
  sigaction(SIGINT, &old, NULL);
  for (size_t i = 0; i < watched; i++)
    if (ends[i].fd >= 0)
      close(ends[i].fd);
  free(ends);
}

bool load_finish(struct load *l) {
  bool done = true;
  if (l->span && l->views)
    wait_for(l);
  progress_end();
  for (size_t i = 0; l->span && done && i < l->views; i++) {
    struct aprof_header header;
    struct found *found = &l->found[i];
    if (profile_read_header(found->fd, found->what, &header, true))
      found->state = profile_state(found->fd, &header);
    struct view_request request = l->wanted;
    request.lived = l->view[i]->now;
    struct view *later = load_found(found, request);
    done = later && view_subtract(later, l->view[i]);
    if (later) {
      view_free(l->view[i]);
      l->view[i] = later;
    }
  }
  return done;
}

void load_release(struct load *l) {
  for (size_t i = 0; i < l->views; i++) {
    view_free(l->view[i]);
    if (l->found)
      found_release(&l->found[i]);
  }
  free(l->view);
  free(l->found);
}
