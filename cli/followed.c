/* SPDX-License-Identifier: MIT */
/* A process whose profile is read again and again; see followed.h. */
#include "followed.h"

#include "read/follow.h"

#include <fcntl.h>
#include <unistd.h>

bool followed_open(struct followed *f, const struct found *found, uint64_t longest, size_t memory) {
  *f = (struct followed){.fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0), .pid = found->pid};
  if (f->fd >= 0 && profile_read_header(f->fd, found->what, &f->header, false))
    f->follow = follow_new(f->fd, found->what);
  f->history = history_new(longest, memory);
  return f->follow != NULL;
}

void followed_close(struct followed *f) {
  history_free(f->history);
  follow_free(f->follow);
  if (f->fd >= 0)
    close(f->fd);
}

long followed_pid(const struct followed *f) {
  return f->pid ? f->pid : f->header.pid;
}

void followed_read(struct followed *f, bool ended) {
  const struct view_request how = {.reason = ended ? "recovered" : "request",
                                   .log = f->log};
  struct view *v = follow_view(f->follow, &how, ended);
  f->ended = ended;
  f->stopped = !ended && find_is_stopped(followed_pid(f));
  if (!v)
    return;
  v->alive = !ended;
  v->stopped = f->stopped;
  history_add(f->history, v);
}
