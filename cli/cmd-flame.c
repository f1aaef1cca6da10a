/* SPDX-License-Identifier: MIT */
/* aprof flame: where the time of futures went, as a picture. */
#include "cli.h"
#include "load.h"
#include "output.h"
#include "read/names.h"
#include "show/flame.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
  struct flame_options options;
  regex_t mark;
  const char *output, *target[2];
  int64_t loop;
  bool diff;
};

enum {
  OPTION_EXEC = 256,
  OPTION_WAITING,
  OPTION_QUEUED,
  OPTION_WALL,
  OPTION_DIFF,
  OPTION_PER,
  OPTION_MARK,
  OPTION_LOOP,
  OPTION_ALL
};

static const struct argp_option options[] = {
    {"wall", OPTION_WALL, NULL, 0, "Width is all time of futures, by state (default)", 0},
    {"exec", OPTION_EXEC, NULL, 0, "Width is time that futures ran", 0},
    {"waiting", OPTION_WAITING, NULL, 0, "Width is time that futures waited", 0},
    {"queued", OPTION_QUEUED, NULL, 0, "Width is time that futures were ready and did not run", 0},
    {"diff", OPTION_DIFF, NULL, 0, "Two TARGETs: red grew from A to B, blue shrank", 0},
    {"per", OPTION_PER, "call|second", 0,
     "Divide by the futures of the topmost function, or by the time measured", 0},
    {"mark", OPTION_MARK, "/REGEX/", 0, "Put a thick border around frames whose name fits", 0},
    {"loop", OPTION_LOOP, "TID", 0, "Only what thread TID ran: its loop (of a PID, a name or a profile)",
     0},
    {"all", OPTION_ALL, NULL, 0, "Waiting for new work (listeners, readers), too", 0},
    {"output", 'o', "FILE", 0, "Write to FILE (default: standard output)", 0},
    {0},
};

static void parse_mark(struct request *request, const char *arg, struct argp_state *state) {
  size_t length = strlen(arg);
  bool slashes = length > 1 && arg[0] == '/' && arg[length - 1] == '/';
  char *text = print_string("%.*s", (int)(slashes ? length - 2 : length), arg + slashes);
  int error = *text ? regcomp(&request->mark, text, REG_EXTENDED | REG_NOSUB) : REG_BADPAT;
  if (error) {
    char why[100] = "it is empty";
    if (*text)
      regerror(error, &request->mark, why, sizeof why);
    argp_error(state, "--mark %s: %s", arg, why);
  }
  clean_text(text);
  request->options.mark = text;
  request->options.mark_regex = &request->mark;
}

static void check_targets(const struct request *request, struct argp_state *state) {
  if (!request->target[0])
    argp_error(state, "a picture of what? Give totals, a profile, a PID or a name");
  if (request->diff && !request->target[1])
    argp_error(state, "--diff compares two: give A and B");
  if (!request->diff && request->target[1])
    argp_error(state, "of two only what changed is drawn: give --diff");
  if (!strcmp(request->output, "-") && isatty(STDOUT_FILENO))
    argp_error(state, "an SVG is nothing for a terminal: give -o FILE.svg");
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct request *request = state->input;
  uint64_t number;
  switch (key) {
  case OPTION_EXEC:
    request->options.measure = FLAME_EXEC;
    return 0;
  case OPTION_WAITING:
    request->options.measure = FLAME_WAITING;
    return 0;
  case OPTION_QUEUED:
    request->options.measure = FLAME_QUEUED;
    return 0;
  case OPTION_WALL:
    request->options.measure = FLAME_WALL;
    return 0;
  case OPTION_DIFF:
    request->diff = true;
    return 0;
  case OPTION_PER:
    if (strcmp(arg, "call") && strcmp(arg, "second"))
      argp_error(state, "--per %s: it is per call or per second", arg);
    request->options.per = *arg == 'c' ? FLAME_PER_CALL : FLAME_PER_SECOND;
    return 0;
  case OPTION_MARK:
    parse_mark(request, arg, state);
    return 0;
  case OPTION_LOOP:
    if (!parse_number(arg, &number) || !number || number > INT32_MAX)
      argp_error(state, "'%s' is no thread; `aprof report' lists them", arg);
    request->loop = (int64_t)number;
    return 0;
  case OPTION_ALL:
    request->options.all = true;
    return 0;
  case 'o':
    request->output = arg;
    return 0;
  case ARGP_KEY_ARG:
    if (request->target[1])
      argp_error(state, "two at most");
    request->target[request->target[0] != NULL] = arg;
    return 0;
  case ARGP_KEY_END:
    check_targets(request, state);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    "FILE|PID|NAME\n--diff FILE|PID|NAME FILE|PID|NAME",
    "Draws the paths of functions and awaits in totals (PROG.PID.json), a profile or a live "
    "process as one SVG: as wide as the time of futures on them, callers above. A browser "
    "searches it and zooms into it; it needs nothing but the file.\v"
    "Orange runs, blue with stripes waits, yellow with dots is queued; pale is a library's.",
    NULL,
    NULL,
    NULL};

static void write_flame(const void *flame, FILE *out) {
  flame_write(flame, out);
}

int cmd_flame(int argc, char **argv) {
  struct request request = {.output = "-"};
  argp_parse(&argp, argc, argv, 0, NULL, &request);
  struct view *from = view_load(request.target[0], request.loop);
  struct view *to = from && request.diff ? view_load(request.target[1], request.loop) : NULL;
  bool written = false;
  if (from && (to || !request.diff)) {
    struct flame *flame = flame_new(from, to, &request.options);
    written = output_given(request.output, write_flame, flame);
    flame_free(flame);
  }
  view_free(from);
  view_free(to);
  if (request.options.mark) {
    regfree(&request.mark);
    free((char *)request.options.mark);
  }
  return written ? CLI_OK : CLI_FAILED;
}
