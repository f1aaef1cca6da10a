/* SPDX-License-Identifier: MIT */
/*
 * Numbers and text for people.
 *
 * Purpose: compact units (three digits that matter), places, and colours only
 * where a terminal shows them and NO_COLOR is not set.
 * Locking: none; what is returned is of turn_text (read/util.h).
 */
#ifndef APROF_SHOW_FORMAT_H
#define APROF_SHOW_FORMAT_H

#include "ask/measure.h"
#include "ask/sentence.h"

#include <stdio.h>

enum { FORMAT_WIDTH = 80 };

const char *shown_time(uint64_t ns); /* "43.1 ms"; "-" for UNKNOWN */
/* The same for columns: two digits that matter and no space, five characters at most. */
const char *shown_short(uint64_t ns);                        /* "1.9ms", "120us", "43s" */
const char *shown_count(uint64_t count);                     /* "9999", "12.4k", "1.28M" */
const char *shown_percent(uint64_t part, uint64_t whole);    /* "38.2 %", "-" of nothing */
const char *shown_share(uint64_t part, uint64_t whole);      /* "38%", "0.4%", for columns */
const char *shown_part(double share);                        /* "all", "1/100", "0.15 %" */
const char *shown_join(const char *left, const char *right); /* one space between */
/* "-" for NAN */
const char *shown_measure(enum measure_unit, double value);
const char *shown_sentence(struct sentence); /* with its numbers */

/* `text`, behind a mark where it lacks something (LACKS). */
const char *shown_mark(bool lacks, const char *text);
/* Times, behind a mark where one is longer than the interval, so began before it. */
const char *shown_time_in(const struct view *, uint64_t ns);
const char *shown_short_in(const struct view *, uint64_t ns);
const char *shown_state(const struct view_live *); /* "queued"; "?": not known */

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
