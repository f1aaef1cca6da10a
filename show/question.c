/* SPDX-License-Identifier: MIT */
/* What is asked while somebody looks on; see question.h. */
#include "question.h"

#include "ask/slowest.h"
#include "cpu.h"
#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

extern const struct output output_tail, output_blame, output_slow, output_path;

const struct question questions[QUESTIONS] = {
    [QUESTION_TAIL] = {"tail", "TAIL", "why the slowest are slow", &output_tail},
    [QUESTION_BLAME] = {"blame", "BLAME", "who made them late", &output_blame},
    [QUESTION_PATHS] = {"paths", "SLOWEST", "each laid out in time", &output_slow},
    [QUESTION_PATH] = {"path", "PATH", "what all of them spend it on", &output_path},
    [QUESTION_CPU] = {"cpu", "CPU", "where its processor time goes", NULL}};

const struct question *question_named(const char *name) {
  for (size_t i = 0; i < QUESTIONS; i++)
    if (!strcmp(questions[i].name, name))
      return &questions[i];
  return NULL;
}

/* What matches this name alone; free() it. */
static char *pattern_of(const char *name) {
  char *pattern = allocate(2 * strlen(name) + 1, 1), *to = pattern;
  for (; *name; name++) {
    if (strchr("*?[]\\", *name))
      *to++ = '\\';
    *to++ = *name;
  }
  return pattern;
}

/* Who looks on sees that soon, and needs no option for it. */
static bool has_whole(const struct story *s, const char *kind) {
  for (uint32_t i = 0; i < s->requests_count; i++)
    if (s->requests[i].whole && (!kind || !strcmp(s->requests[i].kind, kind)))
      return true;
  complain("no request%s%s has begun and ended within the last %s", kind ? " of kind " : "",
           kind ? kind : "", shown_time(s->end_ns - s->begin_ns));
  return false;
}

int question_answer_of(const struct question *q, const struct story *s,
                       const struct request_filter *requests, bool json, FILE *out) {
  const struct output *o = q->of;
  char *options = allocate(1, o->size);
  memcpy(options, o->defaults, o->size);
  if (o->asks_slowest) {
    struct slowest_filter *slowest = (struct slowest_filter *)(void *)(options + o->slowest);
    slowest->kind = requests->kind;
    slowest->tier = requests->tier;
  }
  if (o->filter)
    *(const struct request_filter **)(void *)(options + o->filter) = requests;
  int status = (json ? o->story_json : o->story_text)(s, options, out);
  free(options);
  return status;
}

int question_answer(const struct question *q, const struct story *s,
                    const struct question_about *about, bool json, FILE *out) {
  const char *kind = about->kind;
  if (!q->of)
    return show_cpu(s, kind, about->function, json, out);
  if ((kind || (s->requests_count && q != &questions[QUESTION_BLAME])) && !has_whole(s, kind))
    return OUTPUT_FAILED;
  char *pattern = kind ? pattern_of(kind) : NULL;
  int status = question_answer_of(q, s, &(struct request_filter){.kind = pattern}, json, out);
  free(pattern);
  return status;
}

const char *question_cost(const struct question_state *s) {
  const char *which =
      s->share > 0 && s->share < 1
          ? turn_text("%s of the requests", shown_share(rounded(s->share * 1e6), 1000000))
          : "all requests";
  return *s->samples ? turn_text("recording all, %s events/s, %s lost%s; it takes %s of a CPU",
                                 shown_count(s->per_second), shown_count(s->lost), s->samples,
                                 shown_share(s->of_cpu, 1000000))
                     : turn_text("recording %s events/s, %s lost, %s; it takes %s of a CPU",
                                 shown_count(s->per_second), shown_count(s->lost), which,
                                 shown_share(s->of_cpu, 1000000));
}
