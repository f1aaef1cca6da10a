/* SPDX-License-Identifier: MIT */
/*
 * The profile reader of cli/ against bad input: every byte of a profile is
 * hostile. What is asserted is that the reader ends, in time and in bounds (run
 * it with sanitizers), and that what comes out is JSON that the report reads.
 * FUZZ_ROUNDS and FUZZ_SEED repeat or prolong a run.
 */
#include "cli/find.h"
#include "read/json.h"
#include "read/profile.h"
#include "read/verify.h"
#include "read/view.h"
#include "show/report.h"
#include "show/totals.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *nowhere;

static const struct view_request request = {.reason = "recovered"};

/* Totals and report of a file; false where it was refused. */
static bool read_through(int fd) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  bool made = totals_make(fd, "fuzzed", PROFILE_LEFT, &request, out);
  fclose(out);
  if (made) {
    char *fault = NULL;
    cJSON *json = json_parse(text, length, &fault);
    ck_assert_ptr_nonnull(json);
    /* Only numbers may be beyond what a report is made of. */
    struct view *v = view_read(json, "totals of a fuzzed profile", &fault);
    if (v) {
      report_print(v, &report_defaults, nowhere);
      report_json(v, &report_defaults, NULL, nowhere);
    } else
      ck_assert_ptr_nonnull(strstr(fault, " is "));
    json_free(json);
    free(fault);
    view_free(v);
  }
  free(text);
  return made;
}

static bool read_bytes(const struct synthetic *s, size_t length) {
  int fd = synthetic_file(s, length);
  bool made = read_through(fd);
  close(fd);
  return made;
}

static int saved_stderr; /* FUZZ_SHOW=1: kept, to see what a sanitizer says */

static void setup(void) {
  nowhere = fopen("/dev/null", "w");
  fflush(stderr);
  saved_stderr = dup(2);
  if (!getenv("FUZZ_SHOW"))
    ck_assert_int_ge(dup2(fileno(nowhere), 2), 0);
}

static void teardown(void) {
  dup2(saved_stderr, 2);
  close(saved_stderr);
  fclose(nowhere);
}

START_TEST(a_good_one_is_read) {
  struct synthetic *s = synthetic_rich();
  ck_assert(read_bytes(s, s->header->used));
  free(s);
}
END_TEST

START_TEST(wrong_headers_are_refused) {
  struct synthetic *s = synthetic_rich();
  ck_assert(!read_bytes(s, 0));
  ck_assert(!read_bytes(s, 100));
  ck_assert(!read_bytes(s, sizeof(struct aprof_header) - 1));
  s->header->version++;
  ck_assert(!read_bytes(s, s->header->used));
  s->header->version--;
  s->header->header_size = 0;
  ck_assert(!read_bytes(s, s->header->used));
  s->header->header_size = APROF_HEADER_SIZE;
  s->header->clock_source = 9;
  ck_assert(!read_bytes(s, s->header->used));
  s->header->clock_source = APROF_CLOCK_TSC;
  s->header->fit_mult = s->header->estimated_mult = 0;
  ck_assert(!read_bytes(s, s->header->used));
  memset(s->header->magic, 0, 8);
  ck_assert(!read_bytes(s, s->header->used));
  free(s);
}
END_TEST

START_TEST(other_files_are_refused) {
  int fd = open("/dev/zero", O_RDONLY);
  ck_assert(!read_through(fd));
  close(fd);
  fd = open("/", O_RDONLY);
  ck_assert(!read_through(fd));
  close(fd);
}
END_TEST

START_TEST(any_length_is_survived) {
  struct synthetic *s = synthetic_rich();
  for (size_t length = 0; length < s->header->used; length += suite_is_slow() ? 30011 : 1531)
    read_bytes(s, length);
  free(s);
}
END_TEST

