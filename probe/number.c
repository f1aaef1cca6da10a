/* SPDX-License-Identifier: MIT */
/* Arithmetic of C; see number.h. */
#include "number.h"

#include <stddef.h>

static int64_t narrowed(uint64_t bits, bool is_unsigned, unsigned wide) {
  if (wide >= 64)
    return (int64_t)bits;
  return is_unsigned ? (int64_t)(uint32_t)bits : (int64_t)(int32_t)(uint32_t)bits;
}

struct number number_whole(uint64_t bits, bool is_unsigned, unsigned wide) {
  return (struct number){.is = is_unsigned ? NUMBER_UNSIGNED : NUMBER_SIGNED,
                         .wide = wide,
                         .whole = narrowed(bits, is_unsigned, wide)};
}

struct number number_int(int64_t value) {
  return number_whole((uint64_t)value, false, value == (int32_t)value ? 32 : 64);
}

struct number number_fraction(long double value, unsigned wide) {
  return (struct number){.is = NUMBER_FRACTION,
                         .wide = wide,
                         .fraction = wide == 32   ? (long double)(float)value
                                     : wide == 64 ? (long double)(double)value
                                                  : value};
}

bool number_is_true(const struct number *n) {
  return n->is == NUMBER_FRACTION ? n->fraction != 0 : n->whole != 0;
}

static long double as_fraction(const struct number *n) {
  return n->is == NUMBER_FRACTION   ? n->fraction
         : n->is == NUMBER_UNSIGNED ? (long double)(uint64_t)n->whole
                                    : (long double)n->whole;
}

struct number number_negative(const struct number *n) {
  return n->is == NUMBER_FRACTION
             ? number_fraction(-n->fraction, n->wide)
             : number_whole(0 - (uint64_t)n->whole, n->is == NUMBER_UNSIGNED, n->wide);
}

static const char no_bits[] = "a number with a fraction has no bits";

const char *number_inverse(const struct number *n, struct number *result) {
  if (n->is == NUMBER_FRACTION)
    return no_bits;
  *result = number_whole(~(uint64_t)n->whole, n->is == NUMBER_UNSIGNED, n->wide);
  return NULL;
}

static bool compares(enum number_operation operation, int order) {
  switch (operation) {
  case NUMBER_EQUAL:
    return order == 0;
  case NUMBER_UNEQUAL:
    return order != 0;
  case NUMBER_LESS:
    return order < 0;
  case NUMBER_AT_MOST:
    return order <= 0;
  case NUMBER_GREATER:
    return order > 0;
  default:
    return order >= 0;
  }
}

static bool is_comparison(enum number_operation operation) {
  return operation >= NUMBER_EQUAL && operation <= NUMBER_AT_LEAST;
}

static const char *of_fractions(enum number_operation operation, long double a, long double b,
                                unsigned wide, struct number *result) {
  if (is_comparison(operation)) {
    bool unordered = a != a || b != b;
    *result = number_int(unordered ? operation == NUMBER_UNEQUAL
                                   : compares(operation, a < b ? -1 : a > b));
    return NULL;
  }
  switch (operation) {
  case NUMBER_PLUS:
    a += b;
    break;
  case NUMBER_MINUS:
    a -= b;
    break;
  case NUMBER_TIMES:
    a *= b;
    break;
  case NUMBER_OVER:
    a /= b;
    break;
  default:
    return no_bits;
  }
  *result = number_fraction(a, wide);
  return NULL;
}

/* By what both fit into, as C has it. */
static uint64_t divided(enum number_operation operation, int64_t a, int64_t b, bool is_unsigned) {
  bool over = operation == NUMBER_OVER;
  if (is_unsigned)
    return over ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b;
  if (b == -1)
    return over ? 0 - (uint64_t)a : 0;
  return (uint64_t)(over ? a / b : a % b);
}

static struct number shifted(enum number_operation operation, const struct number *n, uint64_t by) {
  bool is_unsigned = n->is == NUMBER_UNSIGNED;
  uint64_t bits = (uint64_t)n->whole;
  if (operation == NUMBER_LEFT)
    bits = by < n->wide ? bits << by : 0;
  else if (is_unsigned)
    bits = by < n->wide ? bits >> by : 0;
  else
    bits = (uint64_t)(n->whole >> (by < n->wide ? by : n->wide - 1));
  return number_whole(bits, is_unsigned, n->wide);
}

const char *number_binary(enum number_operation operation, const struct number *a,
                          const struct number *b, struct number *result) {
  unsigned wide = a->wide > b->wide ? a->wide : b->wide;
  if (a->is == NUMBER_FRACTION || b->is == NUMBER_FRACTION) {
    wide = a->is != NUMBER_FRACTION ? b->wide : b->is != NUMBER_FRACTION ? a->wide : wide;
    return of_fractions(operation, as_fraction(a), as_fraction(b), wide, result);
  }
  if (operation == NUMBER_LEFT || operation == NUMBER_RIGHT) {
    *result = shifted(operation, a, (uint64_t)b->whole);
    return NULL;
  }
  bool is_unsigned = (a->is == NUMBER_UNSIGNED && a->wide == wide) ||
                     (b->is == NUMBER_UNSIGNED && b->wide == wide);
  int64_t left = narrowed((uint64_t)a->whole, is_unsigned, wide),
          right = narrowed((uint64_t)b->whole, is_unsigned, wide);
  uint64_t x = (uint64_t)left, y = (uint64_t)right;
  if (is_comparison(operation)) {
    int order = is_unsigned ? (x > y) - (x < y) : (left > right) - (left < right);
    *result = number_int(compares(operation, order));
    return NULL;
  }
  switch (operation) {
  case NUMBER_EITHER:
    x |= y;
    break;
  case NUMBER_ONE_OF:
    x ^= y;
    break;
  case NUMBER_BOTH:
    x &= y;
    break;
  case NUMBER_PLUS:
    x += y;
    break;
  case NUMBER_MINUS:
    x -= y;
    break;
  case NUMBER_TIMES:
    x *= y;
    break;
  default:
    if (right == 0)
      return "it divides by zero";
    x = divided(operation, left, right, is_unsigned);
  }
  *result = number_whole(x, is_unsigned, wide);
  return NULL;
}
