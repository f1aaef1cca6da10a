/* SPDX-License-Identifier: MIT */
/* What a probe has seen, for people and as JSON (aprof.probe/1). No number is made here. */
#ifndef APROF_SHOW_PROBE_H
#define APROF_SHOW_PROBE_H

#include "probe/probe.h"

#include <stdio.h>

void show_probe(const struct probe_result *, FILE *out);
void show_probe_json(const struct probe_result *, FILE *out);
/* Lines that can be probed: of `asked`, a function. */
void show_probe_lines(const char *asked, const struct probe_place *, size_t count, FILE *out);
/* One hit: when, on which thread, where or how long, and the values of `shown`. */
struct probe_log {
  uint64_t at; /* ns since the beginning */
  int tid;
  const struct probe_place *place; /* or NULL */
  uint64_t duration;               /* UINT64_MAX: none */
  const char *const *shown;
  char *const *value; /* or NULL */
  const bool *late;   /* read just after the hit */
  size_t values;
};
void show_probe_log(const struct probe_log *, FILE *out);

#endif
