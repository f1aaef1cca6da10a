/* SPDX-License-Identifier: MIT */
/* The flame graph as an output: of a view, of two, of a recording's slow requests; see flame.h. */
#include "flame.h"

#include "ask/story-cpu.h"
#include "ask/story-view.h"
#include "format.h"
#include "outputs.h"
#include "read/binary.h"
#include "read/util.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* -- options ---------------------------------------------------------------------------- */

static char *take_mark(void *options, const char *text) {
  regex_t regex;
  char why[100] = "it is empty", *expression = flame_expression(text);
  int error = *expression ? regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB) : REG_BADPAT;
  if (*expression && error)
    regerror(error, &regex, why, sizeof why);
  else if (!error)
    regfree(&regex);
  free(expression);
  ((struct flame_options *)options)->mark = text;
  return error ? print_string("%s", why) : NULL;
}

static char *take_debug(void *options, const char *directory) {
  (void)options;
  binary_look_in(directory);
  return NULL;
}

static bool asks_slowest(const void *options) {
  const struct slowest_filter *f = &((const struct flame_options *)options)->slowest;
  return f->percent > 0 || f->over;
}

static bool asks_samples(const void *options) {
  return ((const struct flame_options *)options)->measure == STACK_CPU;
}

static bool asks_story(const void *options) {
  return asks_slowest(options) || asks_samples(options);
}

static const char *fault_of(const void *options, size_t targets, bool json) {
  (void)json;
  const struct flame_options *o = options;
  if (asks_samples(o) && targets > 1)
    return "--cpu is of one recording, or of one live process";
  if (asks_slowest(o))
    return targets > 1 ? "the slowest of one recording at a time" : slowest_fault(&o->slowest);
  if (o->diff && targets < 2)
    return "--diff compares two: give A and B, or a recording and which of its requests are slow "
           "(--slowest 5%)";
  return !o->diff && targets > 1 ? "of two only what changed is drawn: give --diff" : NULL;
}

static int write_flame(struct view *v, const void *options, FILE *out) {
  const struct flame_options *o = options;
  struct flame *flame = flame_new(v, o->other, o);
  flame_write(flame, out);
  flame_free(flame);
  return 0;
}

/* -- of a recording --------------------------------------------------------------------- */

/* "slowest 5 %: 45 requests from 24.1 ms on": of the kind, if one was given. */
static char *side_text(const struct slowest *found, const struct slowest_filter *f, bool rest) {
  uint64_t count = rest ? found->count - found->slow : found->slow;
  char *kind = print_string("%s%s", f->kind ? f->kind : "", f->kind ? ", " : "");
  char *which = rest      ? print_string("the rest")
                : f->over ? print_string("those of %s or more", shown_time(f->over))
                          : print_string("slowest %g %%", f->percent > 0 ? f->percent : 5);
  char *text =
      print_string("%s%s: %" PRIu64 " request%s", kind, which, count, count == 1 ? "" : "s");
  free(which);
  free(kind);
  return text;
}

/* Means of one request, as there are more of the rest. */
static int tell_difference(const struct story *s, struct flame_options o, FILE *out) {
  struct slowest *found = slowest_find(s, &o.slowest);
  int status = OUTPUT_FAILED;
  if (!found)
    return status;
  bool *slow = ask_story_meant(s, found, STORY_SLOW), *rest = ask_story_meant(s, found, STORY_REST);
  struct view *from = ask_story_view(s, rest, s->process),
              *to = ask_story_view(s, slow, s->process);
  if (asks_samples(&o)) {
    ask_story_cpu(from, s, rest, NULL);
    ask_story_cpu(to, s, slow, NULL);
  }
  o.says[0] = side_text(found, &o.slowest, true);
  o.says[1] = side_text(found, &o.slowest, false);
  o.per = o.per == FLAME_IN_TOTAL ? FLAME_PER_REQUEST : o.per;
  if (!found->slow || found->slow == found->count) {
    complain("%s: there is nothing to compare", o.says[!!found->slow]);
  } else {
    struct flame *flame = flame_new(from, to, &o);
    flame_write(flame, out);
    flame_free(flame);
    status = 0;
  }
  free((char *)o.says[0]);
  free((char *)o.says[1]);
  view_free(from);
  view_free(to);
  free(rest);
  free(slow);
  slowest_free(found);
  return status;
}

