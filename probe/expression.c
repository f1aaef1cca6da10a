/* SPDX-License-Identifier: MIT */
/* Expressions: parsed once, worked out at each hit; see expression.h. */
#include "expression.h"

#include "read/util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind { NAME, NUMBER, TEXT, MEMBER, ELEMENT, POINTED, ADDRESS, NEGATIVE, NOT, INVERSE, BINARY };

struct expression {
  enum kind kind;
  enum number_operation operation;
  char *name; /* or text */
  struct number number;
  struct expression *left, *right;
};

struct parser {
  const char *text, *at, *fault;
  int depth;
};
enum { DEPTH_MOST = 100, LENGTH_MOST = 4096 };

static struct expression *node(enum kind kind, struct expression *left, struct expression *right) {
  struct expression *e = allocate(1, sizeof *e);
  *e = (struct expression){.kind = kind, .left = left, .right = right};
  return e;
}

void expression_free(struct expression *e) {
  if (!e)
    return;
  expression_free(e->left);
  expression_free(e->right);
  free(e->name);
  free(e);
}

static void blanks(struct parser *p) {
  while (isspace((unsigned char)*p->at))
    p->at++;
}

/* The sign, if it stands here, and is not the beginning of a longer one. */
static bool takes(struct parser *p, const char *sign) {
  size_t length = strlen(sign);
  blanks(p);
  if (strncmp(p->at, sign, length) != 0)
    return false;
  char next = p->at[length];
  if (length == 1 &&
      ((strchr("<>!=", sign[0]) && next == '=') || (strchr("&|<>", sign[0]) && next == sign[0]) ||
       (sign[0] == '-' && next == '>')))
    return false;
  p->at += length;
  return true;
}

static char *word(struct parser *p) {
  const char *begin = p->at;
  if (isalpha((unsigned char)*p->at) || *p->at == '_')
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
      p->at++;
  if (p->at == begin) {
    p->fault = "a name is missing";
    return NULL;
  }
  return print_string("%.*s", (int)(p->at - begin), begin);
}

/* "pool::limit", too. */
static char *scoped_word(struct parser *p) {
  const char *begin = p->at;
  char *name = NULL;
  do {
    p->at += 2 * (size_t)!strncmp(p->at, "::", 2);
    free(name);
    name = word(p);
  } while (name && !strncmp(p->at, "::", 2));
  free(name);
  return name ? print_string("%.*s", (int)(p->at - begin), begin) : NULL;
}

static struct expression *parse_any(struct parser *p);

static struct expression *parse_text(struct parser *p) {
  const char *begin = ++p->at, *end = begin;
  while (*end && *end != '"')
    end += 1 + (end[0] == '\\' && end[1]);
  if (!*end) {
    p->fault = "the text has no end";
    return NULL;
  }
  struct expression *e = node(TEXT, NULL, NULL);
  e->name = print_string("\"%.*s\"", (int)(end - begin), begin);
  p->at = end + 1;
  return e;
}

/* The first of C's types that has room for it. */
static struct number sized(unsigned long long number, const char *suffix, bool is_decimal) {
  bool is_unsigned = strpbrk(suffix, "uU"), is_long = strpbrk(suffix, "lL");
  bool fits = number <= (is_unsigned ? UINT32_MAX : INT32_MAX);
  if (!is_long && !fits && !is_decimal && number <= UINT32_MAX)
    return number_whole(number, true, 32);
  return number_whole(number, is_unsigned || number > INT64_MAX, is_long || !fits ? 64 : 32);
}

static struct expression *parse_number_here(struct parser *p) {
  char *end, *behind, suffix[4] = "";
  errno = 0;
  unsigned long long number = strtoull(p->at, &end, 0);
  bool is_hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
  bool is_fraction = !is_hex && *end && strchr(".eE", *end);
  long double fraction = 0;
  if (is_fraction)
    fraction = strtold(p->at, &end);
  for (behind = end; *behind && strchr(is_fraction ? "fF" : "uUlL", *behind); behind++)
    if (behind - end < 3)
      suffix[behind - end] = *behind;
  if (errno || isalnum((unsigned char)*behind) || *behind == '_' || behind - end > 3) {
    p->fault = errno ? "the number is too large" : "that is no number";
    return NULL;
  }
  struct expression *e = node(NUMBER, NULL, NULL);
  e->number = is_fraction ? number_fraction(fraction, *suffix ? 32 : 64)
                          : sized(number, suffix, *p->at != '0');
  p->at = behind;
  return e;
}

