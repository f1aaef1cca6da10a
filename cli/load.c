/* SPDX-License-Identifier: MIT */
/* Totals found, tested and read; see load.h. */
#include "load.h"
#include "target.h"

#include "read/util.h"
#include "read/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct view *load_found(const struct found *found, struct view_request request) {
  request.reason = found->state == PROFILE_LIVE ? "request" : "recovered";
  request.path = found->path;
  struct view *v = view_of_profile(found->fd, found->what, found->state, &request);
  if (v && found->state == PROFILE_LIVE) {
    v->alive = true;
    v->stopped = find_is_stopped(found->pid ? found->pid : v->process.pid);
  }
  if (v && !view_is_sound(v)) {
    view_free(v);
    v = NULL;
  }
  return v;
}

static struct view *load_profile(const char *target, struct view_request request) {
  struct found found;
  if (!find_profile(target, false, &found))
    return NULL;
  struct view *v = load_found(&found, request);
  found_release(&found);
  return v;
}

struct all_live {
  struct view **view;
  size_t views;
};

static void add_live(struct found *found, void *context) {
  struct all_live *all = context;
  struct view *v = load_found(found, (struct view_request){0});
  for (size_t i = 0; v && i < all->views; i++)
    if (view_shares_process(all->view[i], v)) {
      view_free(v);
      v = NULL;
    }
  if (!v)
    return;
  all->view = reallocate(all->view, all->views + 1, sizeof *all->view);
  all->view[all->views++] = v;
}

size_t view_load_live(struct view ***view) {
  struct all_live all = {.view = NULL};
  find_live(add_live, &all);
  *view = all.view;
  return all.views;
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
