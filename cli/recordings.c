/* SPDX-License-Identifier: MIT */
/* Recordings, opened; see recordings.h. */
#include "recordings.h"

#include "ask/story-view.h"
#include "read/util.h"
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

bool recordings_are(char *const *target, size_t targets) {
  for (size_t i = 0; i < targets; i++)
    if (story_is(target[i]))
      return true;
  return false;
}

/* All of a kind are meant where nothing says that they are slow. */
static bool *meant_of(const struct story *s, const struct slowest_filter *filter) {
  struct slowest *found = slowest_find(s, filter);
  if (!found)
    return NULL;
  bool all = !filter->over && !(filter->percent > 0);
  bool *meant = ask_story_meant(s, found, all ? STORY_ALL : STORY_SLOW);
  slowest_free(found);
  return meant;
}

static bool add(struct recordings *r, const char *target, uint64_t span,
                const struct slowest_filter *filter, const struct sampler_wish *kernel) {
  struct story_error why;
  char *file = recording_of(target, span, kernel, NULL);
  struct story *s = file ? story_open(file, &why) : NULL;
  if (file && !s)
    complain("%s", why.text);
  free(file);
  if (!s)
    return false;
  r->story[r->stories] = s;
  if (filter)
    r->meant[r->stories] = meant_of(s, filter);
  r->stories++;
  return !filter || r->meant[r->stories - 1];
}

bool recordings_open(struct recordings *r, char *const *target, size_t targets, uint64_t span,
                     const struct slowest_filter *filter, const struct sampler_wish *kernel) {
  r->story = allocate(targets + 1, sizeof(struct story *));
  r->meant = filter ? allocate(targets + 1, sizeof(bool *)) : NULL;
  if (!targets)
    return add(r, NULL, span, filter, kernel);
  for (size_t i = 0; i < targets; i++)
    if (!add(r, target[i], span, filter, kernel))
      return false;
  return true;
}

void recordings_release(struct recordings *r) {
  for (size_t i = 0; i < r->stories; i++) {
    story_free(r->story[i]);
    if (r->meant)
      free(r->meant[i]);
  }
  free(r->story);
  free(r->meant);
  *r = (struct recordings){0};
}