static struct expression *parse_primary(struct parser *p) {
  blanks(p);
  struct expression *e = NULL;
  if (takes(p, "(")) {
    e = parse_any(p);
    if (e && !takes(p, ")"))
      p->fault = "a ')' is missing";
  } else if (*p->at == '"') {
    e = parse_text(p);
  } else if (*p->at == '\'' && p->at[1] && p->at[1] != '\\' && p->at[2] == '\'') {
    e = node(NUMBER, NULL, NULL);
    e->number = number_int(p->at[1]);
    p->at += 3;
  } else if (isdigit((unsigned char)*p->at)) {
    e = parse_number_here(p);
  } else {
    char *name = scoped_word(p);
    if (name) {
      e = node(NAME, NULL, NULL);
      e->name = name;
    }
  }
  while (e && !p->fault) {
    if (takes(p, "->") || takes(p, ".")) {
      blanks(p);
      e = node(MEMBER, e, NULL);
      e->name = word(p);
    } else if (takes(p, "[")) {
      e = node(ELEMENT, e, parse_any(p));
      if (!p->fault && !takes(p, "]"))
        p->fault = "a ']' is missing";
    } else {
      break;
    }
  }
  return e;
}

static struct expression *parse_unary(struct parser *p) {
  static const struct {
    const char *sign;
    enum kind kind;
  } signs[] = {{"*", POINTED}, {"&", ADDRESS}, {"-", NEGATIVE}, {"!", NOT}, {"~", INVERSE}};
  struct expression *e = NULL;
  if (++p->depth > DEPTH_MOST)
    p->fault = "it is nested too deep";
  for (size_t i = 0; i < sizeof signs / sizeof *signs && !e && !p->fault; i++)
    if (takes(p, signs[i].sign))
      e = node(signs[i].kind, parse_unary(p), NULL);
  if (!e && !p->fault)
    e = parse_primary(p);
  p->depth--;
  return e;
}

/* The weakest first. */
enum { LEVELS = 10, SIGNS = 5 };
static const struct sign {
  const char *sign;
  enum number_operation operation;
} levels[LEVELS][SIGNS] = {
    {{"||", NUMBER_OR}},
    {{"&&", NUMBER_AND}},
    {{"|", NUMBER_EITHER}},
    {{"^", NUMBER_ONE_OF}},
    {{"&", NUMBER_BOTH}},
    {{"==", NUMBER_EQUAL}, {"!=", NUMBER_UNEQUAL}},
    {{"<=", NUMBER_AT_MOST}, {">=", NUMBER_AT_LEAST}, {"<", NUMBER_LESS}, {">", NUMBER_GREATER}},
    {{"<<", NUMBER_LEFT}, {">>", NUMBER_RIGHT}},
    {{"+", NUMBER_PLUS}, {"-", NUMBER_MINUS}},
    {{"*", NUMBER_TIMES}, {"/", NUMBER_OVER}, {"%", NUMBER_MODULO}}};

static struct expression *parse_level(struct parser *p, size_t level) {
  if (level == LEVELS)
    return parse_unary(p);
  struct expression *e = parse_level(p, level + 1);
  for (bool more = true; more && !p->fault;) {
    more = false;
    for (const struct sign *s = levels[level]; s->sign && !more; s++)
      if (takes(p, s->sign)) {
        e = node(BINARY, e, parse_level(p, level + 1));
        e->operation = s->operation;
        more = true;
      }
  }
  return e;
}

static struct expression *parse_any(struct parser *p) {
  if (++p->depth > DEPTH_MOST)
    p->fault = "it is nested too deep";
  struct expression *e = p->fault ? NULL : parse_level(p, 0);
  p->depth--;
  return e;
}

struct expression *expression_parse(const char *text) {
  struct parser p = {.text = text, .at = text};
  if (strlen(text) > LENGTH_MOST) {
    complain("an expression has at most %d characters", LENGTH_MOST);
    return NULL;
  }
  struct expression *e = parse_any(&p);
  blanks(&p);
  if (!p.fault && *p.at)
    p.fault = "what stands there is not understood";
  if (p.fault) {
    complain("expression '%s', character %d: %s; it takes names, ->, ., [], *, &, numbers, texts, "
             "arithmetic, comparisons, && and ||",
             text, (int)(p.at - text) + 1, p.fault);
    expression_free(e);
    return NULL;
  }
  return e;
}

/* -- at a hit ---------------------------------------------------------------------- */

static struct value faulty(const char *fault) {
  return (struct value){.fault = fault};
}

static struct value calculated(const struct number *number, bool late) {
  struct value v = value_of_number(number);
  v.late = late;
  return v;
}

