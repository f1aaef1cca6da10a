/* SPDX-License-Identifier: MIT */
/* Numbers and text for people; see format.h. */
#include "format.h"

#include "read/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_SIZE = 512 };

static char *turn(void) {
  static char buffers[FORMAT_TURNS][TURN_SIZE];
  static unsigned next;
  return buffers[next++ % FORMAT_TURNS];
}

/* Three digits that matter: 1.91, 43.1, 410. */
static const char *three(double value, const char *unit) {
  char *text = turn();
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  snprintf(text, TURN_SIZE, "%.*f%s", decimals, value, unit);
  return text;
}

const char *shown_time(uint64_t ns) {
  double value = (double)ns;
  if (ns == UNKNOWN)
    return "-";
  if (ns == 0)
    return "0";
  if (ns < 1000) {
    char *text = turn();
    snprintf(text, TURN_SIZE, "%" PRIu64 " ns", ns);
    return text;
  }
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
  char *text = turn();
  snprintf(text, TURN_SIZE, "%.*f%s", i && value < 9.95 ? 1 : 0, value, units[i].unit);
  return text;
}

const char *shown_count(uint64_t count) {
  char *text = turn();
  if (count < 10000) {
    snprintf(text, TURN_SIZE, "%" PRIu64, count);
    return text;
  }
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
  char *text = turn();
  double percent = 100.0 * (double)part / (double)whole;
  snprintf(text, TURN_SIZE, percent < 99.95 ? "%.1f %%" : "%.0f %%", percent);
  return text;
}

const char *shown_share(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return "-";
  char *text = turn();
  double percent = 100.0 * (double)part / (double)whole;
  snprintf(text, TURN_SIZE, part && percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
  return text;
}

const char *shown_place(const char *file, uint64_t line) {
  if (!file)
    return "?";
  char *text = turn();
  if (line)
    snprintf(text, TURN_SIZE, "%s:%" PRIu64, file, line);
  else
    snprintf(text, TURN_SIZE, "%s", file);
  return text;
}

const char *shown_base(const char *place) {
  const char *slash = place ? strrchr(place, '/') : NULL;
  return slash ? slash + 1 : place;
}

const char *shown_join(const char *left, const char *right) {
  char *text = turn();
  snprintf(text, TURN_SIZE, "%s %s", left, right);
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
  if (shown_width(text) <= width)
    return text;
  char *cut = turn();
  int bytes = (int)(after(text, width - 3) - text);
  snprintf(cut, TURN_SIZE, "%.*s...", bytes < TURN_SIZE - 4 ? bytes : TURN_SIZE - 4, text);
  return cut;
}

const char *cut_left(const char *text, size_t width) {
  if (shown_width(text) <= width)
    return text;
  char *cut = turn();
  snprintf(cut, TURN_SIZE, "...%s", last_columns(text, width - 3));
  return cut;
}

const char *cut_middle(const char *text, size_t width) {
  if (shown_width(text) <= width)
    return text;
  char *cut = turn();
  size_t end = (width - 3) / 2;
  int bytes = (int)(after(text, width - 3 - end) - text);
  snprintf(cut, TURN_SIZE, "%.*s...%s", bytes < TURN_SIZE / 2 ? bytes : TURN_SIZE / 2, text,
           last_columns(text, end));
  return cut;
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
  if (!is || !strcmp(text, "-"))
    return text;
  char *longer = turn();
  snprintf(longer, TURN_SIZE, "%c%s", mark, text);
  return longer;
}

const char *shown_mark(bool lacks, const char *text) {
  return marked(lacks, '~', text);
}

const char *shown_began(bool before, const char *text) {
  return marked(before, '^', text);
}
