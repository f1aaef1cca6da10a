/* SPDX-License-Identifier: MIT */
/* After a run; see recover.h. */
#include "recover.h"

#include "cli.h"
#include "find.h"
#include "hold.h"
#include "output.h"
#include "read/clock.h"
#include "read/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* -- whose totals were written -------------------------------------------------- */

/* In the directory of a run: where totals of it are, each behind a NUL. It is there as long as
   somebody waits for the run to end, and so is the directory. */
static const char list_name[] = "written";

static char *list_in(const char *directory) {
  return print_string("%s/%s", directory, list_name);
}

void written_begin(const char *directory) {
  char *list = list_in(directory);
  int fd = open(list, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    complain("cannot make %s: %s; totals of this run will not be found", list, strerror(errno));
  else
    flock(fd, LOCK_EX); /* as long as this process lives, which never closes it */
  free(list);
}

bool written_abandoned(int directory, time_t changed) {
  int fd = open_regular(directory, list_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT && time(NULL) - changed > RECOVER_BEGIN_S;
  bool abandoned = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return abandoned;
}

bool written_sweep(int parent, const char *name, int directory) {
  unlinkat(directory, list_name, 0);
  return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static char *list_beside(const char *profile) {
  const char *slash = strrchr(profile, '/');
  return print_string("%.*s/written", slash ? (int)(slash - profile) : 0, profile);
}

bool written_awaited(const char *profile) {
  char *list = list_beside(profile);
  bool awaited = access(list, F_OK) == 0;
  free(list);
  return awaited;
}

void written_tell(const char *profile, const char *place) {
  char *list = list_beside(profile);
  int fd = open_regular(AT_FDCWD, list, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && write(fd, place, strlen(place) + 1) < 0)
    complain("cannot write %s: %s", list, strerror(errno));
  if (fd >= 0)
    close(fd);
  free(list);
}

void written_leave(const char *profile) {
  const char *slash = strrchr(profile, '/');
  char *directory = print_string("%.*s", slash ? (int)(slash - profile) : 0, profile);
  const char *name = strrchr(directory, '/');
  if (name && !strncmp(name, "/run-", 5))
    rmdir(directory);
  free(directory);
}

static void note(struct written *written, const char *path) {
  for (size_t i = 0; i < written->count; i++)
    if (!strcmp(written->path[i], path))
      return;
  written->path = reallocate(written->path, written->count + 1, sizeof *written->path);
  written->path[written->count++] = print_string("%s", path);
}

static int by_path(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

bool written_end(const char *directory, struct written *written) {
  size_t length = 0;
  char *list = list_in(directory), *text = read_text_file(list, TOTALS_LIMIT, &length);
  bool told = text != NULL;
  for (char *path = text; path && path < text + length; path += strlen(path) + 1)
    if (access(path, F_OK) == 0)
      note(written, path);
  if (written->count)
    qsort(written->path, written->count, sizeof *written->path, by_path);
  unlink(list);
  rmdir(directory); /* stays if a process of the tree lives on */
  free(text);
  free(list);
  return told;
}

void written_release(struct written *written) {
  for (size_t i = 0; i < written->count; i++)
    free(written->path[i]);
  free(written->path);
}

/* -- what was left ---------------------------------------------------------------- */

struct recovery {
  const char *directory;
  const struct killed *killed;
  int64_t latest; /* when the last profile of that process was begun */
  struct written *written;
  bool ok;
};

/* A dump that the process started itself ends soon, and removes the profile. */
static void wait_for_dump(int fd, const struct aprof_header *header) {
  for (int i = 0; i < RECOVER_WAIT_S * 100; i++) {
    if (profile_state(fd, header) != PROFILE_BUSY)
      return;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
}

/* Whether the totals at `path` say that their profile lay in `directory`. */
static bool is_from(const char *path, const char *directory) {
  size_t length;
  char *fault = NULL, *text = read_text_file(path, TOTALS_LIMIT, &length);
  if (!text)
    return false;
  cJSON *json = json_parse(text, length, &fault);
  const char *profile = json_get_text(json_member(json, "process"), "profile");
  size_t prefix = strlen(directory);
  bool from = profile && !strncmp(profile, directory, prefix) && profile[prefix] == '/';
  json_free(json);
  free(fault);
  free(text);
  return from;
}

/* Where its totals go: beside those of this run that have its name already, as of a process
   that became another image of its program. */
static char *place_for(const struct aprof_header *header, const char *directory) {
  char *path;
  for (unsigned sequence = 0; (path = output_name(header->dir, header, sequence)); sequence++) {
    if (access(path, F_OK) || !is_from(path, directory))
      return path;
    free(path);
  }
  return NULL;
}

/* An earlier image of its, before an exec, ended then; one that made no profile is known by its
   other name. */
static bool is_killed(const struct aprof_header *header, const struct recovery *recovery) {
  const struct killed *killed = recovery->killed;
  return killed->pid && header->pid == killed->pid && header->started_at_ns == recovery->latest &&
         !strncmp(header->name, killed->name, sizeof killed->name - 1);
}

static void find_latest(const struct entry *entry, void *context) {
  struct recovery *recovery = context;
  struct aprof_header header;
  int fd = open_regular(entry->directory, entry->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  if (profile_read_header(fd, entry->path, &header, true) && header.pid == recovery->killed->pid &&
      header.started_at_ns > recovery->latest)
    recovery->latest = header.started_at_ns;
  close(fd);
}

/* The tick at which it was killed; 0 where that cannot be told, so that the greatest in the
   profile counts. A virtual clock stands still by itself. */
static uint64_t tick_of_end(const struct found *found, const struct aprof_header *header,
                            const struct killed *killed) {
  if (header->clock_source == APROF_CLOCK_VIRTUAL)
    return 0;
  uint64_t rate = clock_rate(found->fd, found->what, header, false);
  if (!rate)
    return 0;
  uint64_t ago = clock_monotonic() - killed->at_ns, now = profile_clock(header);
  return now - (uint64_t)(((unsigned __int128)ago << 32) / rate);
}

static bool make_totals(struct found *found, const struct aprof_header *header,
                        const struct recovery *recovery) {
  struct view_request request = {.reason = "recovered", .path = found->path};
  if (is_killed(header, recovery))
    request.at = tick_of_end(found, header, recovery->killed);
  char *path = place_for(header, recovery->directory);
  char *place =
      path ? output_totals(path, false, found->fd, found->what, PROFILE_LEFT, &request) : NULL;
  bool ok = place != NULL;
  if (ok)
    note(recovery->written, place);
  free(place);
  free(path);
  return ok;
}

static bool is_gone(const struct entry *entry) {
  return faccessat(entry->directory, entry->name, F_OK, 0) != 0;
}

static void recover_one(const struct entry *entry, void *context) {
  struct recovery *recovery = context;
  struct found found;
  struct aprof_header header;
  const char *path = entry->path;
  if (is_gone(entry) || !find_entry(entry, false, &found))
    return;
  if (profile_read_header(found.fd, path, &header, false)) {
    wait_for_dump(found.fd, &header);
    bool gone = is_gone(entry);
    profile_read_header(found.fd, path, &header, true);
    enum profile_state state = profile_state(found.fd, &header);
    /* One that lives on (a daemon) writes its totals itself when it ends. */
    recovery->written->going += !gone && state != PROFILE_LEFT;
    if (!gone && state == PROFILE_LEFT) {
      hold_wait(path);
      bool ok = header.totals_written || make_totals(&found, &header, recovery);
      recovery->ok &= ok;
      if (ok && unlinkat(entry->directory, entry->name, 0) && errno != ENOENT)
        complain("cannot remove %s: %s; remove it yourself", path, strerror(errno));
    }
  }
  found_release(&found);
}

bool recover_all(const char *directory, const struct killed *killed, struct written *written) {
  struct recovery recovery = {
      .directory = directory, .killed = killed, .written = written, .ok = true};
  if (killed->pid)
    find_all(directory, find_latest, NULL, &recovery);
  find_all(directory, recover_one, NULL, &recovery);
  return recovery.ok;
}
