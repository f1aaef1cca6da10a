/* SPDX-License-Identifier: MIT */
/* aprof diff: what changed from some runs to others. */
#include "arguments.h"
#include "ask/narrow.h"
#include "cli.h"
#include "load.h"
#include "output.h"
#include "show/diff.h"
#include "show/gates.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDES = 2 };

struct differ {
  const char *output;
  bool json, markdown;
  uint64_t rows;
  struct ask_limits limits;
  struct gates gates;
  struct request_filter requests;
  struct load load;
};

static char *take_gate(void *options, const char *text) {
  return gates_take(&((struct differ *)options)->gates, text, true);
}

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct differ, output), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {"json", 0, OPTION_FLAG, offsetof(struct differ, json),
     .text = "Print JSON: each measure of each function and await"},
    {"markdown", 0, OPTION_FLAG, offsetof(struct differ, markdown),
     .text = "Print Markdown, as for a pull request"},
    {"top", 'n', OPTION_COUNT, offsetof(struct differ, rows), "N",
     .text = "Show N functions and awaits that changed (default 10; 0: all)"},
    {GATES_OPTION, .take = take_gate},
    {0}};

static const char *fault_of(const struct arguments *a) {
  const struct differ *o = a->context;
  size_t standard_input = 0;
  for (size_t i = 0; i < a->words; i++)
    for (const char *at = a->word[i]; *at; at += strcspn(at, ","), at += *at == ',')
      standard_input += at[0] == '-' && (!at[1] || at[1] == ',');
  return standard_input > 1       ? "only one of them can be standard input"
         : o->json && o->markdown ? "JSON, or Markdown: not both"
                                  : load_fault(&o->load, false);
}

/* The TARGETs of a list, as "A1,A2"; a file whose name has a comma is one. False after a message
   where one cannot be read. */
static bool load_side(const char *list, struct load *load) {
  char *copy = print_string("%s", list), *rest = copy, *word;
  bool one = access(list, F_OK) == 0, loaded = true;
  while (loaded && (word = one ? rest : strsep(&rest, ","))) {
    if (!*word)
      complain("an item of '%s' is empty: is a variable not set?", list);
    loaded = *word && load_add(load, word);
    if (one)
      break;
  }
  free(copy);
  return loaded;
}

struct printed {
  const struct diff_shown *shown;
  const struct differ *options;
};

static void print(const void *of, FILE *out) {
  const struct printed *p = of;
  if (p->options->json)
    diff_json(p->shown, out);
  else if (p->options->markdown)
    diff_markdown(p->shown, out);
  else
    diff_print(p->shown, out);
}

/* Each of them has such requests. */
static bool cut(const struct differ *o) {
  for (size_t i = 0; i < o->load.views; i++) {
    if (!ask_any_requests(o->load.view[i], &o->requests))
      return false;
    ask_narrow(o->load.view[i], &o->requests);
  }
  return true;
}

static int compare(const struct differ *o, struct view **view, const size_t *side) {
  struct diff *d = diff_new(view, side[DIFF_A], side[DIFF_B]);
  if (!d)
    return CLI_FAILED;
  struct gate_result *result = gates_judge(&o->gates, d, &o->limits);
  struct diff_shown shown = {.diff = d, .rows = o->rows, .gate = result, .gates = o->gates.count};
  bool printed = output_given(o->output, print, &(struct printed){&shown, o});
  int status = gates_say(result, o->gates.count);
  gates_free(result, o->gates.count);
  diff_free(d);
  return printed ? status : CLI_FAILED;
}

int cmd_diff(int argc, char **argv) {
  struct differ o = {.output = "-", .rows = 10, .limits = ask_defaults};
  struct arguments a = {
      .usage = "A[,A...] B[,B...]",
      .offers = OFFER_TARGETS,
      .about =
          "Shows what changed from A to B: two runs of a program, also of different builds, or "
          "several of each, which tells what is chance. Functions are the same by name and "
          "file, wherever their lines are now.\v"
          "A and B: a PID, the NAME of a process, totals (PROG.PID.json; - is standard input), "
          "a profile, or a core.",
      .table = {{options, &o},
                {ask_options(), &o.limits},
                {request_options, &o.requests},
                {load_options, &o.load}},
      .least = 2,
      .most = 2,
      .lacking = "two are compared: A and B, each a target or a list of them with commas between",
      .too_many = "two are compared: several runs of a side are a list with commas, as in A1,A2 B",
      .fault = fault_of,
      .context = &o};
  arguments_parse(&a, argc, argv);
  size_t side[SIDES] = {0};
  bool loaded = true;
  for (int i = 0; i < SIDES && loaded; i++) {
    loaded = load_side(a.word[i], &o.load);
    side[i] = o.load.views - (i ? side[0] : 0);
  }
  int status =
      loaded && load_finish(&o.load) && cut(&o) ? compare(&o, o.load.view, side) : CLI_FAILED;
  load_release(&o.load);
  gates_release(&o.gates);
  return status;
}
