/* SPDX-License-Identifier: MIT */
/* From what a user names to a profile; see target.h. */
#include "target.h"

#include "cli.h"
#include "core.h"
#include "listing.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- by name ----------------------------------------------------------------------- */

struct choice {
  const char *name;
  struct listing live, left;
};

static void choose(struct found *found, void *context) {
  struct choice *choice = context;
  struct aprof_header header;
  if (profile_read_header(found->fd, found->what, &header, true) &&
      !strcmp(header.name, choice->name))
    listing_add(found, found->state == PROFILE_LIVE ? &choice->live : &choice->left);
}

static void choose_file(const struct entry *entry, void *context) {
  struct found found;
  enum profile_kind kind;
  if (!find_unreadable(entry, &found, &kind)) {
    if (!find_entry(entry, false, &found))
      return;
    choose(&found, context);
  }
  found_release(&found);
}

static void list_file(const struct entry *entry, void *context) {
  struct found found;
  enum profile_kind kind;
  if (find_unreadable(entry, &found, &kind) || find_entry(entry, false, &found)) {
    listing_add(&found, context);
    found_release(&found);
  }
}

static bool find_named(const char *name, bool writable, struct found *found) {
  struct choice choice = {.name = name};
  find_all(NULL, choose_file, NULL, &choice);
  find_live(choose, &choice);
  struct listing *of = choice.live.rows ? &choice.live : &choice.left;
  /* The path of a live one may be that of another mount namespace, a container's. */
  bool ok = of->rows == 1 && (of == &choice.live ? find_process(of->row->pid, writable, found)
                                                 : find_file(of->row->path, writable, found));
  if (!of->rows)
    complain("there is no file %s, and no process of that name has a profile; `aprof list' shows "
             "which have one",
             name);
  if (of->rows > 1) {
    complain("%zu %s called %s; name one by its %s:", of->rows,
             of == &choice.live ? "live processes are" : "profiles are left of processes", name,
             of == &choice.live ? "PID" : "profile");
    listing_print(of, stderr);
    exit(CLI_USAGE);
  }
  listing_release(&choice.live);
  listing_release(&choice.left);
  return ok;
}

static bool is_program(const char *path) {
  char magic[4] = "";
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  bool program = fd >= 0 && pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4);
  if (fd >= 0)
    close(fd);
  return program;
}

/* Who stands where a program was built has its file beside them; NULL: another file is meant. */
static const char *name_of_processes(const char *target) {
  const char *slash = strrchr(target, '/');
  if (access(target, F_OK))
    return slash ? NULL : target;
  return !is_program(target) ? NULL : slash ? slash + 1 : target;
}

bool is_of_processes(const char *target) {
  return name_of_processes(target) != NULL;
}

bool is_profile(const char *path) {
  char magic[8] = "";
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return false;
  bool profile = pread(fd, magic, 8, 0) == 8 && !memcmp(magic, APROF_PROFILE_MAGIC, 8);
  close(fd);
  return profile;
}

static bool find_only(bool writable, struct found *found) {
  struct listing all = {0};
  find_live(listing_add, &all);
  if (all.rows != 1) {
    complain(all.rows ? "which of these processes? Give a PID or a NAME"
                      : "no live process is profiled; name a profile, totals or a core");
    listing_release(&all);
    all = (struct listing){0};
    find_all(NULL, list_file, NULL, &all);
    find_live(listing_add, &all);
    listing_print(&all, stderr);
    exit(CLI_USAGE);
  }
  bool ok = find_process(all.row->pid, writable, found);
  listing_release(&all);
  return ok;
}

bool find_profile(const char *target, bool writable, struct found *found) {
  if (!target)
    return find_only(writable, found);
  const char *name = name_of_processes(target);
  uint64_t pid;
  if (core_is(target)) {
    char *profile = core_profile(target);
    bool ok = profile && find_file(profile, writable, found);
    free(profile);
    return ok;
  }
  if (!name)
    return find_file(target, writable, found);
  if (!parse_number(target, &pid))
    return find_named(name, writable, found);
  if (pid == 0 || pid > INT_MAX) {
    complain("%s is not a process number", target);
    return false;
  }
  return find_process((long)pid, writable, found);
}
