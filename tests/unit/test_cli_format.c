/* SPDX-License-Identifier: MIT */
/* Numbers for people, and histograms read: show/format.c, read/histogram.c. */
#include "ask/top.h"
#include "read/demangle.h"
#include "read/histogram.h"
#include "read/json.h"
#include "read/names.h"
#include "read/view.h"
#include "show/format.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ONE ((uint64_t)1 << 32)

START_TEST(times_have_three_digits) {
  ck_assert_str_eq(shown_time(0), "0");
  ck_assert_str_eq(shown_time(7), "7 ns");
  ck_assert_str_eq(shown_time(999), "999 ns");
  ck_assert_str_eq(shown_time(1000), "1.00 us");
  ck_assert_str_eq(shown_time(9994), "9.99 us");
  ck_assert_str_eq(shown_time(9996), "10.0 us");
  ck_assert_str_eq(shown_time(43100000), "43.1 ms");
  ck_assert_str_eq(shown_time(999600), "1.00 ms");
  ck_assert_str_eq(shown_time(62100000000), "62.1 s");
  ck_assert_str_eq(shown_time(UNKNOWN), "-");
}
END_TEST

START_TEST(counts_are_short) {
  ck_assert_str_eq(shown_count(9999), "9999");
  ck_assert_str_eq(shown_count(12400), "12.4k");
  ck_assert_str_eq(shown_count(1280000), "1.28M");
  ck_assert_str_eq(shown_count(UINT64_C(5000000000)), "5.00G");
}
END_TEST

START_TEST(shares_of_nothing_are_not_numbers) {
  ck_assert_str_eq(shown_percent(382, 1000), "38.2 %");
  ck_assert_str_eq(shown_percent(1, 1), "100 %");
  ck_assert_str_eq(shown_percent(1, 0), "-");
}
END_TEST

START_TEST(sentences_keep_numbers_until_they_are_shown) {
  const char *life = told_mark(true, told_time(43100000)), *all = told_percent(382, 1000);
  struct sentence s = sentence("%s `%s` of %s: %s", told_count(12400), "f", life, all);
  ck_assert_ptr_null(strstr(s.parts, "43.1"));
  ck_assert_str_eq(shown_sentence(s), "12.4k `f` of ~43.1 ms: 38.2 %");
  sentence_free(s);
  /* What no part begins with is text, wherever it came from. */
  s = sentence("%s", "\001x7/0\002 and \001t7");
  ck_assert_str_eq(shown_sentence(s), "\001x7/0\002 and 7 ns");
  sentence_free(s);
  ck_assert_str_eq(shown_sentence((struct sentence){NULL}), "");
}
END_TEST