static int tell_flame(const struct story *s, const void *options, FILE *out) {
  struct flame_options o = *(const struct flame_options *)options;
  bool all = !asks_slowest(&o);
  o.slowest.kind = o.requests ? o.requests->kind : NULL;
  o.slowest.tier = o.requests ? o.requests->tier : NULL;
  bool chosen = !all || o.slowest.kind || o.slowest.tier;
  if (asks_samples(&o) && !ask_has_samples(s))
    return OUTPUT_FAILED;
  if (o.diff)
    return tell_difference(s, o, out);
  struct slowest *found = chosen ? slowest_find(s, &o.slowest) : NULL;
  if (chosen && !found)
    return OUTPUT_FAILED;
  bool *meant = found ? ask_story_meant(s, found, all ? STORY_ALL : STORY_SLOW) : NULL;
  struct view *v = ask_story_view(s, meant, s->process);
  if (asks_samples(&o))
    ask_story_cpu(v, s, meant, NULL);
  char *says = !found ? NULL
               : all  ? print_string("%s: %" PRIu64 " requests",
                                    o.slowest.kind ? o.slowest.kind : o.slowest.tier, found->count)
                      : side_text(found, &o.slowest, false);
  o.says[0] = says;
  struct flame *flame = flame_new(v, NULL, &o);
  flame_write(flame, out);
  flame_free(flame);
  free(says);
  view_free(v);
  free(meant);
  slowest_free(found);
  return 0;
}

/* -- the row ----------------------------------------------------------------------------- */

#define MEASURE(name, which, help)                                                                 \
  { name, 0, OPTION_SET, offsetof(struct flame_options, measure), .text = help, .value = which }
static const char *const pers[] = {"total", "call", "second", "request", NULL};
static const struct option_row own[] = {
    MEASURE("wall", STACK_WALL, "Width is all time of futures, by state (default)"),
    MEASURE("exec", STACK_EXEC, "Width is time that futures ran"),
    MEASURE("waiting", STACK_WAITING, "Width is time that futures waited"),
    MEASURE("queued", STACK_QUEUED, "Width is time that futures were ready and did not run"),
    MEASURE("cpu", STACK_CPU,
            "Width is processor time, by samples: native functions beneath the futures that ran "
            "them. Of a recording (aprof record --cpu), or a live process, which is sampled first"),
    {"debug", 0, OPTION_OWN, 0, "DIR",
     .text = "Look for the files that samples lie in there, too, by their build-ids",
     .take = take_debug},
    {"diff", 0, OPTION_FLAG, offsetof(struct flame_options, diff),
     .text =
         "Two TARGETs: red grew from A to B, blue shrank. Of a recording: the slow from the rest"},
    {"per", 0, OPTION_WORD, offsetof(struct flame_options, per), "call|second|request",
     .text = "Divide by the futures of the topmost function, by the time measured, or by requests",
     .words = pers},
    {"mark", 0, OPTION_OWN, 0, "/REGEX/",
     .text = "Put a thick border around frames whose name fits", .take = take_mark},
    {"all", 0, OPTION_FLAG, offsetof(struct flame_options, all),
     .text = "Waiting for new work (listeners, readers), too"},
    {0}};

const struct output output_flame = {
    .name = "flame",
    .summary = "draw where the time of futures went, as a flame graph (SVG)",
    .about = "Draws the paths of functions and awaits of TARGET as one SVG: as wide as the time of "
             "futures on them, callers above. A browser searches it and zooms into it; it needs "
             "nothing but the file.\v"
             "Orange runs, blue with stripes waits, yellow with dots is queued; pale is a "
             "library's.",
    .targets = OUTPUT_PAIR,
    .second = offsetof(struct flame_options, other),
    .option = own,
    .size = sizeof(struct flame_options),
    .defaults = &(const struct flame_options){.measure = STACK_WALL},
    .picture = true,
    .of_requests = OUTPUT_NARROWED,
    .filter = offsetof(struct flame_options, requests),
    .fault = fault_of,
    .text = write_flame,
    .story_text = tell_flame,
    .wants_story = asks_story,
    .wants_samples = asks_samples,
    .asks_slowest = true,
    .slowest = offsetof(struct flame_options, slowest)};
