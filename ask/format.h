/* SPDX-License-Identifier: MIT */
/*
 * Numbers and text for people.
 *
 * Purpose: compact units (three digits that matter), places, and colours only
 * where a terminal shows them and NO_COLOR is not set.
 * Locking: none; the shown_* functions take turns over a few static buffers, so
 * one call of printf may use up to FORMAT_TURNS of them.
 */
#ifndef APROF_ASK_FORMAT_H
#define APROF_ASK_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FORMAT_TURNS = 32, FORMAT_WIDTH = 80 };

const char *shown_time(uint64_t ns); /* "43.1 ms"; "-" for UNKNOWN */
/* The same for columns: two digits that matter and no space, five characters at most. */
const char *shown_short(uint64_t ns);                        /* "1.9ms", "120us", "43s" */
const char *shown_count(uint64_t count);                     /* "9999", "12.4k", "1.28M" */
const char *shown_percent(uint64_t part, uint64_t whole);    /* "38.2 %", "-" of nothing */
const char *shown_share(uint64_t part, uint64_t whole);      /* "38%", "0.4%", for columns */
const char *shown_join(const char *left, const char *right); /* one space between */
const char *shown_place(const char *file, uint64_t line);
const char *shown_base(const char *place); /* without its directories; NULL for NULL */

/* `text`, behind a mark where it lacks something (LACKS). */
const char *shown_mark(bool lacks, const char *text);
/* The same of one that is longer than the interval, so began before it. */
const char *shown_began(bool before, const char *text);

/* Columns of a UTF-8 text, and the text cut to `width` of them ("..." where). */
size_t shown_width(const char *text);
const char *cut_right(const char *text, size_t width);
const char *cut_left(const char *text, size_t width);
const char *cut_middle(const char *text, size_t width);

/* printf("%*s") by columns instead of bytes. */
void print_left(FILE *out, const char *text, int width);
void print_right(FILE *out, const char *text, int width);

enum style { STYLE_PLAIN, STYLE_TITLE, STYLE_FAINT, STYLE_ALARM };
void style_choose(FILE *out); /* once: are there colours? */
void style_set(FILE *out, enum style style);

#endif
