/* SPDX-License-Identifier: MIT */
/* What was made into files; see output.h. */
#include "output.h"

#include "read/clock.h"
#include "read/verify.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *output_name(const char *dir, const struct aprof_header *header, uint64_t sequence) {
  const char *name = header->name;
  if (!name[0] || name[0] == '.' || strchr(name, '/')) {
    complain("the profile names no program that a file could be called after; use -o FILE");
    return NULL;
  }
  if (dir[0] == 0) {
    complain("the profile names no directory for its totals; use `aprof dump -o FILE'");
    return NULL;
  }
  if (sequence)
    return print_string("%s/%s.%" PRId32 ".%" PRIu64 ".json", dir, name, header->pid, sequence);
  return print_string("%s/%s.%" PRId32 ".json", dir, name, header->pid);
}

static void cannot_write(const char *path, int error, bool given, const struct view *v) {
  const char *kept = given ? NULL : v->process.profile;
  complain("cannot write %s: %s; choose another place with -o, or dir: in APROF_OPTIONS%s%s", path,
           strerror(error), kept ? "; the profile is kept: aprof dump " : "", kept ? kept : "");
}

/* -- what ends the command half way ---------------------------------------------- */

static char *volatile unfinished; /* the name of what is being written, or NULL */

static void remove_unfinished(void) {
  if (unfinished)
    unlink(unfinished);
}

static void on_end(int number) {
  remove_unfinished();
  raise(number); /* by now the default action, once this handler is left */
}

/* Signals that are ignored stay so. */
static void take_along(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction old, mine = {.sa_handler = on_end, .sa_flags = SA_RESETHAND};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(ends[i], &mine, NULL);
  static bool at_exit; /* where memory is short, too */
  if (!at_exit)
    at_exit = atexit(remove_unfinished) == 0;
  signal(SIGXFSZ, SIG_IGN); /* a limit of the file size is an error like others */
}

void output_in_spite_of_signals(void) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

/* -- writing --------------------------------------------------------------------- */

/* Devices, pipes, links: nothing to rename over. */
static bool write_directly(const char *path, output_writer *writer, const void *of) {
  FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
  if (!out) {
    cannot_write(path, errno, true, NULL);
    return false;
  }
  errno = 0; /* what fails may fail in there, with nothing left to flush */
  writer(of, out);
  bool written = fflush(out) == 0 && !ferror(out);
  int error = errno;
  if (out != stdout && fclose(out) && written) {
    written = false;
    error = errno;
  }
  if (!written)
    cannot_write(path, error ? error : EIO, true, NULL);
  return written;
}

/* -- names that are taken ---------------------------------------------------------- */

enum { HEAD = 8192 }; /* bytes of totals that "process" is in */

/* When the profile began, as its totals say it; false where they cannot. */
static bool started_at(const struct aprof_header *header, char text[64]) {
  time_t seconds = header->started_at_ns / 1000000000;
  struct tm when;
  if (header->started_at_ns < 0 || !gmtime_r(&seconds, &when))
    return false;
  size_t length = strftime(text, 64, "%Y-%m-%dT%H:%M:%S", &when);
  snprintf(text + length, 64 - length, ".%09dZ", (int)(header->started_at_ns % 1000000000));
  return true;
}

/* Totals of another process lie there: it has, or had, the same PID, in a namespace of its own, on
   another machine, or before. */
static bool is_anothers(const char *path, const char *start) {
  char head[HEAD + 1];
  int fd = open_regular(AT_FDCWD, path, O_NOFOLLOW | O_CLOEXEC);
  ssize_t length = fd < 0 ? 0 : read(fd, head, HEAD);
  if (fd >= 0)
    close(fd);
  head[length > 0 ? length : 0] = 0;
  char *mine = print_string("\"started_at\":\"%s\"", start);
  bool another =
      strstr(head, "aprof.totals/") && strstr(head, "\"started_at\":\"") && !strstr(head, mine);
  free(mine);
  return another;
}

/* PROG.PID-START.json, from PROG.PID.json. */
static char *name_apart(const char *path, const char *start) {
  char when[64], *to = when;
  for (const char *from = start; *from; from++)
    if (!strchr("-:Z", *from))
      *to++ = *from;
  *to = 0;
  return print_string("%.*s-%s.json", (int)(strrchr(path, '.') - path), path, when);
}

