/* SPDX-License-Identifier: MIT */
/* aprof list: the profiles there are, of live processes and of ended ones. */
#include "arguments.h"
#include "ask/value.h"
#include "cli.h"
#include "find.h"
#include "listing.h"
#include "load.h"
#include "recover.h"
#include "show/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_NS 86400000000000u
#define SWEEP_NS (7 * DAY_NS)

struct list {
  const char *directory;
  bool dry_run, sweep, failed;
  uint64_t age; /* to be swept, ns */
  bool as_json;
  struct emit *json; /* or NULL */
  struct listing found;
  size_t unreadable[PROFILE_KINDS]; /* by what they are */
};

static char *take_age(void *options, const char *text) {
  struct list *list = options;
  list->sweep = true;
  list->age = SWEEP_NS;
  return text && !value_time(text, (double)DAY_NS, &list->age)
             ? print_string("that is no time, as 7d or 12h; a plain number is of days")
             : NULL;
}

static const struct option_row options[] = {
    {"sweep", 0, OPTION_OWN, 0, "AGE",
     .text = "Remove profiles left by processes that ended so long ago (default 7d), or are done",
     .take = take_age, .optional = true},
    {"dry-run", 0, OPTION_FLAG, offsetof(struct list, dry_run),
     .text = "With --sweep: only say what would be removed"},
    {"json", 0, OPTION_FLAG, offsetof(struct list, as_json), .text = "Print JSON (aprof.list/1)"},
    {"directory", 0, OPTION_TEXT, offsetof(struct list, directory), "DIR",
     .text = "Look in DIR only"},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct list *list = a->context;
  if (a->words && (list->sweep || list->directory))
    return "spans of a target, or the profiles of a directory: not both";
  return list->dry_run && !list->sweep ? "--dry-run of what? It goes with --sweep" : NULL;
}

static void tell_gone(const struct list *list, const char *path) {
  if (list->json)
    emit_text(list->json, NULL, path);
  else
    printf(list->dry_run ? "would remove %s\n" : "removed %s\n", path);
}

/* False where it should be gone and is not: the file that was looked at, no other. */
static bool sweep(const struct list *list, const struct listed *row, const struct entry *entry) {
  struct stat st;
  bool old = listing_now() - row->touched >= (int64_t)list->age;
  if (!row->ended || !(old || row->done))
    return true;
  if (list->dry_run) {
    tell_gone(list, row->path);
    return true;
  }
  if (fstatat(entry->directory, entry->name, &st, AT_SYMLINK_NOFOLLOW) || st.st_ino != row->inode ||
      st.st_dev != row->device)
    return true;
  if (unlinkat(entry->directory, entry->name, 0) && errno != ENOENT) {
    complain("cannot remove %s: %s", row->path, strerror(errno));
    return false;
  }
  tell_gone(list, row->path);
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
    struct listed row = {.path = found.path,
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
  size_t before = list->found.rows;
  listing_add(&found, &list->found);
  if (list->sweep && list->found.rows > before && !sweep(list, &list->found.row[before], entry))
    list->failed = true;
  found_release(&found);
}

/* The directory of a run that was killed; a process of it that lives on has its profile there. */
static void leave_run(const struct entry *entry, int directory, time_t changed, void *context) {
  const struct list *list = context;
  if (list->sweep && !list->dry_run && written_abandoned(directory, changed) &&
      written_sweep(entry->directory, entry->name, directory))
    tell_gone(list, entry->path);
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

static void look(struct list *list) {
  if (list->directory && access(list->directory, F_OK)) {
    complain("cannot look into %s: %s", list->directory, strerror(errno));
    list->failed = true;
  } else if (!find_all(list->directory, visit_file, leave_run, list))
    list->failed = true;
  if (!list->directory && !list->sweep)
    find_live(listing_add, &list->found);
}

static void print_json(struct list *list) {
  struct emit *e = list->json = allocate(1, sizeof *list->json);
  emit_begin(e, stdout, "aprof.list/1");
  if (list->sweep) {
    emit_bool(e, "dry_run", list->dry_run);
    emit_open(e, "removed", '[');
    look(list);
    emit_close(e, ']');
  } else {
    look(list);
    listing_json(&list->found, e);
    e->gap = "\n";
    emit_number(e, "other_version", list->unreadable[PROFILE_OTHER_VERSION]);
    emit_number(e, "unfinished", list->unreadable[PROFILE_UNFINISHED]);
  }
  emit_end(e);
  free(e);
}

/* What is kept of the spans of one. */
static int list_spans(const char *target, bool as_json) {
  struct view_request wanted = {.reason = "request", .without_histograms = true};
  struct view *v = view_load(target, &wanted);
  if (v && as_json)
    spans_json(v, stdout);
  else if (v)
    spans_print(v, stdout);
  view_free(v);
  return v ? CLI_OK : CLI_FAILED;
}

int cmd_list(int argc, char **argv) {
  struct list list = {0};
  struct arguments a = {
      .usage = "[TARGET]",
      .offers = OFFER_TARGETS,
      .most = 1,
      .too_many = "one target at a time",
      .about =
          "Lists the profiles in $XDG_RUNTIME_DIR/aprof and /dev/shm/aprof-UID, and those that "
          "live processes have elsewhere; or of TARGET the spans, with what is kept of each (aprof "
          "set).\v"
          "States: live, off (alive, switched off), busy (ended, its totals are being "
          "written), exited (ended without totals), killed, done (its totals are written, its "
          "file could not be removed). `aprof dump FILE' makes the totals of those that are "
          "left.",
      .table = {{options, &list}},
      .fault = fault_of,
      .context = &list};
  arguments_parse(&a, argc, argv);
  if (a.words)
    return list_spans(a.word[0], list.as_json);
  if (list.as_json)
    print_json(&list);
  else
    look(&list);
  if (!list.as_json && !list.sweep) {
    listing_print(&list.found, stdout);
    tell_unreadable(&list);
  }
  listing_release(&list.found);
  return list.failed ? CLI_FAILED : CLI_OK;
}
