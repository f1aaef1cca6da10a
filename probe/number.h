/* SPDX-License-Identifier: MIT */
/*
 * Numbers of C, as its arithmetic has them: signed, unsigned, with a fraction, each as wide as its
 * type.
 *
 * Cost: none to speak of. Locking: none.
 */
#ifndef APROF_PROBE_NUMBER_H
#define APROF_PROBE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct number {
  enum { NUMBER_SIGNED, NUMBER_UNSIGNED, NUMBER_FRACTION } is;
  unsigned wide;        /* bits: 32 or 64, of a fraction 80, too */
  int64_t whole;        /* of what is unsigned: its bits */
  long double fraction; /* of what has one */
};

enum number_operation {
  NUMBER_OR,
  NUMBER_AND,
  NUMBER_EITHER,
  NUMBER_ONE_OF,
  NUMBER_BOTH,
  NUMBER_EQUAL,
  NUMBER_UNEQUAL,
  NUMBER_LESS,
  NUMBER_AT_MOST,
  NUMBER_GREATER,
  NUMBER_AT_LEAST,
  NUMBER_LEFT,
  NUMBER_RIGHT,
  NUMBER_PLUS,
  NUMBER_MINUS,
  NUMBER_TIMES,
  NUMBER_OVER,
  NUMBER_MODULO,
};

struct number number_int(int64_t); /* of type int, or long where it does not fit */
struct number number_whole(uint64_t bits, bool is_unsigned, unsigned wide);
struct number number_fraction(long double, unsigned wide);
bool number_is_true(const struct number *);
/* a SIGN b, but for || and &&; why there is no result, or NULL. */
const char *number_binary(enum number_operation, const struct number *a, const struct number *b,
                          struct number *result);
struct number number_negative(const struct number *);
/* ~a; why there is none, or NULL. */
const char *number_inverse(const struct number *, struct number *result);

#endif
