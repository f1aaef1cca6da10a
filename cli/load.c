/* SPDX-License-Identifier: MIT */
/* Totals found, tested and read; see load.h. */
#include "load.h"

#include "find.h"
#include "read/util.h"
#include "read/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct view *load_profile(const char *target, struct view_request request) {
  struct found found;
  if (!find_profile(target, false, &found))
    return NULL;
  request.reason = found.state == PROFILE_LIVE ? "request" : "recovered";
  request.path = found.path;
  struct view *v = view_of_profile(found.fd, found.what, found.state, &request);
  if (v && found.state == PROFILE_LIVE) {
    v->alive = true;
    v->stopped = find_is_stopped(found.pid ? found.pid : v->process.pid);
  }
  if (v && !view_is_sound(v)) {
    view_free(v);
    v = NULL;
  }
  found_release(&found);
  return v;
}

static bool is_profile(const char *path) {
  char magic[8] = "";
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return false;
  bool profile = pread(fd, magic, 8, 0) == 8 && !memcmp(magic, APROF_PROFILE_MAGIC, 8);
  close(fd);
  return profile;
}

struct view *view_load(const char *target, const struct view_request *wanted) {
  if (!target)
    return load_profile(NULL, *wanted);
  bool piped = !strcmp(target, "-");
  if (!piped && (is_of_processes(target) || is_profile(target)))
    return load_profile(target, *wanted);
  const char *what = piped ? "standard input" : target;
  if (wanted->loop) {
    complain("%s has the sums of all loops: --loop takes a PID, a name or a profile", what);
    return NULL;
  }
  size_t length;
  char *text = piped ? read_stream(STDIN_FILENO, TOTALS_LIMIT, &length)
                     : read_text_file(target, TOTALS_LIMIT, &length);
  if (!text) {
    complain("cannot read %s: %s", what,
             errno == EFBIG ? "it is over 256 MB, which no totals are" : open_fault(errno));
    return NULL;
  }
  struct view *v = NULL;
  if (piped && length >= 8 && !memcmp(text, APROF_PROFILE_MAGIC, 8))
    complain("standard input is a profile: name its file, or pipe totals: aprof dump -o - FILE");
  else
    v = view_of_totals(text, length, what);
  free(text);
  return v;
}
