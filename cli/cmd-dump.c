/* SPDX-License-Identifier: MIT */
/*
 * aprof dump: the totals of a live process or of a profile that was left over.
 * With --fd it is what the runtime starts at exit and on a signal.
 */
#include "arguments.h"
#include "cli.h"
#include "hold.h"
#include "output.h"
#include "recover.h"
#include "show/totals.h"
#include "target.h"
#include "written-json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dump {
  const char *output;
  uint64_t fd, tell, sequence, at;
  int reason;
  bool json;
};

enum { BY_EXIT, BY_SIGNAL };
static const char *const reasons[] = {"exit", "signal", NULL};

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct dump, output), "FILE",
     .text = "Write to FILE, `-' for standard output (default: PROG.PID.json here)"},
    {"json", 0, OPTION_FLAG, offsetof(struct dump, json),
     .text = "Print which totals are where, as one line of JSON (aprof.written/1)"},
    {"fd", 0, OPTION_COUNT, offsetof(struct dump, fd), "N",
     .text = "Read the profile from descriptor N", .hidden = true},
    {"tell", 0, OPTION_COUNT, offsetof(struct dump, tell), "N",
     .text = "Say to descriptor N where totals are", .hidden = true},
    {"reason", 0, OPTION_WORD, offsetof(struct dump, reason), "WORD", .text = "exit or signal",
     .words = reasons, .hidden = true},
    {"sequence", 0, OPTION_COUNT, offsetof(struct dump, sequence), "K",
     .text = "Number of the signal", .hidden = true},
    {"at", 0, OPTION_COUNT, offsetof(struct dump, at), "TICK",
     .text = "When the totals were asked for", .hidden = true},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct dump *dump = a->context;
  return dump->json && dump->output && !strcmp(dump->output, "-")
             ? "-o - prints the totals, which are JSON; --json, where they are: not both"
             : NULL;
}

static int dump_target(const struct dump *dump, const char *target) {
  struct found found;
  if (!find_profile(target, false, &found))
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
      if (dump->json)
        written_json(&place, 1, NULL, stdout);
      else if (!given)
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
  bool at_exit = dump->reason == BY_EXIT;
  char *path = path_of(fd);
  const char *what = path ? path : "the profile";
  int status = CLI_FAILED;
  /* The run that waits for this process makes what fails here, or says why not. */
  complain_never(at_exit && path && written_awaited(path));
  if (profile_read_header(fd, what, &header, false)) {
    struct view_request request = {
        .reason = reasons[dump->reason],
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
      if (dump->tell != UNKNOWN && dprintf((int)dump->tell, "%s", place) < 0)
        complain("nobody can be told of %s: %s", place, strerror(errno));
      if (at_exit && path)
        hold_wait(path);
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
  struct dump dump = {.fd = UNKNOWN, .tell = UNKNOWN};
  struct arguments a = {
      .usage = "[TARGET]",
      .offers = OFFER_TARGETS,
      .about =
          "Writes the totals of TARGET as JSON: of a process, or of the profile that one left.\v"
          "The process is not disturbed: its profile is read, no signal is sent. A profile is "
          "kept; `aprof list --sweep' removes old ones.\n\n" ARGUMENTS_TARGET,
      .table = {{options, &dump}},
      .most = 1,
      .too_many = "one target at a time",
      .fault = fault_of,
      .context = &dump};
  arguments_parse(&a, argc, argv);
  return dump.fd != UNKNOWN ? dump_descriptor(&dump)
                            : dump_target(&dump, a.words ? a.word[0] : NULL);
}
