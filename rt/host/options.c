/* SPDX-License-Identifier: MIT */
/* APROF_OPTIONS=key:value,...: read once, before the first future. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "options.h"

#include "rt/rt.h"
#include "rt/sys/say.h"

#include <aprof/trace.h>

#define REQUESTS_MOST 65536u

static bool is(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool read_flag(const char *v, size_t n, bool *flag) {
  if (!is(v, n, "yes") && !is(v, n, "no"))
    return false;
  *flag = v[0] == 'y';
  return true;
}

/* A number of bytes or things: digits, then K, M or G, or k, m or g. */
static bool read_number(const char *v, size_t n, uint64_t *number) {
  uint64_t value = 0;
  size_t i = 0;
  for (; i < n && v[i] >= '0' && v[i] <= '9'; i++) {
    if (value > UINT64_MAX / 10 - 10)
      return false;
    value = value * 10 + (uint64_t)(v[i] - '0');
  }
  if (i == 0 || i + 1 < n)
    return false;
  if (i < n) {
    char unit = (char)(v[i] & ~0x20); /* as a capital */
    int shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    if (shift == 0 || value > UINT64_MAX >> shift)
      return false;
    value <<= shift;
  }
  *number = value;
  return true;
}

static bool read_memory(const char *v, size_t n, uint64_t *bytes) {
  uint64_t number;
  if (!read_number(v, n, &number) || number < 1u << 20 || number > 64ull << 30)
    return false;
  *bytes = number;
  return true;
}

static bool read_count(const char *v, size_t n, uint64_t least, uint64_t most, uint32_t *count) {
  uint64_t number;
  if (!read_number(v, n, &number) || number < least || number > most)
    return false;
  *count = (uint32_t)number;
  return true;
}

/* A percentage, up to two digits behind the point: in millionths. */
static bool read_percent(const char *v, size_t n, uint32_t *ppm) {
  uint32_t value = 0, unit = 10000;
  size_t i = 0;
  for (; i < n && v[i] >= '0' && v[i] <= '9' && value <= 1000; i++)
    value = value * 10 + (uint32_t)(v[i] - '0');
  value *= unit;
  if (i > 0 && i + 1 < n && v[i] == '.')
    for (i++; i < n && v[i] >= '0' && v[i] <= '9' && unit > 100; i++)
      value += (uint32_t)(v[i] - '0') * (unit /= 10);
  if (i == 0 || i != n || value == 0 || value > 1000000)
    return false;
  *ppm = value;
  return true;
}

static bool read_text(const char *v, size_t n, char *to, size_t room) {
  if (n == 0 || n >= room)
    return false;
  memcpy(to, v, n);
  to[n] = '\0';
  return true;
}

static bool read_signal(const char *v, size_t n, int *number) {
  static const struct {
    const char *name;
    int number;
  } known[] = {{"none", 0},       {"USR1", SIGUSR1},    {"USR2", SIGUSR2}, {"HUP", SIGHUP},
               {"QUIT", SIGQUIT}, {"WINCH", SIGWINCH},  {"URG", SIGURG},   {"IO", SIGIO},
               {"PROF", SIGPROF}, {"VTALRM", SIGVTALRM}};
  if (n > 3 && memcmp(v, "SIG", 3) == 0)
    v += 3, n -= 3;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (is(v, n, known[i].name)) {
      *number = known[i].number;
      return true;
    }
  uint64_t value;
  if (!read_number(v, n, &value) || value == 0 || value > 64)
    return false;
  *number = (int)value;
  return true;
}

static bool read_clock(const char *v, size_t n, uint32_t *clock) {
  static const char *const names[] = {"auto", "tsc", "monotonic", "virtual"};
  for (uint32_t i = 0; i < 4; i++)
    if (is(v, n, names[i])) {
      *clock = i;
      return true;
    }
  return false;
}

/* flight=SIZE, flight=SIZE/N */
static bool read_flight(const char *v, size_t n, struct rt_options *o) {
  const size_t word = 7;
  uint64_t size, of = 1;
  if (n <= word || memcmp(v, "flight=", word) != 0)
    return false;
  size_t length = word;
  while (length < n && v[length] != '/')
    length++;
  bool shared = length < n;
  if (!read_number(v + word, length - word, &size) || size < APROF_TRACE_LEAST ||
      size > APROF_TRACE_MOST)
    return false;
  if (shared && (!read_number(v + length + 1, n - length - 1, &of) || of == 0 || of > 1u << 30))
    return false;
  o->flight = size;
  o->flight_share = !shared ? 0 : of == 1 ? UINT32_MAX : (uint32_t)(((uint64_t)1 << 32) / of);
  return true;
}

