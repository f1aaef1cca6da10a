/* SPDX-License-Identifier: MIT */
/* Numbers and text for people; see format.h. */
#include "format.h"

#include "read/util.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three digits that matter: 1.91, 43.1, 410. */
static const char *three(double value, const char *unit) {
  return turn_text("%.*f%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

const char *shown_time(uint64_t ns) {
  double value = (double)ns;
  if (ns == UNKNOWN)
    return "-";
  if (ns == 0)
    return "0";
  if (ns < 1000)
    return turn_text("%" PRIu64 " ns", ns);
  if (value < 999.5e3)
    return three(value / 1e3, " us");
  if (value < 999.5e6)
    return three(value / 1e6, " ms");
  if (value < 9999.5e9)
    return three(value / 1e9, " s");
  if (value < 999.5 * 3600e9)
    return three(value / 3600e9, " h");
  return three(value / 86400e9, " d");
}

const char *shown_short(uint64_t ns) {
  static const struct {
    double ns;
    const char *unit;
  } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {3600e9, "h"}, {86400e9, "d"}};
  size_t i = 0;
  if (ns == UNKNOWN)
    return "-";
  if (ns == 0)
    return "0";
  while (i < 5 && (double)ns >= (i == 3 ? 9999.5e9 : 999.5 * units[i].ns))
    i++;
  double value = (double)ns / units[i].ns;
  return turn_text("%.*f%s", i && value < 9.95 ? 1 : 0, value, units[i].unit);
}

const char *shown_count(uint64_t count) {
  if (count < 10000)
    return turn_text("%" PRIu64, count);
  double value = (double)count;
  if (value < 999.5e3)
    return three(value / 1e3, "k");
  if (value < 999.5e6)
    return three(value / 1e6, "M");
  return three(value / 1e9, "G");
}

const char *shown_percent(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return "-";
  double percent = 100.0 * (double)part / (double)whole;
  return turn_text(percent < 99.95 ? "%.1f %%" : "%.0f %%", percent);
}

const char *shown_share(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return "-";
  double percent = 100.0 * (double)part / (double)whole;
  return turn_text(part && percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
}

const char *shown_part(double share) {
  double of = share > 0 ? 1 / share : 0;
  bool is_part = of >= 1 && of < 1e9 && of - floor(of + 1e-4 * of) < 2e-4 * of;
  return share >= 1 ? "all" : is_part ? turn_text("1/%.0f", of) : turn_text("%.3g %%", 100 * share);
}

const char *shown_join(const char *left, const char *right) {
  return turn_text("%s %s", left, right);
}

const char *shown_measure(enum measure_unit unit, double value) {
  if (isnan(value))
    return "-";
  uint64_t number = rounded(value);
  return unit == UNIT_TIME    ? shown_time(number)
         : unit == UNIT_COUNT ? shown_count(number)
                              : shown_percent(rounded(value * 1e6), 100000000);
}

const char *shown_sentence(struct sentence s) {
  const char *at = s.parts, *text = "";
  struct sentence_part part;
  while (at && (part = sentence_next(&at)).kind != SENTENCE_END) {
    const char *number = part.kind == SENTENCE_TIME      ? shown_time(part.number)
                         : part.kind == SENTENCE_COUNT   ? shown_count(part.number)
                         : part.kind == SENTENCE_PERCENT ? shown_percent(part.number, part.whole)
                                                         : NULL;
    text = number ? turn_text("%s%s", text, shown_mark(part.lacks, number))
                  : turn_text("%s%.*s", text, part.length, part.text);
  }
  return text;
}

static bool continues(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* The character that begins at `text`. */
static uint32_t character(const char *text) {
  unsigned char first = (unsigned char)*text;
  uint32_t c = first < 0x80   ? first
               : first < 0xe0 ? first & 0x1f
               : first < 0xf0 ? first & 0xf
                              : first & 7;
  while (continues(*++text))
    c = c << 6 | ((unsigned char)*text & 0x3f);
  return c;
}

/* What terminals draw over the character before it, and what over two columns: CJK, Hangul,
   fullwidth forms, pictures. */
static size_t columns_of(const char *text) {
  static const struct {
    uint32_t first, last;
    size_t columns;
  } ranges[] = {
      {0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
      {0x2e80, 0x303e, 2},   {0x3041, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},   {0xa960, 0xa97f, 2},
      {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},
      {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2},
      {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0}};
  if (continues(*text))
    return 0;
  uint32_t c = (unsigned char)*text < 0xc0 ? 0 : character(text);
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges && ranges[i].first <= c; i++)
    if (c <= ranges[i].last)
      return ranges[i].columns;
  return 1;
}

size_t shown_width(const char *text) {
  size_t width = 0;
  for (; *text; text++)
    width += columns_of(text);
  return width;
}

/* The first character that ends behind `columns` columns. */
static const char *after(const char *text, size_t columns) {
  for (; *text && columns_of(text) <= columns; text++)
    columns -= columns_of(text);
  return text;
}

/* The first character from which on the rest has no more than `columns` columns. */
static const char *last_columns(const char *text, size_t columns) {
  size_t width = shown_width(text);
  for (; width > columns; text++)
    width -= columns_of(text);
  while (*text && !columns_of(text)) /* what belongs to the character that is cut off */
    text++;
  return text;
}

const char *cut_right(const char *text, size_t width) {
  return shown_width(text) <= width
             ? text
             : turn_text("%.*s...", (int)(after(text, width - 3) - text), text);
}

const char *cut_left(const char *text, size_t width) {
  return shown_width(text) <= width ? text : turn_text("...%s", last_columns(text, width - 3));
}

const char *cut_middle(const char *text, size_t width) {
  size_t end = (width - 3) / 2;
  return shown_width(text) <= width
             ? text
             : turn_text("%.*s...%s", (int)(after(text, width - 3 - end) - text), text,
                         last_columns(text, end));
}

void print_left(FILE *out, const char *text, int width) {
  int rest = width - (int)shown_width(text);
  fprintf(out, "%s%*s", text, rest > 0 ? rest : 0, "");
}

void print_right(FILE *out, const char *text, int width) {
  int rest = width - (int)shown_width(text);
  fprintf(out, "%*s%s", rest > 0 ? rest : 0, "", text);
}

static bool colours;

void style_choose(FILE *out) {
  const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
  colours = isatty(fileno(out)) && !(no && *no) && !(terminal && !strcmp(terminal, "dumb"));
}

void style_set(FILE *out, enum style style) {
  static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[1;31m"};
  if (colours)
    fputs(codes[style], out);
}

static const char *marked(bool is, char mark, const char *text) {
  return is && strcmp(text, "-") ? turn_text("%c%s", mark, text) : text;
}

const char *shown_mark(bool lacks, const char *text) {
  return marked(lacks, '~', text);
}

/* What is longer than the interval began before it. */
static bool began_before(const struct view *v, uint64_t ns) {
  return v->is_interval && ns != UNKNOWN && ns > v->process.elapsed;
}

const char *shown_time_in(const struct view *v, uint64_t ns) {
  return marked(began_before(v, ns), '^', shown_time(ns));
}

const char *shown_short_in(const struct view *v, uint64_t ns) {
  return marked(began_before(v, ns), '^', shown_short(ns));
}

const char *shown_state(const struct view_live *live) {
  return live->state ? live->state : "?";
}
