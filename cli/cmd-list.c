/* aprof list: the profiles there are, of live processes and of ended ones. */
#include "cli.h"
#include "clock.h"
#include "find.h"
#include "format.h"
#include "model.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
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
  char *path, *name;
  const char *state;
  int32_t pid;
  int64_t started, touched; /* CLOCK_REALTIME, ns */
  uint64_t created, live, memory;
  bool ended;
};

struct list {
  const char *directory;
  bool sweep, dry_run;
  uint64_t days;
  struct row *row;
  size_t rows, room;
};

static const struct argp_option options[] = {
    {"sweep", OPTION_SWEEP, "DAYS", OPTION_ARG_OPTIONAL,
     "Remove profiles left by processes that ended over DAYS days ago (default 7)", 0},
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
    "Lists the profiles in $XDG_RUNTIME_DIR/aprof and /dev/shm/aprof-UID.\v"
    "States: live, off (alive, switched off), busy (ended, its totals are being written), exited "
    "(ended without totals), killed. `aprof dump FILE' makes the totals of those that are left.",
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
  if (!profile_read_header(fd, row->path, &header, true))
    return;
  /* A rough rate does: nothing here may wait for a fit. */
  uint64_t rate = header.fit_mult         ? header.fit_mult
                  : header.estimated_mult ? header.estimated_mult
                                          : (uint64_t)1 << 32;
  struct profile *p = profile_read(fd, row->path, live);
  if (!p)
    return;
  uint64_t now = live && p->read_tick ? p->read_tick : clock_greatest(p);
  struct names *names = names_new(p, 0);
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
    return header->exit_tick ? "exited" : "killed";
  }
}

/* Of a file whose events say less, or cannot be read. */
static int64_t last_change(int fd) {
  struct stat st;
  return fstat(fd, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static void add_row(const char *path, void *context) {
  struct list *list = context;
  struct found found;
  struct aprof_header header;
  if (!find_file(path, false, &found))
    return;
  if (list->rows == list->room) {
    list->room = list->room ? list->room * 2 : 16;
    list->row = reallocate(list->row, list->room, sizeof *list->row);
  }
  if (profile_read_header(found.fd, path, &header, true)) {
    struct row *row = &list->row[list->rows++];
    *row = (struct row){
        .path = print_string("%s", path),
        .name = print_string("%s", header.name),
        .state = state_text(found.state, &header),
        .pid = header.pid,
        .started = header.started_at_ns,
        .touched = header.started_at_ns,
        .memory = header.used,
        .ended = found.state == PROFILE_LEFT,
    };
    clean_text(row->name);
    count_futures(row, found.fd, found.state == PROFILE_LIVE);
    int64_t changed = last_change(found.fd);
    if (changed > row->touched)
      row->touched = changed;
  }
  found_release(&found);
}

static int by_start(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return x->started < y->started ? -1 : x->started > y->started;
}

/* False where it should be gone and is not. */
static bool sweep(const struct list *list, const struct row *row) {
  if (!row->ended || realtime() - row->touched < (int64_t)(list->days * DAY_NS))
    return true;
  if (list->dry_run) {
    printf("would remove %s\n", row->path);
    return true;
  }
  if (unlink(row->path) && errno != ENOENT) {
    complain("cannot remove %s: %s", row->path, strerror(errno));
    return false;
  }
  printf("removed %s\n", row->path);
  return true;
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
           shown_count(row->live), row->memory / 1024, row->path);
  }
}

int cmd_list(int argc, char **argv) {
  struct list list = {.days = SWEEP_DAYS};
  int status = CLI_OK;
  argp_parse(&argp, argc, argv, 0, NULL, &list);
  find_all(list.directory, add_row, &list);
  if (list.rows)
    qsort(list.row, list.rows, sizeof *list.row, by_start);
  if (!list.sweep)
    print_rows(&list);
  for (size_t i = 0; i < list.rows; i++) {
    if (list.sweep && !sweep(&list, &list.row[i]))
      status = CLI_FAILED;
    free(list.row[i].path);
    free(list.row[i].name);
  }
  free(list.row);
  return status;
}
