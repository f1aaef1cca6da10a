/* SPDX-License-Identifier: MIT */
/* Totals again and again; see periodic.h. */
#include "periodic.h"

#include "cli.h"
#include "output.h"
#include "read/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
enum { APART = 2, DIGITS = 6 }; /* rounds, in times of what one costs; of the number in a name */

const char *periodic_fault(uint64_t every, uint64_t keep) {
  if (!every && keep != UNKNOWN)
    return "--keep is of totals that are made --every TIME";
  return every && (every < SECOND / 100 || every > 86400 * SECOND) ? "--every is 10ms to 24h"
                                                                   : NULL;
}

/* -- files ------------------------------------------------------------------------------ */

/* Whichever process of that name and number they are of: in a container it is 1 each time. */
struct files {
  char *directory, *prefix;
  uint64_t *number; /* in order */
  size_t count;
};

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x > y ? 1 : x < y ? -1 : 0;
}

/* 0: it is none of them. */
static uint64_t number_of(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  char *end;
  if (strncmp(name, prefix, length) || name[length] < '0' || name[length] > '9')
    return 0;
  uint64_t number = strtoull(name + length, &end, 10);
  return strcmp(end, ".json") ? 0 : number;
}

static char *path_of(const struct files *files, uint64_t number) {
  return print_string("%s/%s%0*" PRIu64 ".json", files->directory, files->prefix, DIGITS, number);
}

static void find_files(struct files *files) {
  DIR *directory = opendir(files->directory);
  const struct dirent *entry;
  while (directory && (entry = readdir(directory))) {
    uint64_t number = number_of(entry->d_name, files->prefix);
    if (!number)
      continue;
    files->number = reallocate(files->number, files->count + 1, sizeof *files->number);
    files->number[files->count++] = number;
  }
  if (directory)
    closedir(directory);
  if (files->count)
    qsort(files->number, files->count, sizeof *files->number, by_number);
}

static void remove_oldest(const struct files *files, uint64_t keep) {
  for (size_t i = 0; i + keep < files->count; i++) {
    char *path = path_of(files, files->number[i]);
    if (unlink(path) && errno != ENOENT)
      complain("cannot remove %s: %s", path, strerror(errno));
    free(path);
  }
}

static bool write_next(const struct periodic *p, struct found *found, struct files *files) {
  struct view_request request = {.reason = "request", .path = found->path};
  find_files(files);
  char *path = path_of(files, files->count ? files->number[files->count - 1] + 1 : 1);
  char *place = output_totals(path, false, found->fd, found->what, PROFILE_LIVE, &request);
  bool written = place != NULL;
  if (written && p->keep)
    remove_oldest(files, p->keep - 1); /* that one is not among them */
  free(place);
  free(path);
  return written;
}

void periodic_write(struct periodic *p, struct found *found, long pid) {
  struct aprof_header header;
  complain_never(p->failed);
  if (profile_read_header(found->fd, found->what, &header, true) &&
      profile_state(found->fd, &header) == PROFILE_LIVE) {
    const char *directory = p->into ? p->into : header.dir;
    header.pid = (int32_t)pid;
    char *usual = output_name(directory, &header, 0);
    if (usual) {
      const char *name = strrchr(usual, '/') + 1;
      struct files files = {
          .directory = print_string("%s", directory),
          .prefix = print_string("%.*severy-", (int)(strrchr(name, '.') - name) + 1, name)};
      p->failed = !write_next(p, found, &files);
      free(files.directory);
      free(files.prefix);
      free(files.number);
    }
    free(usual);
  }
  complain_never(false);
}

/* -- the process that makes them ------------------------------------------------------------- */

/* True: who started this one has ended, or wants no more. */
static bool ends_within(int stop, uint64_t ns) {
  struct pollfd fd = {.fd = stop, .events = POLLIN};
  struct timespec time = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
  int ready = ppoll(&fd, 1, &time, NULL);
  return ready > 0 || (ready < 0 && errno != EINTR);
}

static _Noreturn void make_rounds(struct periodic *p, int stop) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    signal(signals[i], SIG_IGN); /* meant for who started this one, who then ends it */
  uint64_t due = clock_monotonic() + p->every;
  for (;;) {
    uint64_t now = clock_monotonic();
    if (ends_within(stop, due > now ? due - now : 0))
      _exit(0);
    if ((now = clock_monotonic()) < due)
      continue;
    p->round(p);
    uint64_t done = clock_monotonic(), earliest = done + APART * (done - now);
    due += p->every;
    due = due > earliest ? due : earliest;
  }
}

bool periodic_start(struct periodic *p) {
  int stop[2];
  if (!p->every)
    return true;
  fflush(NULL);
  bool piped = pipe2(stop, O_CLOEXEC) == 0;
  p->maker = piped ? fork() : -1;
  if (p->maker == 0) {
    close(stop[1]);
    make_rounds(p, stop[0]);
  }
  if (p->maker < 0)
    complain("no totals --every TIME: %s", strerror(errno));
  if (piped)
    close(stop[0]);
  p->stop = piped ? stop[1] : -1;
  return p->maker > 0;
}

void periodic_end(struct periodic *p) {
  if (p->maker <= 0)
    return;
  close(p->stop);
  while (waitpid(p->maker, NULL, 0) < 0 && errno == EINTR)
    ;
  p->maker = 0;
}
