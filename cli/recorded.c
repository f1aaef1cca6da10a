/* SPDX-License-Identifier: MIT */
/* Recordings for who asks; see recorded.h. */
#include "recorded.h"

#include "probed.h"
#include "read/util.h"
#include "record/story.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* After a message, where no process can be meant. */
static bool cannot_be_recorded(const char *target) {
  if (!target || is_of_processes(target) || is_profile(target) || access(target, F_OK))
    return false;
  complain("%s is no recording, and nothing else has single requests: make one with `aprof "
           "record', or name the live process",
           target);
  return true;
}

/* What is to be recorded now; false after a message. */
static bool find_live_one(const char *target, struct found *found) {
  if (cannot_be_recorded(target) || !find_profile(target, true, found))
    return false;
  if (found->state == PROFILE_LIVE)
    return true;
  complain("%s is of no live process; what its rings hold is made a recording by `aprof record "
           "--last'",
           found->what);
  found_release(found);
  return false;
}

char *recording_of(const char *target, uint64_t span, const struct sampler_wish *kernel,
                   const char *by) {
  struct found found;
  int fd;
  if (target && story_is(target))
    return print_string("%s", target);
  if (!find_live_one(target, &found))
    return NULL;
  char *path = recording_room(&fd);
  struct recording_wish wish = {.output = path, .span = span, .quiet = true};
  wish.kernel = kernel ? *kernel : wish.kernel;
  if (path && !(by ? probed_recording(&found, &wish, by, false) : recording_make(&found, &wish))) {
    recording_forget(path);
    path = NULL;
  }
  found_release(&found);
  return path;
}

void recording_forget(char *path) {
  int fd;
  if (sscanf(path, "/proc/self/fd/%d", &fd) == 1)
    close(fd);
  free(path);
}
