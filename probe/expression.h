/* SPDX-License-Identifier: MIT */
/*
 * Expressions over what is visible at a place, a part of C's:
 *
 *     any     = unary [SIGN unary]...        signs as in C, the weakest first:
 *               ||  &&  |  ^  &  == !=  < <= > >=  << >>  + -  * / %
 *     unary   = ('*' | '&' | '-' | '!' | '~') unary | NAME or number or 'c' or "text" or (any),
 *               with '->' NAME, '.' NAME, '[' any ']' behind it; a NAME of C++ has its scopes
 *
 * Nothing of the program is called. Cost: linear. Locking: none.
 */
#ifndef APROF_PROBE_EXPRESSION_H
#define APROF_PROBE_EXPRESSION_H

#include "value.h"

struct expression;

/* NULL after a message that names the place in the text. */
struct expression *expression_parse(const char *text);
void expression_free(struct expression *);
struct value expression_value(const struct expression *, const struct hit *);
/* Whether it is true; false, with `*fault`, where that cannot be told. */
bool expression_holds(const struct expression *, const struct hit *, const char **fault);

#endif