START_TEST(chunks_that_lie) {
  struct synthetic *s = synthetic_rich();
  uint64_t used = s->header->used;
  unsigned char seen[64] = {0};
  static const uint64_t sizes[] = {0, 1, 64, 4095, 4096, 1ull << 32, UINT64_MAX, 1ull << 63};
  static const uint32_t numbers[] = {0, 1, 77777, 0x7fffffff, 0xffffffff};
  for (uint64_t at = APROF_HEADER_SIZE; at < used;) {
    struct aprof_chunk *chunk = (void *)(s->bytes + at), good = *chunk;
    if (suite_is_slow() && (good.type == APROF_CHUNK_HISTOGRAMS || seen[good.type % 64]++)) {
      at += good.size;
      continue;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      chunk->size = sizes[i];
      read_bytes(s, used);
      *chunk = good;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      chunk->count = numbers[i];
      read_bytes(s, used);
      *chunk = good;
      chunk->first = numbers[i];
      read_bytes(s, used);
      *chunk = good;
      chunk->element = numbers[i];
      read_bytes(s, used);
      *chunk = good;
      chunk->owner = numbers[i];
      read_bytes(s, used);
      *chunk = good;
      chunk->type = numbers[i];
      read_bytes(s, used);
      *chunk = good;
    }
    at += good.size;
  }
  s->header->used = UINT64_MAX;
  s->header->capacity = UINT64_MAX;
  read_bytes(s, used);
  free(s);
}
END_TEST

static uint64_t random_state;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* Flips bits, stores extremes, copies pieces over others: mostly where there is
   something, that is in headers, records and strings. */
static void damage(struct synthetic *s) {
  static const uint64_t extremes[] = {0, 1, 0xffffffff, UINT64_MAX, 0x7fffffffffffffff, 4096};
  uint64_t used = s->header->used < SYNTHETIC_ROOM ? s->header->used : SYNTHETIC_ROOM;
  for (uint64_t i = 1 + next_random() % 24; i--;) {
    uint64_t at = next_random() % used;
    if (next_random() % 4 == 0)
      at = next_random() % sizeof(struct aprof_header);
    while (next_random() % 64 && !s->bytes[at])
      at = (at + 1) % used;
    switch (next_random() % 4) {
    case 0:
      s->bytes[at] ^= (unsigned char)(1u << next_random() % 8);
      break;
    case 1:
      s->bytes[at] = (unsigned char)next_random();
      break;
    case 2:
      memcpy(s->bytes + at / 8 * 8, &extremes[next_random() % 6], 8);
      break;
    default:
      memmove(s->bytes + at, s->bytes + next_random() % used / 2,
              used - at < 200 ? used - at : 200);
    }
  }
}

START_TEST(random_damage_is_survived) {
  const char *rounds = getenv("FUZZ_ROUNDS"), *seed = getenv("FUZZ_SEED");
  struct synthetic *good = synthetic_rich(), *bad = synthetic_new();
  random_state = seed ? strtoull(seed, NULL, 0) | 1 : 88172645463325252u;
  int read = 0;
  for (int i = rounds ? atoi(rounds) : suite_is_slow() ? 100 : 3000; i--;) {
    memcpy(bad->bytes, good->bytes, good->header->used);
    bad->header = (void *)bad->bytes;
    damage(bad);
    /* The magic is checked first: most rounds are to get further. */
    if (next_random() % 8)
      memcpy(bad->bytes, good->bytes, 16);
    read += read_bytes(bad, good->header->used);
  }
  ck_assert_int_gt(read, 20);
  free(good);
  free(bad);
}
END_TEST

/* Refused where it should be, so most rounds go on without the test of the numbers. */
static struct view *parse_anyhow(const char *text, size_t length) {
  char *fault = NULL;
  struct view *v = view_of_totals(text, length, "bad");
  cJSON *json = v ? NULL : json_parse(text, length, &fault);
  if (json && !fault)
    v = view_read(json, "bad", &fault);
  json_free(json);
  free(fault);
  return v;
}

