/* SPDX-License-Identifier: MIT */
/*
 * What users see of a profile made to measure.
 * Purpose: totals, a reading of them and the report, as text. Errors: the test fails.
 */
#ifndef TESTS_SHOWN_H
#define TESTS_SHOWN_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "show/report.h"
#include "show/totals.h"
#include "synthetic.h"

/* free() it. */
static inline char *shown_totals(const struct synthetic *s, const char *reason, uint64_t now,
                                 size_t *length) {
  struct view_request how = {.reason = reason, .at = now};
  char *text = NULL;
  int fd = synthetic_file(s, s->header->used);
  FILE *out = open_memstream(&text, length);
  ck_assert(totals_make(fd, "synthetic", PROFILE_LEFT, &how, out));
  fclose(out);
  close(fd);
  return text;
}

static inline struct view *shown_view(const struct synthetic *s, const char *reason, uint64_t now) {
  size_t length;
  char *text = shown_totals(s, reason, now, &length);
  struct view *v = view_of_totals(text, length, "synthetic");
  free(text);
  ck_assert_ptr_nonnull(v);
  return v;
}

/* Findings are on one line each; free() it. */
static inline char *shown_report_of(struct view *v, bool all) {
  struct report_options options = report_defaults;
  options.all = all;
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  report_print(v, &options, out);
  fclose(out);
  for (char *at; (at = strstr(text, "\n    ")) != NULL;)
    memmove(at, at + 4, strlen(at + 4) + 1);
  return text;
}

static inline char *shown_report(struct view *v) {
  return shown_report_of(v, false);
}

#endif
