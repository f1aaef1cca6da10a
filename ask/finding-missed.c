/* SPDX-License-Identifier: MIT */
/* Events that could not be placed, and keys used again: by whom they were sent. */
#include "findings.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* These kinds of misses are findings; the others may well be all right. A miss that is nobody's
   mistake is no missed event. */
static const struct cause {
  const char *kind;
  const char *text;
} causes[] = {
    {"run", "a run of a key that nobody had created; a `create` line is missing, or its code was "
            "compiled without the plugin (`aprof coverage PROG`), or the run began before the call "
            "that creates it had returned, and that line has no `| run`, or the namespace of its "
            "key is one "
            "of a shipped file, too"},
    {"busy", "its future ran elsewhere at that time, so this run is in none of its numbers; two "
             "share a key, or an `end` is missing"},
    {"resume", "the await came back when its future was over or had gone on elsewhere; a function "
               "that suspends has no `await` line"},
    {"leave", "the body was left when its future was over or had gone on elsewhere; a function "
              "that suspends has no `await` line"},
    {"unseen", "what ran there was left without an event; a function that suspends has no `await` "
               "line, or a longjmp left it"},
    {"before",
     "created while profiling was off, or before a reset, and followed from their first run since"},
    {"current", "an end of the running future, where none ran"},
    {"broken", "a signal handler came in between and never returned"},
};

/* A call made while profiling is off has no future, so its runs have no place. */
static const char *perhaps_off(const char *kind, const struct view *v) {
  return v->process.epoch > v->process.reset_epoch && !strcmp(kind, "run")
             ? "; or what it runs was created while profiling was off, which `aprof on` ended"
             : "";
}

static const char *reused_text(uint64_t count) {
  return count == 1
             ? "nothing had ended its future, which counts as cancelled; the program used it "
               "before that was over, the binding lacks an `end` or `rearm`, or the "
               "callback was compiled without the plugin"
             : "nothing had ended their futures, which count as cancelled; the program used "
               "them before those were over, the binding lacks an `end` or `rearm`, or the "
               "callbacks were compiled without the plugin";
}

static const char *cause_of(const struct view *v, const char *kind) {
  if (v->health.lost_futures && !strcmp(kind, "run"))
    return "a run of a key that no future has: it was lost, or a `create` line is missing";
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
    if (!strcmp(kind, causes[i].kind))
      return causes[i].text;
  return NULL;
}

/* "server.c:12 uv_close in on_end"; "" where nothing is known. */
static const char *sender(const struct view_miss *m) {
  bool placed = m->file != NULL, named = m->name != NULL;
  if (!placed && !named)
    return "";
  bool in = m->in && (!named || strcmp(m->in, m->name));
  return turn_text(" at %s%s%s%s%s", placed ? place_text(m->file, m->line) : "",
                   placed && named ? " " : "", named ? m->name : "", in ? " in " : "",
                   in ? m->in : "");
}

static void add_miss(struct findings *list, enum finding_kind kind, const struct view *v,
                     const struct view_miss *m) {
  const char *cause = cause_of(v, m->kind);
  bool reused = kind == FINDING_REUSED;
  if (reused != !strcmp(m->kind, "reused") || (!cause && !reused) || !m->count)
    return;
  const char *at = sender(m), *many = m->count == 1 ? "" : "s";
  struct sentence text =
      reused ? sentence("%s handle%s used again%s: %s", told_count(m->count),
                        m->count == 1 ? " was" : "s were", at, reused_text(m->count))
      : !strcmp(m->kind, "before")
          ? sentence("%s future%s%s: %s", told_count(m->count), many, at, cause)
          : sentence("%s event%s could not be placed%s: %s%s", told_count(m->count), many, at,
                     cause, perhaps_off(m->kind, v));
  findings_add(list, (struct finding){.kind = kind,
                                      .weight = m->count,
                                      .severity = UNKNOWN,
                                      .count = m->count,
                                      .at = findings_place(m->file, m->line),
                                      .text = text});
}

/* Adds what the sums have beyond the places: the profile had no room for these. */
static void add_rest(struct findings *list, enum finding_kind kind, uint64_t all, uint64_t placed) {
  uint64_t rest = all > placed ? all - placed : 0;
  if (!rest)
    return;
  bool reused = kind == FINDING_REUSED;
  struct sentence text =
      reused ? sentence("%s handle%s used again: %s", told_count(rest),
                        rest == 1 ? " was" : "s were", reused_text(rest))
             : sentence("%s event%s could not be placed: a key that nobody created, a "
                        "function that suspends without an `await` line, or code "
                        "compiled without the plugin (`aprof coverage PROG`)",
                        told_count(rest), rest == 1 ? "" : "s");
  findings_add(list,
               (struct finding){
                   .kind = kind, .weight = rest, .severity = UNKNOWN, .count = rest, .text = text});
}

static void judge_reused(struct findings *list, const struct view *v,
                         const struct ask_limits *limits) {
  uint64_t placed = 0;
  (void)limits;
  for (size_t i = 0; i < v->misses; i++) {
    add_miss(list, FINDING_REUSED, v, &v->miss[i]);
    if (!strcmp(v->miss[i].kind, "reused"))
      placed += v->miss[i].count;
  }
  add_rest(list, FINDING_REUSED, v->health.reused_keys, placed);
}

static void judge_unplaced(struct findings *list, const struct view *v,
                           const struct ask_limits *limits) {
  uint64_t placed = 0;
  (void)limits;
  for (size_t i = 0; i < v->misses; i++) {
    add_miss(list, FINDING_UNPLACED, v, &v->miss[i]);
    if (cause_of(v, v->miss[i].kind))
      placed += v->miss[i].count;
  }
  for (size_t i = 0; i < v->ignores; i++)
    add_miss(list, FINDING_UNPLACED, v, &v->ignored[i]);
  add_rest(list, FINDING_UNPLACED, v->health.missed_events, placed);
}

const struct finding_row finding_reused = {.judge = judge_reused};
const struct finding_row finding_unplaced = {.judge = judge_unplaced};
