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

void governed_settle(struct reading *r) {
  r->shed = 0;
  for (size_t i = 0; i < r->threads; i++) {
    r->thread[i].shed = shed_of(&r->thread[i]);
    r->shed |= r->thread[i].shed;
  }
  if (r->is_interval) /* else what is marked is so for a thread */
    for (size_t i = 0; i < r->functions; i++)
      r->function[i].shed &= r->shed;
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
