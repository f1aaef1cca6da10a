/* SPDX-License-Identifier: MIT */
/* The story of a recording's file; see story.h. */
#include "replay.h"
#include "samples.h"
#include "story.h"

#include <stdio.h>

bool story_is(const char *file) {
  return trace_is(file);
}

struct story *story_open(const char *file, struct story_error *why) {
  struct trace_error fault = {""};
  struct trace *t = trace_open(file, &fault);
  struct replay *r = t ? replay_new(t, &fault) : NULL;
  struct story *s = r ? replay_finish(r) : NULL;
  if (s)
    samples_read(t, s);
  if (!s)
    snprintf(why->text, sizeof why->text, "%s", fault.text);
  replay_free(r);
  trace_close(t);
  return s;
}
