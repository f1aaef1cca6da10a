/* SPDX-License-Identifier: MIT */
/*
 * aprof dump: the totals of a live process or of a profile that was left over.
 * With --fd it is what the runtime starts at exit and on a signal.
 */
#include "cli.h"
#include "find.h"
#include "output.h"
#include "recover.h"
#include "show/totals.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dump {
  const char *target, *output, *reason;
  uint64_t fd, sequence, at;
  bool has_fd;
};

enum { OPTION_FD = 256, OPTION_REASON, OPTION_SEQUENCE, OPTION_AT };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "Write to FILE, `-' for standard output (default: PROG.PID.json here)", 0},
    {"fd", OPTION_FD, "N", OPTION_HIDDEN, "Read the profile from descriptor N", 0},
    {"reason", OPTION_REASON, "WORD", OPTION_HIDDEN, "exit or signal", 0},
    {"sequence", OPTION_SEQUENCE, "K", OPTION_HIDDEN, "Number of the signal", 0},
    {"at", OPTION_AT, "TICK", OPTION_HIDDEN, "When the totals were asked for", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct dump *dump = state->input;
  uint64_t *number = NULL;
  switch (key) {
  case 'o':
    dump->output = arg;
    return 0;
  case OPTION_REASON:
    if (strcmp(arg, "exit") && strcmp(arg, "signal"))
      argp_error(state, "the reason is exit or signal, not '%s'", arg);
    dump->reason = arg;
    return 0;
  case OPTION_FD:
    number = &dump->fd;
    dump->has_fd = true;
    break;
  case OPTION_SEQUENCE:
    number = &dump->sequence;
    break;
  case OPTION_AT:
    number = &dump->at;
    break;
  case ARGP_KEY_ARG:
    if (dump->target)
      argp_error(state, "one PID, NAME or FILE at a time");
    dump->target = arg;
    return 0;
  case ARGP_KEY_END:
    if (!dump->target && !dump->has_fd)
      argp_error(
          state,
          "which process or profile? Give a PID, a NAME or a FILE (`aprof list' shows them)");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  if (!parse_number(arg, number))
    argp_error(state, "'%s' is not a number", arg);
  return 0;
}

static const struct argp argp = {
    options,
    parse,
    "PID|NAME|FILE",
    "Writes the totals of process PID, of the process that is called NAME, or of the profile FILE "
    "that a process left, as JSON.\v"
    "The process is not disturbed: its profile is read, no signal is sent. A profile is kept; "
    "`aprof list --sweep' removes old ones.",
    NULL,
    NULL,
    NULL};

static int dump_target(const struct dump *dump) {
  struct found found;
  if (!find_profile(dump->target, false, &found))
    return CLI_FAILED;
  struct aprof_header header;
  int status = CLI_FAILED;
  if (profile_read_header(found.fd, found.what, &header, false)) {
    struct view_request request = {
        .reason = found.state == PROFILE_LIVE ? "request" : "recovered",
        .path = found.path,
    };
    bool given = dump->output != NULL;
    char *path = given ? print_string("%s", dump->output) : output_name(".", &header, 0);
    char *place =
        path ? output_totals(path, given, found.fd, found.what, found.state, &request) : NULL;
    if (place) {
      status = CLI_OK;
      if (!given)
        printf("%s\n", place);
    }
    free(place);
    free(path);
  }
  found_release(&found);
  return status;
}

/* The file that `fd` is: NULL for a memfd, or one that has lost its name. */
static char *path_of(int fd) {
  char link[64], target[4096];
  struct stat st, named;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length <= 0)
    return NULL;
  target[length] = 0;
  if (target[0] != '/' || fstat(fd, &st) || lstat(target, &named) || !S_ISREG(named.st_mode) ||
      named.st_ino != st.st_ino || named.st_dev != st.st_dev)
    return NULL;
  return print_string("%s", target);
}

/* The totals are safe: the profile has done its work. */
static void retire(int fd, const char *path) {
  struct stat st;
  uint32_t written = 1;
  if (pwrite(fd, &written, sizeof written, offsetof(struct aprof_header, totals_written)) < 0 &&
      errno != EBADF)
    complain("cannot mark %s as done: %s", path ? path : "the profile", strerror(errno));
  if (path && fstat(fd, &st) == 0 && st.st_nlink == 1 && st.st_uid == geteuid() && unlink(path) &&
      errno != ENOENT)
    complain("cannot remove %s: %s; remove it yourself", path, strerror(errno));
  if (path)
    written_leave(path);
}

static int dump_descriptor(const struct dump *dump) {
  int fd = (int)dump->fd;
  output_in_spite_of_signals();
  struct aprof_header header;
  bool at_exit = !dump->reason || !strcmp(dump->reason, "exit");
  char *path = path_of(fd);
  const char *what = path ? path : "the profile";
  int status = CLI_FAILED;
  /* The run that waits for this process makes what fails here, or says why not. */
  complain_never(at_exit && path && written_awaited(path));
  if (profile_read_header(fd, what, &header, false)) {
    struct view_request request = {
        .reason = at_exit ? "exit" : "signal",
        .sequence = dump->sequence,
        .at = dump->at  ? dump->at
              : at_exit ? header.exit_tick
                        : 0,
        .path = path,
    };
    enum profile_state state = profile_state(fd, &header);
    char *output = dump->output ? print_string("%s", dump->output)
                                : output_name(header.dir, &header, at_exit ? 0 : dump->sequence);
    char *place =
        output ? output_totals(output, dump->output != NULL, fd, what, state, &request) : NULL;
    if (place) {
      status = CLI_OK;
      complain_never(false);
      if (path)
        written_tell(path, place);
      if (at_exit)
        retire(fd, path);
    }
    free(place);
    free(output);
  }
  free(path);
  return status;
}

int cmd_dump(int argc, char **argv) {
  struct dump dump = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &dump);
  return dump.has_fd ? dump_descriptor(&dump) : dump_target(&dump);
}
