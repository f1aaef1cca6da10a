/* aprof list: the profiles there are, of live processes and of ended ones. */
#include "ask/format.h"
#include "cli.h"
#include "find.h"
#include "read/clock.h"
#include "read/model.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPTION_SWEEP = 256, OPTION_DRY_RUN, OPTION_DIRECTORY };
enum { SWEEP_DAYS = 7 };
#define DAY_NS 86400000000000u

struct row {
  char *path, *name; /* path: NULL for a memfd */
  dev_t device;
  ino_t inode;
  const char *state;
  int32_t pid;
  int64_t started, touched; /* CLOCK_REALTIME, ns */
  uint64_t created, live, memory;
  bool ended, done; /* done: its totals are written */
};

struct list {
  const char *directory;
  bool sweep, dry_run, failed;
  uint64_t days;
  struct row *row;
  size_t rows, room;
  size_t unreadable[PROFILE_KINDS]; /* by what they are */
};

static const struct argp_option options[] = {
    {"sweep", OPTION_SWEEP, "DAYS", OPTION_ARG_OPTIONAL,
     "Remove profiles left by processes that ended over DAYS days ago (default 7), or are done", 0},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "With --sweep: only say what would be removed", 0},
    {"directory", OPTION_DIRECTORY, "DIR", 0, "Look in DIR only", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct list *list = state->input;
  switch (key) {
  case OPTION_SWEEP:
    list->sweep = true;
    if (arg && (!parse_number(arg, &list->days) || list->days > 36500))
      argp_error(state, "'%s' is not a number of days", arg);
    return 0;
  case OPTION_DRY_RUN:
    list->dry_run = true;
    return 0;
  case OPTION_DIRECTORY:
    list->directory = arg;
    return 0;
  case ARGP_KEY_ARG:
    argp_error(state, "takes no argument ('%s')", arg);
    return 0;
  case ARGP_KEY_END:
    if (list->dry_run && !list->sweep)
      argp_error(state, "--dry-run of what? It goes with --sweep");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Lists the profiles in $XDG_RUNTIME_DIR/aprof and /dev/shm/aprof-UID, and those that live "
    "processes have elsewhere.\v"
    "States: live, off (alive, switched off), busy (ended, its totals are being written), exited "
    "(ended without totals), killed, done (its totals are written, its file could not be removed). "
    "`aprof dump FILE' makes the totals of those that are left.",
    NULL,
    NULL,
    NULL};

static int64_t realtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Futures are counted by the same model as the totals are. */
static void count_futures(struct row *row, int fd, bool live) {
  struct aprof_header header;
  const char *what = row->path ? row->path : "a memfd";
  if (!profile_read_header(fd, what, &header, true))
    return;
  /* A rough rate does: nothing here may wait for a fit. */
  uint64_t rate = header.fit_mult         ? header.fit_mult
                  : header.estimated_mult ? header.estimated_mult
                                          : (uint64_t)1 << 32;
  struct profile *p = profile_read(fd, what, live, false);
  if (!p)
    return;
  uint64_t now = live && p->read_tick ? p->read_tick : clock_greatest(p);
  /* Root looks at everybody's, unasked: what they say of modules is nothing to open. */
  struct names *names = names_new(p, NAMES_UNOPENED);
  struct model *m = model_new(p, names, rate, now, !live);
  for (uint32_t i = 0; i < m->nodes; i++) {
    const struct model_node *n = &m->node[i];
    row->live += n->live;
    row->created += n->done + n->failed + n->cancelled + n->detached + n->live;
  }
  if (now > header.tick0 && header.clock_source != APROF_CLOCK_VIRTUAL)
    row->touched = header.started_at_ns + (int64_t)clock_to_ns(now - header.tick0, rate);
  model_free(m);
  names_free(names);
  profile_free(p);
}

static const char *state_text(enum profile_state state, const struct aprof_header *header) {
  switch (state) {
  case PROFILE_LIVE:
    return header->enabled ? "live" : "off";
  case PROFILE_BUSY:
    return "busy";
  default:
    return header->totals_written ? "done" : header->exit_tick ? "exited" : "killed";
  }
}

static bool is_listed(const struct list *list, const struct stat *st) {
  for (size_t i = 0; i < list->rows; i++)
    if (list->row[i].inode == st->st_ino && list->row[i].device == st->st_dev)
      return true;
  return false;
}

static void add_row(struct found *found, void *context) {
  struct list *list = context;
  struct aprof_header header;
  struct stat st;
  if (fstat(found->fd, &st) || is_listed(list, &st) ||
      !profile_read_header(found->fd, found->what, &header, true))
    return;
  if (list->rows == list->room) {
    list->room = list->room ? list->room * 2 : 16;
    list->row = reallocate(list->row, list->room, sizeof *list->row);
  }
  struct row *row = &list->row[list->rows++];
  *row = (struct row){
      .path = found->path ? print_string("%s", found->path) : NULL,
      .name = print_string("%s", header.name),
      .device = st.st_dev,
      .inode = st.st_ino,
      .state = state_text(found->state, &header),
      .pid = header.pid,
      .started = header.started_at_ns,
      .touched = header.started_at_ns,
      .memory = header.used,
      .ended = found->state == PROFILE_LEFT,
      .done = found->state == PROFILE_LEFT && header.totals_written,
  };
  clean_text(row->name);
  count_futures(row, found->fd, found->state == PROFILE_LIVE);
  /* Where its events say less, or cannot be read. */
  int64_t changed = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
  if (changed > row->touched)
    row->touched = changed;
}

/* False where it should be gone and is not: the file that was looked at, no other. */
static bool sweep(const struct list *list, const struct row *row, const struct entry *entry) {
  struct stat st;
  bool old = realtime() - row->touched >= (int64_t)(list->days * DAY_NS);
  if (!row->ended || !(old || row->done))
    return true;
  if (list->dry_run) {
    printf("would remove %s\n", row->path);
    return true;
  }
  if (fstatat(entry->directory, entry->name, &st, AT_SYMLINK_NOFOLLOW) || st.st_ino != row->inode ||
      st.st_dev != row->device)
    return true;
  if (unlinkat(entry->directory, entry->name, 0) && errno != ENOENT) {
    complain("cannot remove %s: %s", row->path, strerror(errno));
    return false;
  }
  printf("removed %s\n", row->path);
  return true;
}

/* One that is of no use here; it takes memory all the same. */
static bool visit_unreadable(struct list *list, const struct entry *entry) {
  struct found found;
  struct stat st;
  enum profile_kind kind;
  if (!find_unreadable(entry, &found, &kind))
    return false;
  if (found.state == PROFILE_LEFT && fstat(found.fd, &st) == 0) {
    struct row row = {.path = found.path,
                      .device = st.st_dev,
                      .inode = st.st_ino,
                      .touched = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
                      .ended = true};
    if (list->sweep && !sweep(list, &row, entry))
      list->failed = true;
  }
  list->unreadable[kind] += kind == PROFILE_OTHER_VERSION || found.state == PROFILE_LEFT;
  found_release(&found);
  return true;
}

static void visit_file(const struct entry *entry, void *context) {
  struct list *list = context;
  struct found found;
  if (visit_unreadable(list, entry))
    return;
  if (!find_entry(entry, false, &found)) {
    list->failed = true;
    return;
  }
  size_t before = list->rows;
  add_row(&found, list);
  if (list->sweep && list->rows > before && !sweep(list, &list->row[before], entry))
    list->failed = true;
  found_release(&found);
}

static int by_start(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return x->started < y->started ? -1 : x->started > y->started;
}

static void print_rows(const struct list *list) {
  int64_t now = realtime();
  if (!list->rows) {
    puts("no profiles");
    return;
  }
  printf("%7s  %-6s  %-16s %8s %8s %8s %9s  %s\n", "PID", "STATE", "PROGRAM", "AGE", "FUTURES",
         "LIVE", "MEMORY", "PROFILE");
  for (size_t i = 0; i < list->rows; i++) {
    const struct row *row = &list->row[i];
    uint64_t age = now > row->started ? (uint64_t)(now - row->started) : 0;
    printf("%7" PRId32 "  %-6s  ", row->pid, row->state);
    print_left(stdout, cut_right(row->name, 16), 16);
    printf(" %8s %8s %8s %6" PRIu64 " kB  %s\n", shown_time(age), shown_count(row->created),
           shown_count(row->live), row->memory / 1024, row->path ? row->path : "(memfd)");
  }
}

/* One line, however many there are: after an update, or a test that kills. */
static void tell_unreadable(const struct list *list) {
  size_t other = list->unreadable[PROFILE_OTHER_VERSION];
  size_t unfinished = list->unreadable[PROFILE_UNFINISHED];
  if (other)
    printf("%zu more, written by another version of aprof, whose command reads %s\n", other,
           other == 1 ? "it" : "them");
  if (unfinished)
    printf("%zu more with nothing in %s: killed at the first future\n", unfinished,
           unfinished == 1 ? "it" : "them");
  if (other || unfinished)
    puts("`aprof list --sweep' removes old ones of these too");
}

int cmd_list(int argc, char **argv) {
  struct list list = {.days = SWEEP_DAYS};
  argp_parse(&argp, argc, argv, 0, NULL, &list);
  if (list.directory && access(list.directory, F_OK)) {
    complain("cannot look into %s: %s", list.directory, strerror(errno));
    list.failed = true;
  } else if (!find_all(list.directory, visit_file, &list))
    list.failed = true;
  if (!list.directory && !list.sweep)
    find_live(add_row, &list);
  if (list.rows)
    qsort(list.row, list.rows, sizeof *list.row, by_start);
  if (!list.sweep)
    print_rows(&list);
  if (!list.sweep)
    tell_unreadable(&list);
  for (size_t i = 0; i < list.rows; i++) {
    free(list.row[i].path);
    free(list.row[i].name);
  }
  free(list.row);
  return list.failed ? CLI_FAILED : CLI_OK;
}
