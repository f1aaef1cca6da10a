/* SPDX-License-Identifier: MIT */
/* A log of slow requests; see slow-log.h. */
#include "slow-log.h"

#include "ask/requests.h"
#include "read/fields.h"
#include "read/util.h"
#include "totals.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- lines ----------------------------------------------------------------------------- */

/* In quotes, as logfmt has what is more than a word. */
static void print_text(const char *name, const char *text, FILE *out) {
  fprintf(out, " %s=\"", name);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static void print_ms(const char *name, uint64_t ns, FILE *out) {
  fprintf(out, " %s=%" PRIu64 ".%03" PRIu64, name, ns / 1000000, ns / 1000 % 1000);
}

static void print_line(const struct slow_log *l, const struct view *v, const struct view_kind *k,
                       const struct view_slow *s) {
  fprintf(l->out, "began=%s", s->began_at ? s->began_at : "");
  print_text("kind", ask_kind_name(v, k), l->out);
  print_ms("wall_ms", s->wall, l->out);
  print_ms("queued_ms", s->queued, l->out);
  print_ms("exec_ms", s->exec, l->out);
  print_ms("waiting_ms", s->waiting, l->out);
  for (size_t i = 0; i < s->tiers; i++) {
    char *name = print_string("tier_%s_ms", s->tier[i].name);
    print_ms(name, plus(s->tier[i].exec, s->tier[i].waiting), l->out);
    free(name);
  }
  fprintf(l->out, " failed=%s", s->failed ? "true" : "false");
  if (s->trace)
    fprintf(l->out, " trace=%s", s->trace);
  fprintf(l->out, " pid=%" PRId64 "\n", v->process.pid);
}

static void emit_line(const struct slow_log *l, const struct view *v, const struct view_kind *k,
                      const struct view_slow *s) {
  struct emit e;
  emit_begin(&e, l->out, NULL);
  emit_text(&e, "kind", k->kind);
  emit_bool(&e, "labelled", k->labelled);
  emit_signed(&e, "pid", v->process.pid);
  emit_text(&e, "host", v->process.host);
  emit_members(&e, &layout_slow, s, NULL);
  emit_number(&e, "member_ns", s->member);
  emit_end(&e);
}

static void say_left_out(struct slow_log *l) {
  if (!l->left_out)
    return;
  if (l->json) {
    struct emit e;
    emit_begin(&e, l->out, NULL);
    emit_number(&e, "left_out", l->left_out);
    emit_end(&e);
  } else
    fprintf(l->out, "left_out=%" PRIu64 "\n", l->left_out);
  l->left_out = 0;
}

/* -- what is new ----------------------------------------------------------------------- */

struct line {
  const struct view_kind *kind;
  const struct view_slow *slow;
};

static int by_number(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  return (x->slow->number > y->slow->number) - (x->slow->number < y->slow->number);
}

/* All that the log has and had not when it was looked at last, as they ended. To be freed. */
static struct line *find_new(const struct slow_log *l, const struct view *v, size_t *lines) {
  size_t room = 0;
  for (size_t i = 0; i < v->kinds; i++)
    room += v->kind[i].loggeds;
  struct line *line = allocate(room + 1, sizeof *line);
  *lines = 0;
  for (size_t i = 0; i < v->kinds; i++)
    for (size_t j = 0; j < v->kind[i].loggeds; j++)
      if (v->kind[i].logged[j].number >= l->next)
        line[(*lines)++] = (struct line){&v->kind[i], &v->kind[i].logged[j]};
  if (*lines)
    qsort(line, *lines, sizeof *line, by_number);
  return line;
}

/* Another follower may ask for shorter ones. */
static bool is_meant(const struct slow_log *l, const struct line *line) {
  const char *kind = line->kind->kind;
  return line->slow->wall >= l->over &&
         (!l->kind || !fnmatch(l->kind, kind, 0) || !strcmp(l->kind, kind));
}

/* One line, or one more that is left out. */
static bool print_one(struct slow_log *l, const struct view *v, const struct line *line,
                      uint64_t now) {
  const uint64_t second = now / 1000000000u;
  if (second != l->second) {
    l->second = second;
    l->lines = 0;
  }
  if (l->most && l->lines >= l->most)
    return false;
  l->lines++;
  (l->json ? emit_line : print_line)(l, v, line->kind, line->slow);
  return true;
}

void slow_log_look(struct slow_log *l, const struct view *v, uint64_t now) {
  size_t lines;
  struct line *line = find_new(l, v, &lines);
  uint64_t left_out = 0;
  for (size_t i = 0; i < lines && l->started; i++) {
    left_out += line[i].slow->number - l->next; /* newer ones lie in their places */
    l->next = line[i].slow->number + 1;
    if (is_meant(l, &line[i]))
      left_out += !print_one(l, v, &line[i], now);
  }
  if (!left_out) /* it is said once it is over, or at the end */
    say_left_out(l);
  l->left_out += left_out;
  if (!l->started)
    l->next = v->logged;
  l->started = true;
  l->logged = v->logged;
  free(line);
  fflush(l->out);
}

void slow_log_end(struct slow_log *l) {
  l->left_out += l->logged > l->next ? l->logged - l->next : 0;
  say_left_out(l);
  fflush(l->out);
}
