/* SPDX-License-Identifier: MIT */
/* Profiles as rows of a table; see listing.h. */
#include "listing.h"

#include "cli.h"
#include "read/clock.h"
#include "read/model.h"
#include "show/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

int64_t listing_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Futures are counted by the same model as the totals are. */
static void count_futures(struct listed *row, int fd, bool live) {
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
  uint64_t now = profile_now(p, live, 0);
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

static bool is_listed(const struct listing *list, const struct stat *st) {
  for (size_t i = 0; i < list->rows; i++)
    if (list->row[i].inode == st->st_ino && list->row[i].device == st->st_dev)
      return true;
  return false;
}

void listing_add(struct found *found, void *context) {
  struct listing *list = context;
  struct aprof_header header;
  struct stat st;
  if (fstat(found->fd, &st) || is_listed(list, &st) ||
      !profile_read_header(found->fd, found->what, &header, true))
    return;
  if (list->rows == list->room) {
    list->room = list->room ? list->room * 2 : 16;
    list->row = reallocate(list->row, list->room, sizeof *list->row);
  }
  struct listed *row = &list->row[list->rows++];
  *row = (struct listed){
      .path = found->path ? print_string("%s", found->path) : NULL,
      .name = print_string("%s", header.name),
      .host = print_string("%s", header.host),
      .device = st.st_dev,
      .inode = st.st_ino,
      .state = state_text(found->state, &header),
      .pid = found->pid ? (int32_t)found->pid : header.pid,
      .started = header.started_at_ns,
      .touched = header.started_at_ns,
      .memory = header.used,
      .ended = found->state == PROFILE_LEFT,
      .done = found->state == PROFILE_LEFT && header.totals_written,
  };
  clean_text(row->name);
  clean_text(row->host);
  if (header.refused_modules) {
    row->refused = print_string("%s", header.refused_name);
    row->refusals = header.refused_modules;
    clean_text(row->refused);
  }
  count_futures(row, found->fd, found->state == PROFILE_LIVE);
  /* Where its events say less, or cannot be read. */
  int64_t changed = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
  if (changed > row->touched)
    row->touched = changed;
}

static int by_start(const void *a, const void *b) {
  const struct listed *x = a, *y = b;
  return x->started < y->started ? -1 : x->started > y->started;
}

void listing_sort(struct listing *list) {
  if (list->rows)
    qsort(list->row, list->rows, sizeof *list->row, by_start);
}

static void print_refused(const struct listing *list, FILE *out) {
  for (size_t i = 0; i < list->rows; i++) {
    const struct listed *row = &list->row[i];
    if (row->refused)
      fprintf(out,
              "%" PRId32 ": %s%s not profiled: built by another version of the plugin; rebuild\n",
              row->pid, row->refused, row->refusals > 1 ? " and others are" : " is");
  }
}

void listing_print(struct listing *list, FILE *out) {
  int64_t now = listing_now();
  if (!list->rows) {
    fputs("no profiles\n", out);
    return;
  }
  listing_sort(list);
  fprintf(out, "%7s  %-6s  %-16s %8s %8s %8s %9s  %s\n", "PID", "STATE", "PROGRAM", "AGE",
          "FUTURES", "LIVE", "MEMORY", "PROFILE");
  for (size_t i = 0; i < list->rows; i++) {
    const struct listed *row = &list->row[i];
    uint64_t age = now > row->started ? (uint64_t)(now - row->started) : 0;
    fprintf(out, "%7" PRId32 "  %-6s  ", row->pid, row->state);
    print_left(out, cut_right(row->name, 16), 16);
    fprintf(out, " %8s %8s %8s %6" PRIu64 " kB  %s\n", shown_time(age), shown_count(row->created),
            shown_count(row->live), row->memory / 1024, row->path ? row->path : "(memfd)");
  }
  print_refused(list, out);
}

void listing_release(struct listing *list) {
  for (size_t i = 0; i < list->rows; i++) {
    free(list->row[i].path);
    free(list->row[i].name);
    free(list->row[i].host);
    free(list->row[i].refused);
    free(list->row[i].build);
    free(list->row[i].labels);
  }
  free(list->row);
}
