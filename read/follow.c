/* SPDX-License-Identifier: MIT */
/* Further readings of one profile; see follow.h. */
#include "follow.h"

#include "clock.h"
#include "filling.h"
#include "kept.h"
#include "names.h"
#include "util.h"

#include <stdlib.h>

struct follow {
  int fd;
  bool started;
  uint64_t rate;
  uint64_t lived; /* tick of the last reading while its process did */
  struct profile *profile;
  struct names *names;
  struct kept *kept;
  char *what;
};

struct follow *follow_new(int fd, const char *what) {
  struct aprof_header header;
  if (!profile_read_header(fd, what, &header, false))
    return NULL;
  uint64_t rate = clock_rate(fd, what, &header, true);
  struct profile *p = rate ? profile_read(fd, what, true, true) : NULL;
  if (!p)
    return NULL;
  struct follow *f = allocate(1, sizeof *f);
  *f = (struct follow){.fd = fd, .rate = rate, .profile = p, .kept = kept_new()};
  f->what = print_string("%s", what);
  return f;
}

void follow_free(struct follow *f) {
  if (!f)
    return;
  names_free(f->names);
  profile_free(f->profile);
  kept_free(f->kept);
  free(f->what);
  free(f);
}

/* What has ended is copied as a whole: nobody writes it any more, so no block says that it moved.
 */
static bool read_left(struct follow *f) {
  struct profile *p = profile_read(f->fd, f->what, false, true);
  if (!p)
    return false;
  profile_free(f->profile);
  f->profile = p;
  return true;
}

/* The copy is there already when the first view is wanted. */
static bool read_again(struct follow *f, bool ended) {
  bool renamed = !f->names || ended;
  if (ended && !read_left(f))
    return false;
  if (f->started && !ended)
    profile_refresh(f->profile, f->fd);
  if (f->started)
    kept_next(f->kept);
  f->started = true;
  if (renamed || f->profile->renamed) {
    names_free(f->names);
    f->names = names_new(f->profile, ended ? 0 : f->profile->header.pid);
  }
  return true;
}

struct view *follow_view(struct follow *f, const struct view_request *request, bool ended) {
  if (!read_again(f, ended))
    return NULL;
  struct profile *p = f->profile;
  if (!ended)
    f->lived = p->read_tick;
  uint64_t now = request->at ? request->at : profile_now(p, !ended, f->lived);
  struct model *m = model_new(p, f->names, f->rate, now, ended);
  struct view *v = view_of_model(m, f->what, request, f->kept);
  if (!ended)
    fill_run_delay(v, &p->header);
  model_free(m);
  return v;
}