static struct value truth(bool holds, bool late) {
  const struct number number = number_int(holds);
  return calculated(&number, late);
}

/* Against a text in quotes. */
static struct value compare_text(const struct expression *e, const struct hit *h) {
  const struct expression *text = e->left->kind == TEXT ? e->left : e->right;
  struct value v = expression_value(text == e->left ? e->right : e->left, h);
  bool is_number;
  int64_t number;
  char *is = value_text(h, &v, &is_number, &number);
  if (!is)
    return v;
  bool equal = strcmp(is, text->name) == 0;
  free(is);
  if (e->operation != NUMBER_EQUAL && e->operation != NUMBER_UNEQUAL)
    return faulty("texts are equal or not");
  return truth(equal == (e->operation == NUMBER_EQUAL), v.late);
}

static bool moves(const struct expression *e, const struct value *left) {
  return (e->operation == NUMBER_PLUS || e->operation == NUMBER_MINUS) && !left->fault &&
         value_points(left);
}

/* A pointer, so many elements on; less another one, how many lie between them. */
static struct value move(const struct expression *e, const struct hit *h, struct value left,
                         struct value right) {
  struct number by, from;
  if (!value_number(h, &right, &by))
    return right;
  if (by.is == NUMBER_FRACTION)
    return faulty("a pointer moves by whole elements");
  bool back = e->operation == NUMBER_MINUS;
  if (!value_points(&right))
    return value_moved(h, left, back ? (int64_t)(0 - (uint64_t)by.whole) : by.whole);
  struct value one = value_moved(h, left, 1);
  struct number next;
  if (!back)
    return faulty("pointers cannot be added");
  if (!value_number(h, &left, &from))
    return left;
  if (!value_number(h, &one, &next))
    return one;
  int64_t size = next.whole - from.whole;
  const struct number between =
      number_whole((uint64_t)(size ? (from.whole - by.whole) / size : 0), false, 64);
  return calculated(&between, left.late || right.late);
}

static struct value binary(const struct expression *e, const struct hit *h) {
  if (e->left->kind == TEXT || e->right->kind == TEXT)
    return compare_text(e, h);
  struct value left = expression_value(e->left, h), right;
  struct number a, b, result;
  if (moves(e, &left))
    return move(e, h, left, expression_value(e->right, h));
  if (!value_number(h, &left, &a))
    return left;
  bool either = e->operation == NUMBER_OR, both = e->operation == NUMBER_AND;
  if ((either && number_is_true(&a)) || (both && !number_is_true(&a)))
    return truth(either, left.late);
  right = expression_value(e->right, h);
  if (!value_number(h, &right, &b))
    return right;
  bool late = left.late || right.late;
  if (either || both)
    return truth(number_is_true(&b), late);
  const char *fault = number_binary(e->operation, &a, &b, &result);
  return fault ? faulty(fault) : calculated(&result, late);
}

static struct value unary(const struct expression *e, const struct hit *h) {
  struct value v = expression_value(e->left, h);
  struct number n;
  if (!value_number(h, &v, &n))
    return v;
  if (e->kind == NOT)
    return truth(!number_is_true(&n), v.late);
  const char *fault = NULL;
  if (e->kind == NEGATIVE)
    n = number_negative(&n);
  else
    fault = number_inverse(&n, &n);
  return fault ? faulty(fault) : calculated(&n, v.late);
}

struct value expression_value(const struct expression *e, const struct hit *h) {
  struct value v;
  struct number number;
  switch (e->kind) {
  case NAME:
    return value_of_name(h, e->name);
  case NUMBER:
    return value_of_number(&e->number);
  case TEXT:
    return faulty("a text is for comparing with alone");
  case MEMBER:
    return value_member(h, expression_value(e->left, h), e->name);
  case POINTED:
    return value_pointed(h, expression_value(e->left, h));
  case ADDRESS:
    return value_address(expression_value(e->left, h));
  case ELEMENT:
    v = expression_value(e->right, h);
    if (!value_number(h, &v, &number))
      return v;
    return number.is == NUMBER_FRACTION
               ? faulty("an index is a whole number")
               : value_element(h, expression_value(e->left, h), number.whole);
  case NEGATIVE:
  case NOT:
  case INVERSE:
    return unary(e, h);
  default:
    return binary(e, h);
  }
}

bool expression_holds(const struct expression *e, const struct hit *h, const char **fault) {
  struct value v = expression_value(e, h);
  struct number number;
  bool known = value_number(h, &v, &number);
  *fault = known ? NULL : v.fault;
  return known && number_is_true(&number);
}
