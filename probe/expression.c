/* SPDX-License-Identifier: MIT */
/* Expressions: parsed once, worked out at each hit; see expression.h. */
#include "expression.h"

#include "read/util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind { NAME, NUMBER, TEXT, MEMBER, ELEMENT, POINTED, ADDRESS, NEGATIVE, NOT, BINARY };
enum operation {
  OR,
  AND,
  EQUAL,
  UNEQUAL,
  LESS,
  AT_MOST,
  GREATER,
  AT_LEAST,
  PLUS,
  MINUS,
  TIMES,
  OVER,
  MODULO,
  MASK
};

struct expression {
  enum kind kind;
  enum operation operation;
  char *name; /* or text */
  int64_t number;
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
      ((strchr("<>!=", sign[0]) && next == '=') || (strchr("&|", sign[0]) && next == sign[0]) ||
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
  const char *begin = ++p->at, *end = strchr(begin, '"');
  if (!end) {
    p->fault = "the text has no end";
    return NULL;
  }
  struct expression *e = node(TEXT, NULL, NULL);
  e->name = print_string("\"%.*s\"", (int)(end - begin), begin);
  p->at = end + 1;
  return e;
}

static struct expression *parse_number_here(struct parser *p) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(p->at, &end, 0);
  while (*end && strchr("uUlL", *end))
    end++;
  if (errno || isalnum((unsigned char)*end) || *end == '_') {
    p->fault = errno ? "the number is too large" : "that is no number";
    return NULL;
  }
  struct expression *e = node(NUMBER, NULL, NULL);
  e->number = (int64_t)number;
  p->at = end;
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
    e->number = p->at[1];
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
  } signs[] = {{"*", POINTED}, {"&", ADDRESS}, {"-", NEGATIVE}, {"!", NOT}};
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

static const struct sign {
  const char *sign;
  enum operation operation;
} ors[] = {{"||", OR}, {NULL, OR}}, ands[] = {{"&&", AND}, {NULL, AND}},
  masks[] = {{"&", MASK}, {NULL, OR}}, equals[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {NULL, OR}},
  compares[] = {{"<=", AT_MOST}, {">=", AT_LEAST}, {"<", LESS}, {">", GREATER}, {NULL, OR}},
  sums[] = {{"+", PLUS}, {"-", MINUS}, {NULL, OR}},
  products[] = {{"*", TIMES}, {"/", OVER}, {"%", MODULO}, {NULL, OR}};

static struct expression *parse_level(struct parser *p, size_t level) {
  static const struct sign *const levels[] = {ors, ands, masks, equals, compares, sums, products};
  if (level == sizeof levels / sizeof *levels)
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
             "comparisons, && and ||",
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

static struct value arithmetic(enum operation operation, int64_t a, int64_t b, bool late) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b, result = 0;
  switch (operation) {
  case EQUAL:
    result = a == b;
    break;
  case UNEQUAL:
    result = a != b;
    break;
  case LESS:
    result = a < b;
    break;
  case AT_MOST:
    result = a <= b;
    break;
  case GREATER:
    result = a > b;
    break;
  case AT_LEAST:
    result = a >= b;
    break;
  case PLUS:
    result = x + y;
    break;
  case MINUS:
    result = x - y;
    break;
  case TIMES:
    result = x * y;
    break;
  case MASK:
    result = x & y;
    break;
  case OVER:
  case MODULO:
    if (b == 0)
      return faulty("it divides by zero");
    if (b == -1)
      result = operation == OVER ? 0 - x : 0;
    else
      result = (uint64_t)(operation == OVER ? a / b : a % b);
    break;
  default:
    break;
  }
  struct value v = value_of_number((int64_t)result);
  v.late = late;
  return v;
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
  if (e->operation != EQUAL && e->operation != UNEQUAL)
    return faulty("texts are equal or not");
  struct value result = value_of_number(equal == (e->operation == EQUAL));
  result.late = v.late;
  return result;
}

static struct value binary(const struct expression *e, const struct hit *h) {
  if (e->left->kind == TEXT || e->right->kind == TEXT)
    return compare_text(e, h);
  struct value left = expression_value(e->left, h);
  int64_t a, b;
  if (!value_number(h, &left, &a))
    return left;
  if (e->operation == OR ? a != 0 : e->operation == AND && a == 0)
    return arithmetic(UNEQUAL, a, 0, left.late);
  struct value right = expression_value(e->right, h);
  if (!value_number(h, &right, &b))
    return right;
  if (e->operation == OR || e->operation == AND)
    return arithmetic(UNEQUAL, b, 0, left.late || right.late);
  return arithmetic(e->operation, a, b, left.late || right.late);
}

struct value expression_value(const struct expression *e, const struct hit *h) {
  struct value v;
  int64_t number;
  switch (e->kind) {
  case NAME:
    return value_of_name(h, e->name);
  case NUMBER:
    return value_of_number(e->number);
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
    return value_element(h, expression_value(e->left, h), number);
  case NEGATIVE:
  case NOT:
    v = expression_value(e->left, h);
    if (!value_number(h, &v, &number))
      return v;
    return e->kind == NOT ? arithmetic(EQUAL, number, 0, v.late)
                          : arithmetic(MINUS, 0, number, v.late);
  default:
    return binary(e, h);
  }
}

bool expression_holds(const struct expression *e, const struct hit *h, const char **fault) {
  struct value v = expression_value(e, h);
  int64_t number = 0;
  bool known = value_number(h, &v, &number);
  *fault = known ? NULL : v.fault;
  return known && number != 0;
}
