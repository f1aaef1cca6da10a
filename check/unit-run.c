/* SPDX-License-Identifier: MIT */
/* All units, a process each; see unit.h. */
#include "unit.h"

#include "read/util.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNIT_SECONDS = 300, KEPT_DAYS = 14 };

struct job {
  pid_t pid;
  size_t unit;
};

static char *summary_of(const struct summaries *s, size_t unit) {
  return print_string("%s/%zu.ir", s->folder, unit);
}

static void begin(struct units *u, const struct summaries *s, struct job *job, size_t unit) {
  job->unit = unit;
  fflush(NULL);
  job->pid = fork();
  if (job->pid != 0)
    return;
  char *to = summary_of(s, unit);
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(null, STDERR_FILENO); /* what a parser says when it crashes */
  alarm(UNIT_SECONDS);
  signal(SIGALRM, SIG_DFL);
  _exit(unit_summarize(&u->unit[unit], u->base, to, s->cache));
}

static void finish(struct units *u, struct summaries *s, const struct job *job, int status) {
  struct unit *unit = &u->unit[job->unit];
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == UNIT_PARSED)
    s->parsed++;
  else if (code == UNIT_KEPT)
    s->kept++;
  else if (code == UNIT_FAILED) {
    char *path = summary_of(s, job->unit);
    unit->trouble = read_text_file(path, 4096, &(size_t){0});
    free(path);
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    unit->trouble = print_string("the parser was ended after %d s", UNIT_SECONDS);
  else if (WIFSIGNALED(status))
    unit->trouble = print_string("the parser crashed (%s)", strsignal(WTERMSIG(status)));
  else
    unit->trouble = print_string("the parser ended with status %d", code);
  if (code != UNIT_PARSED && code != UNIT_KEPT && !unit->trouble)
    unit->trouble = "it could not be summarized";
}

/* Entries that no run has used for days go, once a day. */
static void sweep(const char *cache) {
  struct stat state;
  time_t now = time(NULL);
  char *mark = print_string("%s/swept", cache);
  bool today = stat(mark, &state) == 0 && now - state.st_mtime < 86400;
  DIR *dir = today ? NULL : opendir(cache);
  for (struct dirent *entry; dir && (entry = readdir(dir));)
    if (entry->d_name[0] != '.' && !fstatat(dirfd(dir), entry->d_name, &state, 0) &&
        now - state.st_mtime > KEPT_DAYS * 86400)
      unlinkat(dirfd(dir), entry->d_name, 0);
  if (dir) {
    closedir(dir);
    close(open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  }
  free(mark);
}

void units_summarize(struct units *u, struct summaries *s) {
  struct job *job = allocate(s->jobs, sizeof *job);
  size_t next = 0, running = 0;
  int status;
  while (next < u->count || running) {
    for (unsigned i = 0; i < s->jobs && next < u->count; i++)
      if (!job[i].pid) {
        begin(u, s, &job[i], next++);
        if (job[i].pid < 0)
          u->unit[job[i].unit].trouble = "no process could be made for it";
        job[i].pid = job[i].pid > 0 ? job[i].pid : 0;
        running += job[i].pid > 0;
      }
    pid_t ended = running ? wait(&status) : 0;
    for (unsigned i = 0; i < s->jobs && ended > 0; i++)
      if (job[i].pid == ended) {
        finish(u, s, &job[i], status);
        job[i].pid = 0;
        running--;
      }
  }
  if (s->cache)
    sweep(s->cache);
  free(job);
}
