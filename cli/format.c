/* Numbers and text for people; see format.h. */
#include "format.h"

#include "reading.h"

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

size_t shown_width(const char *text) {
  size_t width = 0;
  for (; *text; text++)
    width += !continues(*text);
  return width;
}

/* The first byte after `columns` columns. */
static const char *after(const char *text, size_t columns) {
  while (*text && (columns || continues(*text)))
    columns -= !continues(*text++);
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
  size_t all = shown_width(text);
  if (all <= width)
    return text;
  char *cut = turn();
  snprintf(cut, TURN_SIZE, "...%s", after(text, all - width + 3));
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