START_TEST(random_totals_are_survived) {
  struct synthetic *s = synthetic_rich();
  int fd = synthetic_file(s, s->header->used);
  char *text = NULL, *bad;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  ck_assert(totals_make(fd, "good", PROFILE_LEFT, &request, out));
  fclose(out);
  bad = malloc(length + 1);
  random_state = 1234567;
  for (int i = suite_is_slow() ? 1900 : 0; i < 2000; i++) {
    memcpy(bad, text, length + 1);
    for (uint64_t j = 1 + next_random() % 8; j--;)
      bad[next_random() % length] = "0123456789[]{}\",:-tfn\\ \x01\xff"[next_random() % 25];
    struct view *v = parse_anyhow(bad, next_random() % 8 ? length : next_random() % length);
    if (v) {
      report_print(v, &report_defaults, nowhere);
      struct view *earlier = view_of_totals(text, length, "good");
      view_subtract(v, earlier);
      report_json(v, &report_defaults, NULL, nowhere);
      view_free(earlier);
    }
    view_free(v);
  }
  free(bad);
  free(text);
  close(fd);
  free(s);
}
END_TEST

/* -- a live one, read again ------------------------------------------------------------- */

static void write_bytes(int fd, const struct synthetic *s, const void *from, size_t length) {
  off_t at = (const unsigned char *)from - s->bytes;
  ck_assert_int_eq(pwrite(fd, from, length, at), (ssize_t)length);
}

static const struct aprof_counters *copied(const struct profile *p, const struct synthetic *s,
                                           const struct aprof_counters *c) {
  return (const void *)(p->data + ((const unsigned char *)c - s->bytes));
}

static uint32_t slices_of(const struct profile *p, const struct aprof_counters *c) {
  return profile_buckets(p, c->function.slice_buckets, false, false);
}

START_TEST(what_moved_is_read_again) {
  struct synthetic *s = synthetic_new();
  uint32_t site = synthetic_site(s, APROF_SITE_FUNCTION, "serve", "s.c", 1, 1);
  uint32_t node = synthetic_node(s, 0, site, 0);
  struct aprof_block *block[2] = {synthetic_block(s, 1), synthetic_block(s, 2)};
  struct aprof_counters *c[2] = {synthetic_counters(s, 1, node), synthetic_counters(s, 2, node)};
  uint16_t *counts, *others;
  c[0]->function.done = c[1]->function.done = 5;
  c[0]->function.slice_buckets = synthetic_buckets(s, &counts);
  synthetic_buckets(s, &others);
  for (int i = 0; i < 4; i++) /* so that pages apart are written to */
    c[1]->function.slice_buckets = synthetic_buckets(s, &others);

  counts[100] = others[100] = 5;
  block[0]->sequence = block[1]->sequence = 10;
  int fd = synthetic_file(s, s->header->used);
  struct profile *p = profile_read(fd, "synthetic", true, true);
  ck_assert_ptr_nonnull(p);
  ck_assert(p->consistent);
  profile_refresh(p, fd);
  ck_assert(p->consistent && !p->renamed);
  ck_assert(!profile_is_fresh(p, slices_of(p, c[0])));

  /* The first block has events, and writes to its histogram; the second is written to without
     one, which no thread does: then nobody has looked. */
  block[0]->sequence = 12;
  c[0]->function.done = c[1]->function.done = 6;
  counts[100] = 6;
  uint32_t late = synthetic_site(s, APROF_SITE_FUNCTION, "late", "s.c", 9, 1);
  write_bytes(fd, s, s->bytes, s->header->used);
  profile_refresh(p, fd);
  ck_assert(p->consistent && p->renamed);
  ck_assert_uint_eq(copied(p, s, c[0])->function.done, 6);
  ck_assert_uint_eq(copied(p, s, c[1])->function.done, 5);
  ck_assert_uint_eq(profile_counts(p, slices_of(p, c[0])).count[100], 6);
  ck_assert(profile_is_fresh(p, slices_of(p, c[0])));
  ck_assert(!profile_is_fresh(p, slices_of(p, c[1])));
  ck_assert_str_eq(profile_string(p, profile_site(p, late)->name), "late");

  /* What was not of one moment is looked at again when that has passed. */
  block[1]->sequence = 13;
  write_bytes(fd, s, block[1], sizeof *block[1]);
  profile_refresh(p, fd);
  ck_assert(!p->consistent);
  block[1]->sequence = 14;
  c[1]->function.done = 7;
  struct aprof_block *third = synthetic_block(s, 3); /* a thread that came meanwhile */
  third->sequence = 2;
  synthetic_counters(s, 3, node)->function.done = 1;
  write_bytes(fd, s, s->bytes, s->header->used);
  profile_refresh(p, fd);
  ck_assert(p->consistent);
  ck_assert_uint_eq(copied(p, s, c[1])->function.done, 7);
  ck_assert_uint_eq(profile_counters(p, 3, node)->function.done, 1);
  profile_free(p);
  close(fd);
  free(s);
}
END_TEST

