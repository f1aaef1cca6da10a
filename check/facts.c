/* SPDX-License-Identifier: MIT */
/* What is known of values; see facts.h. */
#include "facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* -- branches as comparisons ------------------------------------------------------------------ */

/* "$3 == #0": a value, a sign, a number. A value alone is not zero. */
struct comparison {
  size_t length; /* of the value */
  char sign[3];  /* empty: it is none of a value and a number */
  int64_t number;
};

static struct comparison comparison_of(const char *branch) {
  struct comparison c = {.length = strcspn(branch, " "), .sign = "!="};
  if (!branch[c.length])
    return c;
  const char *sign = branch + c.length + 1, *blank = strchr(sign, ' ');
  memset(c.sign, 0, sizeof c.sign);
  if (!blank || blank - sign > 2 || blank[1] != '#')
    return c;
  memcpy(c.sign, sign, (size_t)(blank - sign));
  c.number = strtoll(blank + 2, NULL, 10);
  return c;
}

static bool compare(int64_t a, const char *sign, int64_t b) {
  bool equal = sign[1] == '=' && a == b;
  switch (sign[0]) {
  case '<':
    return a < b || equal;
  case '>':
    return a > b || equal;
  default:
    return (a == b) == (sign[0] == '=');
  }
}

static bool is_number(const char *value) {
  return value && value[0] == '#' && !strchr(value, ' ');
}

/* -- a list of them --------------------------------------------------------------------------- */

static bool same(const struct fact *a, const struct fact *b) {
  return a->length == b->length && (a->kind <= FACT_IS_NOT) == (b->kind <= FACT_IS_NOT) &&
         !memcmp(a->of, b->of, a->length);
}

static const struct fact *known_of(const struct facts *f, const struct fact *like) {
  for (size_t i = f->count; i-- > 0;)
    if (same(&f->fact[i], like))
      return &f->fact[i];
  return NULL;
}

static void forget(struct facts *f, size_t i) {
  memmove(&f->fact[i], &f->fact[i + 1], (f->count - i - 1) * sizeof *f->fact);
  f->count--;
}

void facts_add(struct facts *f, struct fact fact) {
  const struct fact *known = known_of(f, &fact);
  if (known && known->kind == FACT_IS)
    return; /* no more can be said */
  if (known)
    forget(f, (size_t)(known - f->fact));
  if (f->count == MOST_FACTS)
    forget(f, 0);
  f->fact[f->count++] = fact;
}

void facts_take(struct facts *f, const char *branch, size_t way) {
  struct comparison c = comparison_of(branch);
  if (strchr(branch, '?') || branch[0] == '#')
    return;
  struct fact fact = {branch, c.length, c.number, way == 0 ? FACT_IS : FACT_IS_NOT};
  if (!strcmp(c.sign, "!="))
    fact.kind = way == 0 ? FACT_IS_NOT : FACT_IS;
  else if (strcmp(c.sign, "=="))
    fact = (struct fact){branch, strlen(branch), 0, way == 0 ? FACT_HOLDS : FACT_FAILS};
  facts_add(f, fact);
}

int facts_way(const struct facts *f, const char *branch) {
  struct comparison c = comparison_of(branch);
  const struct fact *known = known_of(f, &(struct fact){branch, strlen(branch), 0, FACT_HOLDS});
  if (known)
    return known->kind == FACT_FAILS;
  known = *c.sign ? known_of(f, &(struct fact){branch, c.length, 0, FACT_IS}) : NULL;
  if (!known)
    return -1;
  if (known->kind == FACT_IS)
    return !compare(known->number, c.sign, c.number);
  bool equal = !strcmp(c.sign, "==");
  return known->number == c.number && (equal || !strcmp(c.sign, "!=")) ? equal : -1;
}

/* -- what changes them --------------------------------------------------------------------------
 */

static bool is_of_name(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool has(const struct fact *f, const char *part) {
  size_t length = strlen(part);
  const char *end = f->of + f->length;
  for (const char *at = f->of; (at = memmem(at, (size_t)(end - at), part, length)); at++)
    if (at + length == end || !is_of_name(at[length]))
      return true;
  return false;
}

static void forget_all(struct facts *f, const char *part) {
  for (size_t i = f->count; i-- > 0;)
    if (has(&f->fact[i], part))
      forget(f, i);
}

static void set(struct facts *f, const char *to, const char *value) {
  struct fact is = {to, strlen(to), 0, FACT_IS};
  const struct fact *known = NULL;
  int way = -1;
  if (is_number(value))
    is.number = strtoll(value + 1, NULL, 10);
  else if (value && strchr(value, ' '))
    way = facts_way(f, value);
  else if (value && strcmp(value, "?") && strcmp(value, to))
    known = known_of(f, &(struct fact){value, strlen(value), 0, FACT_IS});
  if (known) {
    is.kind = known->kind;
    is.number = known->number;
  } else if (way >= 0) {
    is.number = way == 0;
  }
  bool any = is_number(value) || known || way >= 0;
  forget_all(f, to);
  if (any)
    facts_add(f, is);
}

static bool is_shared(const struct fact *f, const bool *shared) {
  return f->of[0] == '$' && shared[strtoul(f->of + 1, NULL, 10)];
}

static void called(struct facts *f, const struct ir_step *s, const bool *shared) {
  char result[24], *end = result + sizeof result;
  if (!f->count)
    return;
  for (size_t i = f->count; i-- > 0;)
    if (is_shared(&f->fact[i], shared))
      forget(f, i);
  for (size_t i = 0; i < s->argument.count; i++)
    if (s->argument.text[i][0] == '&') /* it may be set in there */
      forget_all(f, s->argument.text[i] + 1);
  *--end = 0;
  int id = s->id;
  do
    *--end = (char)('0' + id % 10);
  while ((id /= 10) > 0);
  *--end = '!';
  forget_all(f, end);
}

void facts_step(struct facts *f, const struct ir_step *s, const bool *shared) {
  if (s->kind == IR_SET && s->to[0] != '?')
    set(f, s->to, s->value);
  else if (s->kind == IR_DECLARE)
    forget_all(f, s->to);
  else if ((s->kind == IR_CALL || s->kind == IR_ICALL) && s->id >= 0)
    called(f, s, shared);
}

/* A variable of the function, and no more. */
static bool is_own(const struct fact *f) {
  return f->of[0] == '$' && !memchr(f->of, '.', f->length) && !memchr(f->of, '>', f->length) &&
         !memchr(f->of, '[', f->length) && !memchr(f->of, '@', f->length);
}

void facts_round(struct facts *f, const bool *shared) {
  for (size_t i = f->count; i-- > 0;)
    if (!is_own(&f->fact[i]) || is_shared(&f->fact[i], shared))
      forget(f, i);
}

bool facts_meet(struct facts *f, const struct facts *other) {
  size_t before = f->count;
  for (size_t i = f->count; i-- > 0;) {
    const struct fact *known = known_of(other, &f->fact[i]);
    if (!known || known->kind != f->fact[i].kind || known->number != f->fact[i].number)
      forget(f, i);
  }
  return f->count < before;
}
