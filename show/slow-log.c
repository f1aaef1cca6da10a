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

static uint64_t name_of(const struct view_kind *k) {
  uint64_t hash = 14695981039346656037u;
  for (const char *at = k->kind; *at; at++)
    hash = (hash ^ (unsigned char)*at) * 1099511628211u;
  for (const char *at = k->function ? k->function : ""; *at; at++)
    hash = (hash ^ (unsigned char)*at) * 1099511628211u;
  return hash;
}

struct line {
  const struct view_kind *kind;
  const struct view_slow *slow;
};

static int by_end(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  uint64_t one = x->slow->begin + x->slow->wall, other = y->slow->begin + y->slow->wall;
  return (one > other) - (one < other);
}

static bool is_known(const struct slow_log *l, const struct slow_key *key) {
  for (size_t i = 0; i < l->knowns; i++)
    if (!memcmp(&l->known[i], key, sizeof *key))
      return true;
  return false;
}

static uint64_t count_longer(const struct distribution *d, uint64_t least) {
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    if (d->bucket[i].lower >= least)
      count += d->bucket[i].count;
  return count;
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

static void print_new(struct slow_log *l, const struct view *v, struct line *line, size_t lines,
                      uint64_t longer, uint64_t now) {
  uint64_t printed = 0, more = longer > l->longer ? longer - l->longer : 0;
  if (lines)
    qsort(line, lines, sizeof *line, by_end);
  for (size_t i = 0; i < lines; i++)
    printed += print_one(l, v, &line[i], now);
  more = more > lines ? more : lines;
  bool paused = more == printed; /* it is said once it is over, or at the end */
  if (paused)
    say_left_out(l);
  l->left_out += more - printed;
}

void slow_log_look(struct slow_log *l, const struct view *v, uint64_t now) {
  size_t room = 0, lines = 0, keys = 0;
  uint64_t longer = 0;
  for (size_t i = 0; i < v->kinds; i++)
    room += v->kind[i].slows;
  struct line *line = allocate(room + 1, sizeof *line);
  struct slow_key *key = allocate(room + 1, sizeof *key);
  for (size_t i = 0; i < v->kinds; i++) {
    const struct view_kind *k = &v->kind[i];
    if (l->kind && fnmatch(l->kind, k->kind, 0) && strcmp(l->kind, k->kind))
      continue;
    longer += count_longer(&k->wall.of, l->over);
    for (size_t j = 0; j < k->slows && k->slow[j].wall >= l->over; j++) {
      key[keys] = (struct slow_key){name_of(k), k->slow[j].begin, k->slow[j].wall};
      if (!is_known(l, &key[keys]))
        line[lines++] = (struct line){k, &k->slow[j]};
      keys++;
    }
  }
  if (l->started)
    print_new(l, v, line, lines, longer, now);
  l->started = true;
  l->longer = longer;
  free(l->known);
  l->known = key;
  l->knowns = keys;
  free(line);
  fflush(l->out);
}

void slow_log_end(struct slow_log *l) {
  say_left_out(l);
  fflush(l->out);
  free(l->known);
  l->known = NULL;
  l->knowns = 0;
}