START_TEST(text_is_cut_by_columns) {
  ck_assert_str_eq(cut_right("handle_upload", 22), "handle_upload");
  ck_assert_str_eq(cut_right("handle_upload", 9), "handle...");
  ck_assert_str_eq(cut_left("handle_upload", 9), "...upload");
  ck_assert_uint_eq(shown_width("\xc3\xa9t\xc3\xa9"), 3);
  ck_assert_str_eq(cut_left("a\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 5), "...\xc3\xa9\xc3\xa9");
  /* A terminal draws a Chinese character over two columns, an accent of its own over none. */
  ck_assert_uint_eq(shown_width("\xe5\xa4\x84\xe7\x90\x86_1"), 6);
  ck_assert_uint_eq(shown_width("e\xcc\x81t"), 2);
  ck_assert_str_eq(cut_right("\xe5\xa4\x84\xe7\x90\x86\xe8\xaf\xb7", 5), "\xe5\xa4\x84...");
  ck_assert_str_eq(cut_right("a\xe5\xa4\x84\xe7\x90\x86\xe8\xaf\xb7", 5), "a...");
  ck_assert_str_eq(cut_left("\xe5\xa4\x84\xe7\x90\x86\xe8\xaf\xb7", 5), "...\xe8\xaf\xb7");
  ck_assert_str_eq(cut_left("\xe5\xa4\x84\xe7\x90\x86\xe8\xaf\xb7", 4), "...");
}
END_TEST

/* Any value lies in its bucket, whose middle is off by at most 1/32 of it (1 shares
   the bucket of 0). */
START_TEST(percentiles_are_within_their_error) {
  for (uint64_t value = 2; value < UINT64_C(1) << 40; value = value * 9 / 8 + 1) {
    struct bucket bucket = {.lower = aprof_bucket_lower(aprof_bucket_of(value)), .count = 1};
    uint64_t shown = buckets_percentile(&bucket, 1, 500, HISTOGRAM_NO_MAX);
    uint64_t off = shown > value ? shown - value : value - shown;
    ck_assert_uint_le(off, value / 31);
    ck_assert_uint_le(bucket.lower, value);
  }
}
END_TEST

START_TEST(percentiles_count_from_below) {
  struct bucket buckets[] = {{1, 98}, {5, 1}, {9, 1}};
  ck_assert_uint_eq(buckets_percentile(buckets, 3, 500, HISTOGRAM_NO_MAX), 1);
  ck_assert_uint_eq(buckets_percentile(buckets, 3, 980, HISTOGRAM_NO_MAX), 1);
  ck_assert_uint_eq(buckets_percentile(buckets, 3, 990, HISTOGRAM_NO_MAX), 5);
  ck_assert_uint_eq(buckets_percentile(buckets, 3, 999, HISTOGRAM_NO_MAX), 9);
  ck_assert_uint_eq(buckets_percentile(buckets, 3, 999, 7), 7);
  ck_assert_uint_eq(buckets_percentile(buckets, 0, 999, HISTOGRAM_NO_MAX), 0);
}
END_TEST

static void is_distribution(const struct distribution *d, uint64_t p50, uint64_t p90,
                            uint64_t highest, uint64_t max) {
  ck_assert_uint_eq(d->p50, p50);
  ck_assert_uint_eq(d->p90, p90);
  ck_assert_uint_eq(d->p95, highest);
  ck_assert_uint_eq(d->p99, highest);
  ck_assert_uint_eq(d->p999, highest);
  ck_assert_uint_eq(d->max, max);
  ck_assert_uint_eq(d->count, 2);
  ck_assert_uint_eq(d->bucket[0].lower, 0);
  ck_assert_uint_eq(d->bucket[0].count, 6);
  ck_assert_uint_eq(d->bucket[1].lower, 330);
  ck_assert_uint_eq(d->bucket[1].count, 6);
}

START_TEST(histograms_add_up_and_convert) {
  struct histogram h = {0};
  uint16_t counts[APROF_HISTOGRAM_BUCKETS] = {0};
  counts[aprof_bucket_of(1)] = 1;
  counts[aprof_bucket_of(2)] = 2;
  counts[aprof_bucket_of(1000)] = 3;
  const uint16_t few[] = {(uint16_t)aprof_bucket_of(1000), (uint16_t)aprof_bucket_of(2), 0xffff};
  struct profile_counts all = {.count = counts, .counts = APROF_HISTOGRAM_BUCKETS, .step = 1};
  struct profile_counts numbers = {.count = few, .counts = 3, .step = 1, .numbers = true};
  struct profile_counts none = {.count = counts, .step = 1};
  histogram_add_counts(&h, &all);
  counts[aprof_bucket_of(1000)] = 2;
  counts[aprof_bucket_of(2)] = 1;
  histogram_add_counts(&h, &all);
  histogram_add_counts(&h, &numbers);
  histogram_add_counts(&h, &none);
  ck_assert_uint_eq(h.total, 12);
  /* At a third of a ns a tick the lowest two become one bucket, of 0 ns. */
  struct arena arena = {0};
  struct distribution d = histogram_convert(&arena, &h, ONE / 3, 350);
  is_distribution(&d, 0, 335, 335, 350);
  /* The 12th of 12 is the longest, and known where that is in the bucket. */
  d = histogram_convert(&arena, &h, ONE / 3, 340);
  is_distribution(&d, 0, 335, 340, 340);
  histogram_clear(&h);
  d = histogram_convert(&arena, &h, ONE, 0);
  ck_assert_uint_eq(d.count, 0);
  arena_free(&arena);
}
END_TEST

static void is_named(const char *symbol, const char *want) {
  char *name = demangle(symbol);
  ck_assert_str_eq(name, want);
  free(name);
}

static void is_shortened(const char *text, const char *want) {
  char *name = demangle_shorten(text);
  ck_assert_str_eq(name, want);
  free(name);
}

START_TEST(symbols_have_the_names_of_the_source) {
  is_named("main", "main");
  is_named("worker.constprop.0", "worker");
  is_named("_ZN3net4connIdE4readEi", "net::conn::read");
  is_named("_ZN3net4connIdE4readEi.isra.0", "net::conn::read");
  is_named("_ZN12_GLOBAL__N_17on_doneEP3req", "on_done");
  is_named("_ZN2ns1C1mEPZNS0_1mEiE18_ZN2ns1C1mEi.Frame.actor", "ns::C::m");
  is_named("_Z5fetchPZ5fetchI3EURE4TaskIiEiE29_Z5fetchI3EURE4TaskIiEi.Frame.actor.cold", "fetch");
  is_named("_ZN3net4connIdE4readEi.llvm.12@34", "net::conn::read");
  is_named("_ZZ4mainENUlP3reqE_4_FUNES0_", "main::lambda");
  is_named("_ZplRK3reqS1_", "operator+");
  is_named("_ZlsRSoRK3req", "operator<<");
  is_named("_Z", "_Z");
  is_named("_Znot_a_symbol", "_Znot_a_symbol");
  is_shortened("std::vector<int, std::allocator<int> > ns::f<int>(int)", "ns::f");
  is_shortened("decltype (a+b) ns::f<int>(int, char)", "ns::f");
  is_shortened("ns::f(int)::Local::run(std::function<void (int)>) const", "ns::f::Local::run");
  is_shortened("ns::A::operator()(int) const", "ns::A::operator()");
  is_shortened("ns::A::operator-><int>()", "ns::A::operator->");
  is_shortened("bool operator< <int>(A<int>, A<int>)", "operator<");
  is_shortened("std::ostream& operator<< <int>(std::ostream&, A<int>)", "operator<<");
  is_shortened("ns::A::operator bool() const", "ns::A::operator bool");
  is_shortened("operator new(unsigned long)", "operator new");
  is_shortened("ns::A<(ns::B)3>::go(void (*)(int))", "ns::A::go");
  is_shortened("f[abi:cxx11](int)", "f");
  is_shortened("ns::A::~A()", "ns::A::~A");
  is_shortened("main::{lambda(int)#2}::operator()(int) const", "main::lambda::operator()");
  is_shortened("ns::operators::run()", "ns::operators::run");
  is_shortened("((((", "");
}
END_TEST

/* f(A<A<...>, A<...>>): each level prints the one before it twice. */
START_TEST(symbols_that_explode_stay) {
  char symbol[400] = "_Z1fI1A";
  for (int i = 0; i < 40; i++)
    strcat(symbol, "1BIS_S_E");
  strcat(symbol, "Evv");
  is_named(symbol, symbol);
  char *longest = malloc(100001);
  memset(longest, 'N', 100000);
  longest[100000] = 0;
  memcpy(longest, "_Z", 2);
  is_named(longest, longest);
  free(longest);
}
END_TEST

START_TEST(what_changes_how_others_are_shown_goes) {
  char text[] = "a\xe2\x80\xae\x80"
                "b\xe2\x81\xa6"
                "c\xef\xbb\xbf"
                "d\xc3\xa9\xe2\x82\xac\xff\xc2\x85";
  clean_text(text);
  ck_assert_str_eq(text, "a????b???c???d\xc3\xa9\xe2\x82\xac???");
}
END_TEST

/* The names of those that are told one by one. */
static const char *top_names(const uint64_t exec[6], struct top_memory *memory) {
  static char names[7];
  struct view_function function[6];
  struct view v = {.function = function, .functions = 6};
  uint64_t sum = 0;
  for (int i = 0; i < 6; i++)
    function[i] = (struct view_function){.name = (const char *[]){"a", "b", "c", "d", "e", "f"}[i],
                                         .exec = exec[i]};
  struct top top = ask_top(&v, 2, memory);
  memset(names, 0, sizeof names);
  for (size_t i = 0; i < top.functions; i++) {
    names[i] = *top.function[i]->name;
    sum += top.function[i]->exec;
  }
  ck_assert_uint_eq(sum + top.rest->exec, 600);
  ask_top_free(&top);
  return names;
}

START_TEST(who_is_listed_stays_for_a_while) {
  struct top_memory memory = {0};
  const uint64_t first[6] = {200, 150, 100, 80, 40, 30}, second[6] = {150, 140, 30, 200, 45, 35},
                 third[6] = {140, 100, 10, 200, 150, 0}, fourth[6] = {40, 10, 50, 200, 180, 120};
  ck_assert_str_eq(top_names(first, &memory), "ab");
  ck_assert_str_eq(top_names(second, &memory), "dab"); /* b is third */
  ck_assert_str_eq(top_names(third, &memory), "deab");
  ck_assert_str_eq(top_names(fourth, &memory), "de"); /* a is fifth, b sixth */
  ck_assert_str_eq(top_names(second, NULL), "da");
  free(memory.hash);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("format");
  tcase_add_test(tests, what_changes_how_others_are_shown_goes);
  tcase_add_test(tests, who_is_listed_stays_for_a_while);
  tcase_add_test(tests, times_have_three_digits);
  tcase_add_test(tests, counts_are_short);
  tcase_add_test(tests, shares_of_nothing_are_not_numbers);
  tcase_add_test(tests, sentences_keep_numbers_until_they_are_shown);
  tcase_add_test(tests, text_is_cut_by_columns);
  tcase_add_test(tests, percentiles_are_within_their_error);
  tcase_add_test(tests, percentiles_count_from_below);
  tcase_add_test(tests, histograms_add_up_and_convert);
  tcase_add_test(tests, symbols_have_the_names_of_the_source);
  tcase_add_test(tests, symbols_that_explode_stay);
  return suite_run("cli format", tests);
}