/* Under its name, or where another process has that, under one of its own. Two that begin to
   write at once do not see each other's: whoever comes second finds the name taken. */
static char *move_to_free_name(const char *temporary, const char *path, int fd, const char *what) {
  struct aprof_header header;
  char start[64], *place = print_string("%s", path);
  if (renameat2(AT_FDCWD, temporary, AT_FDCWD, place, RENAME_NOREPLACE) == 0)
    return place;
  if (profile_read_header(fd, what, &header, true) && started_at(&header, start) &&
      is_anothers(place, start)) {
    free(place);
    place = name_apart(path, start);
  }
  if (rename(temporary, place) == 0)
    return place;
  free(place);
  return NULL;
}

static char *move(const char *temporary, const char *path, bool given, int fd, const char *what) {
  if (!given)
    return move_to_free_name(temporary, path, fd, what);
  return rename(temporary, path) ? NULL : print_string("%s", path);
}

static bool is_plain(const char *path) {
  struct stat st;
  return strcmp(path, "-") && (lstat(path, &st) || S_ISREG(st.st_mode));
}

/* A file without a name, of which nothing stays however the command ends; or, where the file system
   has no such file, one with the temporary name. */
static int open_unfinished(const char *path, char *temporary) {
  const char *slash = strrchr(path, '/');
  char *directory = slash ? print_string("%.*s", (int)(slash - path) + 1, path) : NULL;
  int target = -1;
  if (access("/proc/self/fd", X_OK) == 0) /* else it could get no name later */
    target = open(directory ? directory : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  free(directory);
  if (target >= 0)
    return target;
  unfinished = temporary;
  return mkostemp(temporary, O_CLOEXEC);
}

/* Whole, it is to be found by the temporary name for as long as it takes to put it in its place. */
static bool give_name(int target, char *temporary) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  char self[64], *end = temporary + strlen(temporary) - 6;
  snprintf(self, sizeof self, "/proc/self/fd/%d", target);
  errno = EEXIST;
  while (!unfinished && errno == EEXIST) {
    uint64_t random = clock_monotonic() ^ (uint64_t)getpid() << 15;
    for (int i = 0; i < 6; i++)
      end[i] = letters[random >> 5 * i & 31];
    if (linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0)
      unfinished = temporary;
  }
  return unfinished != NULL;
}

static char *output_by(output_writer *writer, const void *of, const char *path, bool given, int fd,
                       const struct view *v) {
  if (given && !is_plain(path))
    return write_directly(path, writer, of) ? print_string("%s", path) : NULL;
  char *temporary = print_string("%s.XXXXXX", path), *place = NULL;
  take_along();
  int target = open_unfinished(path, temporary);
  FILE *out = target < 0 ? NULL : fdopen(target, "w");
  if (!out) {
    cannot_write(path, errno, given, v);
    unfinished = NULL;
    free(temporary);
    return NULL;
  }
  mode_t mask = umask(0);
  umask(mask);
  fchmod(target, 0666 & ~mask);
  errno = 0; /* what fails may fail in there, with nothing left to flush */
  writer(of, out);
  int error = fflush(out) || ferror(out) ? (errno ? errno : EIO) : 0;
  if (!error && !give_name(target, temporary))
    error = errno;
  if (fclose(out) && !error)
    error = errno;
  if (!error && !(place = move(temporary, path, given, fd, v ? v->what : path)))
    error = errno;
  if (error)
    cannot_write(path, error, given, v);
  if (!place)
    remove_unfinished();
  unfinished = NULL;
  free(temporary);
  return place;
}

bool output_given(const char *path, output_writer *writer, const void *of) {
  char *place = output_by(writer, of, path, true, -1, NULL);
  bool written = place != NULL;
  free(place);
  return written;
}

static void write_view(const void *v, FILE *out) {
  totals_write(v, out);
}

char *output_view(const char *path, bool given, int fd, const struct view *v) {
  return output_by(write_view, v, path, given, fd, v);
}

char *output_totals(const char *path, bool given, int fd, const char *what,
                    enum profile_state state, const struct view_request *request) {
  struct view *v = view_of_profile(fd, what, state, request);
  char *place = v && view_is_sound(v) ? output_view(path, given, fd, v) : NULL;
  view_free(v);
  return place;
}
