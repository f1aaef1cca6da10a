/* Totals into files; see output.h. */
#include "output.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void cannot_write(const char *path, int error) {
  complain("cannot write %s: %s; choose another place with -o, or dir: in APROF_OPTIONS", path,
           strerror(error));
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
static bool write_directly(const char *path, int fd, const char *what, enum profile_state state,
                           const struct totals_request *request) {
  FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
  if (!out) {
    cannot_write(path, errno);
    return false;
  }
  bool made = totals_make(fd, what, state, request, out);
  errno = 0;
  bool written = fflush(out) == 0 && !ferror(out);
  int error = errno;
  if (out != stdout && fclose(out) && written) {
    written = false;
    error = errno;
  }
  if (made && !written)
    cannot_write(path, error ? error : EIO);
  return made && written;
}

static bool is_plain(const char *path) {
  struct stat st;
  return strcmp(path, "-") && (lstat(path, &st) || S_ISREG(st.st_mode));
}

bool output_totals(const char *path, bool given, int fd, const char *what, enum profile_state state,
                   const struct totals_request *request) {
  if (given && !is_plain(path))
    return write_directly(path, fd, what, state, request);
  char *temporary = print_string("%s.XXXXXX", path);
  take_along();
  unfinished = temporary;
  int target = mkostemp(temporary, O_CLOEXEC);
  FILE *out = target < 0 ? NULL : fdopen(target, "w");
  if (!out) {
    cannot_write(path, errno);
    unfinished = NULL;
    free(temporary);
    return false;
  }
  mode_t mask = umask(0);
  umask(mask);
  fchmod(target, 0666 & ~mask);
  bool made = totals_make(fd, what, state, request, out);
  int error = ferror(out) ? EIO : 0;
  errno = 0;
  if (fclose(out))
    error = errno ? errno : EIO;
  if (made && !error && rename(temporary, path))
    error = errno;
  if (made && error)
    cannot_write(path, error);
  if (!made || error)
    unlink(temporary);
  unfinished = NULL;
  free(temporary);
  return made && !error;
}
