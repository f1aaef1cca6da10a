/* SPDX-License-Identifier: MIT */
/* Output: the page, one file of HTML; see page.h and outputs.h. */
#include "page.h"
#include "ask/story-cpu.h"
#include "ask/story-view.h"
#include "outputs.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* web/page.html by lines; none where aprof is built without it. */
static const char *const line[] = {
#include "web/page.inc"
    NULL};

bool page_is_there(void) {
  return line[0] != NULL;
}

/* Where a line is one of these, something else stands there. */
#define DATA "@DATA@\n"
#define CONNECT "@CONNECT@\n"

void page_write(struct view *v, const struct page_options *o, const char *connect, FILE *out) {
  for (size_t i = 0; line[i]; i++)
    if (!strcmp(line[i], CONNECT))
      fprintf(out, "%s\n", connect);
    else if (strcmp(line[i], DATA) != 0)
      fputs(line[i], out);
    else if (v)
      page_json(v, o, true, out);
}

static int write_html(struct view *v, const void *options, FILE *out) {
  if (!page_is_there()) {
    complain("this aprof was built without the page, as npm or a network was not there; "
             "`aprof html --json` writes what it shows, `aprof flame` and `aprof report` show it");
    return OUTPUT_FAILED;
  }
  page_write(v, options, "'none'", out);
  return 0;
}

static int write_json(struct view *v, const void *options, FILE *out) {
  page_json(v, options, false, out);
  return 0;
}

/* All that the recording has, or what is of some kinds of its requests. */
static int tell(const struct story *s, const struct page_options *options, output_function *write,
                FILE *out) {
  struct page_options o = *options;
  struct slowest_filter which = {.kind = o.requests ? o.requests->kind : NULL,
                                 .tier = o.requests ? o.requests->tier : NULL};
  bool some = which.kind || which.tier;
  struct slowest *found = some ? slowest_find(s, &which) : NULL;
  if (some && !found)
    return OUTPUT_FAILED;
  bool *meant = found ? ask_story_meant(s, found, STORY_ALL) : NULL;
  struct view *v = ask_story_view(s, meant, "recording");
  ask_story_cpu(v, s, meant, NULL);
  o.story = s;
  int status = write(v, &o, out);
  view_free(v);
  free(meant);
  slowest_free(found);
  return status;
}

/* A live process has its totals. */
static bool never(const void *options) {
  (void)options;
  return false;
}

static int tell_html(const struct story *s, const void *options, FILE *out) {
  return tell(s, options, write_html, out);
}

static int tell_json(const struct story *s, const void *options, FILE *out) {
  return tell(s, options, write_json, out);
}

static const struct option_row own[] = {
    {"source", 's', OPTION_TEXT, offsetof(struct page_options, source), "DIR",
     .text = "Look for sources below DIR, where they are not where they were compiled"},
    {"no-source", 0, OPTION_FLAG, offsetof(struct page_options, no_source),
     .text = "Leave the lines of sources out"},
    {0}};

const struct output output_html = {
    .name = "html",
    .has_check = true,
    .summary = "one page with all of it: findings, functions, flame graph, source",
    .about = "Writes one HTML file, which needs nothing but a browser: findings, loops, functions "
             "with their distributions, a flame graph, who woke and who delayed whom, what lives, "
             "source lines, health and cost. Of a recording: its requests, what the slow ones have "
             "in common and who made them late, the slowest laid out in time, and samples.\v"
             "The page holds lines of source near what was measured: --no-source leaves them out.",
    .targets = OUTPUT_INTERVAL,
    .option = own,
    .size = sizeof(struct page_options),
    .defaults = &(const struct page_options){.limits = ASK_DEFAULTS},
    .has_limits = true,
    .limits = offsetof(struct page_options, limits),
    .has_target = true,
    .target = offsetof(struct page_options, target),
    .of_requests = OUTPUT_NARROWS,
    .filter = offsetof(struct page_options, requests),
    .picture = true,
    .text = write_html,
    .json = write_json,
    .story_text = tell_html,
    .story_json = tell_json,
    .wants_story = never};
