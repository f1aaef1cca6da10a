/* SPDX-License-Identifier: MIT */
/*
 * A unit as libclang sees it.
 *
 * Purpose: the preprocessor runs first, by itself, so that each token stands where the tree says
 * that it does, also those of macros. Cost: that of a compiler's front end. Locking: none.
 */
#ifndef APROF_CHECK_PARSE_H
#define APROF_CHECK_PARSE_H

#include <clang-c/Index.h>

#include "unit.h"

#ifndef APROF_CLANG
#define APROF_CLANG "clang"
#endif

/* The unit behind the preprocessor; NULL where that cannot be run. `*failed`: it had errors. */
char *parse_text(const struct unit *, size_t *length, bool *failed);
/* NULL: libclang gives up. */
CXTranslationUnit parse_tree(const struct unit *, const char *text, size_t length);

#endif
