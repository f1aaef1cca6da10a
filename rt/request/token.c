/* SPDX-License-Identifier: MIT */
/*
 * Tokens by which recordings of several processes join: 00-TRACE-SPAN-FLAGS.
 *
 * A request that comes with one keeps its trace and flags, and has the caller's span as parent; one
 * without has a trace of its own once it is asked for. Numbers are a counter, mixed with what the
 * kernel gave the process as random bytes, its number and the moment of its profile: they need no
 * call, and a forked child has others.
 */
#include <sys/auxv.h>

#include "token.h"

static uint64_t count; /* atomic */

/* Of splitmix64. */
static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

static uint64_t random_number(void) {
  static const uint64_t step = 0x9e3779b97f4a7c15ull;
  const struct aprof_header *h = rt.header;
  const void *bytes = (const void *)getauxval(AT_RANDOM);
  uint64_t seed[2] = {1, 2}, n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  if (bytes != NULL)
    memcpy(seed, bytes, sizeof seed);
  uint64_t x = mixed(seed[0] + (uint32_t)h->pid * step) ^ mixed(seed[1] + h->tick0) ^
               (uint64_t)h->started_at_ns;
  x = mixed(x + n * step);
  return x != 0 ? x : 1;
}

/* -- in ------------------------------------------------------------------------- */

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* That many digits, lower case, as a number. */
static bool read_hex(const char *text, unsigned digits, uint64_t *number) {
  *number = 0;
  for (unsigned i = 0; i < digits; i++) {
    int d = digit(text[i]);
    if (d < 0)
      return false;
    *number = *number << 4 | (unsigned)d;
  }
  return true;
}

/* Of version 00, as the standard has it; a later one may have more behind it, from a dash on. */
bool token_read(struct aprof_request *r, const char *text, size_t length) {
  uint64_t version, trace[2], span, flags;
  if (length < TRACEPARENT || text[2] != '-' || text[35] != '-' || text[52] != '-' ||
      !read_hex(text, 2, &version) || version == 0xff || !read_hex(text + 3, 16, &trace[0]) ||
      !read_hex(text + 19, 16, &trace[1]) || !read_hex(text + 36, 16, &span) ||
      !read_hex(text + 53, 2, &flags))
    return false;
  if ((trace[0] | trace[1]) == 0 || span == 0)
    return false;
  if (length > TRACEPARENT && (version == 0 || text[TRACEPARENT] != '-'))
    return false;
  r->trace[0] = trace[0];
  r->trace[1] = trace[1];
  r->parent_span = span;
  if (r->span == 0)
    r->span = random_number();
  r->trace_flags = (uint8_t)flags;
  uint8_t sampled = flags & 1 ? APROF_REQUEST_SAMPLED : 0;
  __atomic_fetch_and(&r->flags, (uint8_t)~APROF_REQUEST_SAMPLED, __ATOMIC_RELAXED);
  __atomic_fetch_or(&r->flags, sampled, __ATOMIC_RELAXED);
  return true;
}

/* -- out ------------------------------------------------------------------------- */

static char *write_hex(char *to, unsigned digits, uint64_t number) {
  while (digits-- > 0)
    *to++ = "0123456789abcdef"[number >> digits * 4 & 15];
  return to;
}

void token_write(struct aprof_request *r, char *buffer) {
  if (r->span == 0) {
    r->trace[0] = random_number();
    r->trace[1] = random_number();
    r->span = random_number();
  }
  char *to = buffer;
  to = write_hex(to, 2, 0);
  *to++ = '-';
  to = write_hex(to, 16, r->trace[0]);
  to = write_hex(to, 16, r->trace[1]);
  *to++ = '-';
  to = write_hex(to, 16, r->span);
  *to++ = '-';
  to = write_hex(to, 2, r->trace_flags);
  *to = '\0';
}
