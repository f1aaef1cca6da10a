/* Governed overhead, read back from totals: what a report has to mark; see governed.h. */
#include "cli.h"
#include "format.h"
#include "governed.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* -- reading ------------------------------------------------------------------------- */

unsigned governed_read(const cJSON *object) {
  const cJSON *array = json_member(object, "shed"), *item;
  unsigned bits = 0;
  if (!cJSON_IsArray(array))
    return 0;
  cJSON_ArrayForEach(item, array) {
    const char *name = cJSON_GetStringValue(item);
    for (int step = 1; name && step < APROF_STEPS; step++)
      if (!strcmp(name, governed_steps[step].name))
        bits |= 1u << step;
  }
  return bits;
}

void governed_read_thread(const cJSON *object, struct r_thread *t) {
  const cJSON *array = json_member(json_member(object, "shed"), "steps"), *item;
  if (!cJSON_IsArray(array))
    return;
  cJSON_ArrayForEach(item, array) {
    const char *name = json_get_text(item, "step");
    for (int step = 0; name && step < APROF_STEPS; step++)
      if (!strcmp(name, governed_steps[step].name)) {
        t->at_step[step].elapsed = json_get(item, "elapsed_ns", 0);
        t->at_step[step].events = json_get(item, "events", 0);
      }
  }
}

static unsigned shed_of(const struct r_thread *t) {
  unsigned bits = 0;
  for (int step = 1; step < APROF_STEPS; step++)
    if (t->at_step[step].elapsed || t->at_step[step].events)
      bits |= 1u << step;
  return governed_and_before(bits);
}

static uint64_t counts_of(const struct distribution *d) {
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    count += d->bucket[i].count;
  return count;
}

/* Of the events that came while anything was shed: those when times were. */
static double share_without_times(const struct reading *r) {
  double all = 0, without = 0;
  for (size_t i = 0; i < r->threads; i++)
    for (int step = 1; step < APROF_STEPS; step++) {
      double events = (double)r->thread[i].at_step[step].events;
      all += events;
      without += step == APROF_STEP_COUNTS ? events : 0;
    }
  return all > 0 ? without / all : 0;
}

/* A future that ended, or a slice, while detail was shed is counted and in no histogram: so
   many of a function's are, and of those that share without times. From this on they are
   most of it. */
#define MOSTLY 0.75

static bool is_unmeasured(const struct reading *r, const struct r_function *f, double without) {
  uint64_t ended = f->done + f->failed + f->cancelled;
  uint64_t all = ended ? ended : f->slices;
  uint64_t seen = counts_of(ended ? &f->exec_of : &f->slice_of);
  if (!(f->shed >> APROF_STEP_COUNTS) || r->lost_histograms || seen >= all)
    return false;
  return (double)(all - seen) * without >= MOSTLY * (double)all;
}

void governed_settle(struct reading *r) {
  r->shed = 0;
  for (size_t i = 0; i < r->threads; i++) {
    r->thread[i].shed = shed_of(&r->thread[i]);
    r->shed |= r->thread[i].shed;
  }
  if (r->is_interval) /* else what is marked is so for a thread */
    for (size_t i = 0; i < r->functions; i++)
      r->function[i].shed &= r->shed;
  double without = share_without_times(r);
  for (size_t i = 0; i < r->functions; i++)
    r->function[i].unmeasured = is_unmeasured(r, &r->function[i], without);
}

enum aprof_step governed_maxima(const struct reading *r) {
  return r->is_interval ? APROF_STEP_HISTOGRAMS : APROF_STEP_COARSE;
}

uint64_t governed_unseen(const struct reading *r, const struct r_thread *t) {
  uint64_t unseen = 0;
  for (int step = governed_maxima(r); step < APROF_STEPS; step++)
    unseen += t->at_step[step].elapsed;
  return unseen < t->elapsed ? unseen : t->elapsed;
}

/* -- showing ------------------------------------------------------------------------- */

/* "worker (4711) shed detail (~): no histograms 12.0 %, counts only 8.0 % of its time". */
static void print_thread(const struct r_thread *t, FILE *out) {
  char text[512] = "";
  for (int step = 1; step < APROF_STEPS; step++) {
    uint64_t time = t->at_step[step].elapsed;
    size_t length = strlen(text);
    if (time)
      snprintf(text + length, sizeof text - length, "%s%s %s", length ? ", " : "",
               governed_steps[step].shown, shown_percent(time, t->elapsed));
  }
  if (!*text)
    return;
  char *line =
      print_string("  %s (%lld) shed detail (~): %s of its time", t->name, (long long)t->tid, text);
  fprintf(out, "%s\n", cut_right(line, FORMAT_WIDTH));
  free(line);
}

void governed_print(const struct reading *r, FILE *out) {
  for (size_t i = 0; i < r->threads; i++)
    print_thread(&r->thread[i], out);
}

const char *governed_mark(unsigned shed, enum aprof_step from, const char *text) {
  static char turns[16][64];
  static unsigned turn;
  if (!(shed >> from) || !strcmp(text, "-"))
    return text;
  char *marked = turns[turn++ % 16];
  snprintf(marked, sizeof turns[0], "~%s", text);
  return marked;
}
