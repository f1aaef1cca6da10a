/* SPDX-License-Identifier: MIT */
/*
 * Loose recordings: how recordings are kept in the corpus.
 *
 * Purpose: a recording's frames are compressed and have sums, which no mutation keeps. A loose one
 * is the same with its frames as they are; making it a file mends magics, versions, lengths and
 * sums, so that what was changed is what the reader sees.
 * Cost: a copy. Locking: none.
 */
#ifndef TESTS_FUZZ_LOOSE_H
#define TESTS_FUZZ_LOOSE_H

#include "record/trace-file.h"

#include <stddef.h>

/* The frame whose head lies at `at`: its content is [*begin, *end). Where the next one is; 0: there
   is none. */
size_t loose_next(const uint8_t *loose, size_t size, size_t at, size_t *begin, size_t *end);
#define LOOSE_FIRST sizeof(struct trace_header)

/* An open, unlinked file that is the recording; -1: there is not even a header. */
int loose_tighten(const uint8_t *loose, size_t size);

#endif