enum verdict { BAD_VALUE, GOOD, UNKNOWN_KEY }; /* the first two as readers say */

static enum verdict read_one(struct rt_options *o, const char *k, size_t kn, const char *v,
                             size_t vn) {
  return is(k, kn, "dir")          ? read_text(v, vn, o->dir, sizeof o->dir)
         : is(k, kn, "profile")    ? read_text(v, vn, o->profile, sizeof o->profile)
         : is(k, kn, "memory")     ? read_memory(v, vn, &o->memory)
         : is(k, kn, "signal")     ? read_signal(v, vn, &o->signal)
         : is(k, kn, "exit")       ? read_flag(v, vn, &o->exit)
         : is(k, kn, "enabled")    ? read_flag(v, vn, &o->enabled)
         : is(k, kn, "clock")      ? read_clock(v, vn, &o->clock)
         : is(k, kn, "nodes")      ? read_count(v, vn, 16, 1u << 20, &o->nodes)
         : is(k, kn, "requests")   ? read_count(v, vn, 0, REQUESTS_MOST, &o->requests)
         : is(k, kn, "labels")     ? read_flag(v, vn, &o->labels)
         : is(k, kn, "overhead")   ? read_percent(v, vn, &o->overhead)
         : is(k, kn, "trace")      ? read_flight(v, vn, o)
         : is(k, kn, "histograms") ? read_flag(v, vn, &o->histograms)
         : is(k, kn, "seccomp")    ? (o->trusted = is(v, vn, "trusted"))
                                   : UNKNOWN_KEY;
}

static void complain(enum verdict verdict, const char *item, size_t length) {
  char text[160];
  if (length >= sizeof text)
    length = sizeof text - 1;
  memcpy(text, item, length);
  text[length] = '\0';
  rt_say(verdict == UNKNOWN_KEY
             ? "ignoring unknown option in APROF_OPTIONS (known: dir profile memory signal "
               "exit enabled clock nodes histograms overhead requests labels trace seccomp): "
             : "ignoring bad value in APROF_OPTIONS, see aprof-options(7): ",
         text);
}

/* Totals go where the program was started, however it moves later. */
void options_resolve(void) {
  struct rt_options *o = &rt.options;
  char cwd[sizeof o->dir];
  if (o->dir[0] == '/')
    return;
  if (sys_getcwd(cwd, sizeof cwd) == NULL)
    strcpy(cwd, "/tmp");
  size_t n = strlen(cwd), rest = strlen(o->dir);
  if (rest == 0) {
    memcpy(o->dir, cwd, n + 1);
  } else if (n + 1 + rest < sizeof cwd) {
    memmove(o->dir + n + 1, o->dir, rest + 1);
    memcpy(o->dir, cwd, n);
    o->dir[n] = '/';
  } else {
    rt_say("the directory for totals has too long a name, using: ", cwd);
    memcpy(o->dir, cwd, n + 1);
  }
}

void options_read(void) {
  struct rt_options *o = &rt.options;
  memset(o, 0, sizeof *o);
  o->signal = SIGUSR1;
  o->exit = o->enabled = o->histograms = true;
  o->nodes = 64u << 10;
  o->requests = APROF_REQUESTS;
  o->labels = true;
  int saved = errno;
  const char *p = getauxval(AT_SECURE) ? NULL : sys_getenv("APROF_OPTIONS");
  while (p != NULL && *p != '\0') {
    size_t length = 0; /* counted here: a program may have a strcspn of its own */
    while (p[length] != ',' && p[length] != '\0')
      length++;
    size_t key = 0;
    while (key < length && p[key] != ':')
      key++;
    const char *colon = key < length ? p + key : NULL;
    enum verdict verdict = UNKNOWN_KEY;
    if (colon != NULL)
      verdict = read_one(o, p, key, colon + 1, length - key - 1);
    if (length != 0 && verdict != GOOD)
      complain(verdict, p, length);
    p += length;
    p += *p == ',';
  }
  errno = saved;
}
