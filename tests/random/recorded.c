/* SPDX-License-Identifier: MIT */
/* A random program recorded, and its recording held against its counters; see recorded.h. */
#include "recorded.h"

#include "cli/target.h"
#include "record/balance.h"
#include "record/recorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ONE ((uint64_t)1 << 32) /* a tick of the virtual clock is a ns */

static struct found found;
static struct recorder *recorder;
static int files[2];
static unsigned count; /* of files */

static int next_file(void) {
  files[count] = memfd_create("recorded", MFD_CLOEXEC);
  if (files[count] < 0)
    abort();
  return files[count++];
}

void recorded_begin(void) {
  char pid[32];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  if (!find_profile(pid, false, &found) ||
      !(recorder = recorder_begin(found.fd, found.what, next_file(), ONE, false)))
    abort();
}

void recorded_rotate(void) {
  if (recorder && recorder_rotate(recorder, next_file()))
    abort();
}

static void print_sums(FILE *file, const char *who, const struct balance_sums *s) {
  fprintf(file,
          "    %s exec %" PRIu64 " queued %" PRIu64 " waiting %" PRIu64 " waits %" PRIu64
          " ended %" PRIu64 "\n",
          who, s->exec, s->queued, s->waiting, s->waits, s->ended);
}

static unsigned paths_differ(const struct replay *r, FILE *file) {
  struct balance *b = balance_new(r);
  unsigned differ = 0;
  story_finish(r->story); /* for the texts of paths */
  for (uint32_t i = 0; i < r->story->paths_count; i++) {
    if (balance_holds(&b[i]))
      continue;
    differ++;
    if (!file)
      continue;
    fprintf(file, "  recorded: %s\n", r->story->paths[i].text);
    print_sums(file, "events  ", &b[i].told);
    print_sums(file, "counters", &b[i].counted);
  }
  free(b);
  return differ;
}

static unsigned file_differs(int fd, FILE *file) {
  char path[64];
  struct trace_error why = {""};
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct trace *t = trace_open(path, &why);
  struct replay *r = t ? replay_new(t, &why) : NULL;
  unsigned differ = 1;
  if (!r) {
    if (file)
      fprintf(file, "  recorded: %s\n", why.text);
  } else {
    differ = paths_differ(r, file);
    if (r->story->lost || r->story->truncated) {
      differ++;
      if (file)
        fprintf(file, "  recorded: %" PRIu64 " events lost%s\n", r->story->lost,
                r->story->truncated ? ", and it is cut off" : "");
    }
  }
  replay_free(r);
  trace_close(t);
  return differ;
}

unsigned recorded_differs(FILE *file) {
  unsigned differ = 0;
  if (!recorder)
    return 0;
  recorder_end(recorder, false);
  recorder_free(recorder);
  recorder = NULL;
  found_release(&found);
  for (unsigned i = 0; i < count; i++) {
    differ += file_differs(files[i], file);
    close(files[i]);
  }
  return differ;
}
