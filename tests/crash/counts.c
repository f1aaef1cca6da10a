/* SPDX-License-Identifier: MIT */
/*
 * counts PROFILE...: of each its functions, as lines of the file, what was created, what is over,
 * and the name: as aprof dump has them, of thousands that were left. Status 1 where one cannot be
 * read.
 */
#include "cli/target.h"
#include "read/verify.h"
#include "read/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool print_counts(const char *file) {
  struct found found;
  if (!find_profile(file, false, &found))
    return false;
  struct view_request request = {.reason = "recovered", .path = found.path};
  struct view *v = view_of_profile(found.fd, found.what, found.state, &request);
  bool sound = v && view_is_sound(v);
  for (size_t i = 0; sound && i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    printf("%s %" PRIu64 " %" PRIu64 " %s\n", file, f->created, f->done + f->failed + f->cancelled,
           f->name);
  }
  view_free(v);
  found_release(&found);
  return sound;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (print_counts(argv[i]))
      continue;
    printf("%s cannot be read\n", argv[i]);
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