/* What the process does right before the reader has read there so many times. */
static struct {
  struct synthetic *s; /* NULL: it has, or does nothing */
  struct aprof_block *block;
  struct aprof_counters *counters;
  uint16_t *counts;
  const void *there;
  unsigned reads;
} last_event;
size_t __real_profile_read_at(int fd, void *to, size_t length, uint64_t offset);
size_t __wrap_profile_read_at(int fd, void *to, size_t length, uint64_t offset);

size_t __wrap_profile_read_at(int fd, void *to, size_t length, uint64_t offset) {
  struct synthetic *s = last_event.s;
  uint64_t at = s ? (uint64_t)((const unsigned char *)last_event.there - s->bytes) : 0;
  if (s && offset <= at && at < offset + length && !--last_event.reads) {
    last_event.s = NULL;
    last_event.counters->function.done++;
    last_event.counts[100]++;
    last_event.block->sequence += last_event.block->sequence & 1 ? 1 : 2;
    write_bytes(fd, s, s->bytes, s->header->used);
  }
  return __real_profile_read_at(fd, to, length, offset);
}

/* A thread whose sequence is that has its last event after so many reads of its counters, or of its
   block: both are of one moment. */
static void expect_all_of_last_event(uint64_t sequence, bool of_counters, unsigned reads) {
  struct synthetic *s = synthetic_new();
  uint32_t site = synthetic_site(s, APROF_SITE_FUNCTION, "serve", "s.c", 1, 1);
  uint32_t node = synthetic_node(s, 0, site, 0);
  uint16_t *counts;
  uint64_t buckets = synthetic_buckets(s, &counts); /* before the counters in the file */
  struct aprof_block *block = synthetic_block(s, 1);
  struct aprof_counters *c = synthetic_counters(s, 1, node);
  c->function.slice_buckets = buckets;
  c->function.done = counts[100] = 5;
  block->sequence = sequence;
  int fd = synthetic_file(s, s->header->used);
  last_event.s = s;
  last_event.block = block;
  last_event.counters = c;
  last_event.counts = counts;
  last_event.there = of_counters ? (const void *)c : &block->sequence;
  last_event.reads = reads;
  struct profile *p = profile_read(fd, "synthetic", true, true);
  ck_assert_ptr_nonnull(p);
  ck_assert_ptr_null(last_event.s);
  ck_assert(p->consistent);
  ck_assert_uint_eq(copied(p, s, c)->function.done, 6);
  ck_assert_uint_eq(profile_counts(p, slices_of(p, c)).count[100], 6);
  profile_free(p);
  close(fd);
  free(s);
}

START_TEST(histograms_are_not_behind_their_counters) {
  expect_all_of_last_event(10, true, 1);
}
END_TEST

START_TEST(the_end_of_a_long_event_is_awaited) {
  expect_all_of_last_event(11, false, 500); /* what made a ring of 16 MB was looked at 100 times */
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("hostile");
  tcase_set_timeout(tests, 300);
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, a_good_one_is_read);
  tcase_add_test(tests, wrong_headers_are_refused);
  tcase_add_test(tests, other_files_are_refused);
  tcase_add_test(tests, any_length_is_survived);
  tcase_add_test(tests, chunks_that_lie);
  tcase_add_test(tests, random_damage_is_survived);
  tcase_add_test(tests, random_totals_are_survived);
  tcase_add_test(tests, what_moved_is_read_again);
  tcase_add_test(tests, histograms_are_not_behind_their_counters);
  tcase_add_test(tests, the_end_of_a_long_event_is_awaited);
  return suite_run("cli profile", tests);
}
