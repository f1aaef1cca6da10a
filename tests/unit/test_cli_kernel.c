/* SPDX-License-Identifier: MIT */
/* The kernel's side: why it refuses, what code a process has, and whose a sample is. */
#include "ask/blame.h"
#include "ask/story-cpu.h"
#include "ask/story-view.h"
#include "probe/generated.h"
#include "probe/mappings.h"
#include "probe/perf.h"
#include "read/index.h"
#include "read/util.h"
#include "record/native.h"
#include "record/samples.h"
#include "record/story-build.h"
#include "show/cpu.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- refusals ---------------------------------------------------------------------------- */

enum { PROCESS = 4242 };

static char *folder;

static void plant(const char *name, const char *text) {
  char *path = print_string("%s/proc/%s", folder, name);
  for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    mkdir(path, 0777);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs(text, file);
  fclose(file);
  free(path);
}

/* What is said with that level, of a command and a process with these lines of status. */
static const char *refusal(int error, const char *level, const char *mine, const char *its) {
  char where[] = "/tmp/aprof-test.XXXXXX";
  folder = mkdtemp(where);
  ck_assert_ptr_nonnull(folder);
  plant("sys/kernel/perf_event_paranoid", level);
  plant("self/status", mine);
  plant("4242/status", its);
  plant("4242/maps", "");
  struct perf_facts facts = perf_facts(error, PROCESS, folder);
  const char *text = perf_refusal(&facts);
  char *remove = print_string("rm -r %s", folder);
  ck_assert_int_eq(system(remove), 0);
  free(remove);
  return text;
}

static char *status(unsigned uid, const char *may, int seccomp) {
  static char text[16][200];
  static unsigned turn;
  char *at = text[turn++ % 16];
  snprintf(at, sizeof text[0], "Name:\tx\nUid:\t%u\t%u\t%u\t%u\nCapEff:\t%s\nSeccomp:\t%d\n", uid,
           uid, uid, uid, may, seccomp);
  return at;
}

#define NONE "0000000000000000"
#define PERFMON "0000004000000000"

static void says(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "\"%s\" does not say \"%s\"", text, part);
}

START_TEST(the_rule_that_refuses_is_named) {
  unsigned us = geteuid(); /* the planted files are ours */
  const char *mine = status(us, NONE, 0), *caged = status(us, NONE, 2);
  says(refusal(EACCES, "3\n", mine, mine), "kernel.perf_event_paranoid is 3");
  says(refusal(EPERM, "4\n", mine, mine), "set it to 2");
  says(refusal(EACCES, "2\n", mine, status(us + 1, NONE, 0)), "another user's");
  says(refusal(EACCES, "2\n", status(us + 1, NONE, 0), status(us + 1, NONE, 0)), "not dumpable");
  says(refusal(EPERM, "2\n", caged, mine), "seccomp");
  says(refusal(ENOSYS, "2\n", caged, mine), "seccomp");
  says(refusal(ENOSYS, "2\n", mine, mine), "built without");
  says(refusal(EPERM, "3\n", status(us, PERFMON, 2), mine), "seccomp");
  says(refusal(EACCES, "1\n", mine, mine), "security module");
  says(refusal(EMFILE, "1\n", mine, mine), "ulimit -n");
  says(refusal(ENOMEM, "1\n", mine, mine), "ulimit -l");
  says(refusal(ESRCH, "1\n", mine, mine), "has ended");
}
END_TEST

/* -- code ---------------------------------------------------------------------------------- */

START_TEST(mappings_come_once_and_have_their_build) {
  struct mappings m;
  mappings_begin(&m, getpid());
  ck_assert_uint_gt(mappings_read(&m), 0);
  mappings_read(&m);
  uint64_t here = (uint64_t)(uintptr_t)&mappings_read;
  const struct mapping *mine = mappings_at(&m, here);
  ck_assert_ptr_nonnull(mine);
  ck_assert_uint_le(mine->start, here);
  ck_assert_uint_gt(mine->build_id_length, 0);
  size_t same = 0;
  for (size_t i = 0; i < m.count; i++)
    same += m.list[i].start == mine->start;
  ck_assert_uint_eq(same, 1);
  ck_assert_ptr_null(mappings_at(&m, 8));
  void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert(code != MAP_FAILED);
  ck_assert_uint_gt(mappings_read(&m), 0);
  ck_assert_str_eq(mappings_at(&m, (uint64_t)(uintptr_t)code)->path, "");
  munmap(code, 4096);
  mappings_free(&m);
}
END_TEST

struct names {
  char *text;
};

static void add_name(uint64_t start, uint64_t end, const char *name, void *context) {
  struct names *n = context;
  char *longer = print_string("%s%s %llx %llx;", n->text, name, (unsigned long long)start,
                              (unsigned long long)end);
  free(n->text);
  n->text = longer;
}

START_TEST(of_generated_code_what_was_met_has_names) {
  static const char map[] = "1000 10 first\n2000 20 has two words\nzz 3 none\n3000 0 empty\n"
                            "fffffffffffffff0 20 comes round\n2010 4 inner\n4000 8\n";
  struct generated g;
  struct names names = {print_string("%s", "")};
  int fd = memfd_create("map", MFD_CLOEXEC);
  ck_assert_int_eq((int)write(fd, map, sizeof map - 1), (int)sizeof map - 1);
  lseek(fd, 0, SEEK_SET);
  generated_begin(&g, getpid());
  for (int i = 0; i < 1000; i++)
    generated_add(&g, i % 2 ? 0x2011 : 0x9000);
  generated_add(&g, 0x101f); /* behind the first */
  generated_add(&g, 0x3000);
  generated_name_of(&g, fd, add_name, &names);
  ck_assert_str_eq(names.text, "has two words 2000 2020;inner 2010 2014;");
  generated_free(&g);
  free(names.text);
}
END_TEST

/* -- whose a sample is ----------------------------------------------------------------------- */

static int __attribute__((noinline)) helper_of(int x) {
  return x * 3 + (int)getpid();
}
static int __attribute__((noinline)) handler(int x) {
  return helper_of(x) + 1;
}
static int __attribute__((noinline)) the_loop(int x) {
  return handler(x) + 1;
}

static uint64_t in(int (*function)(int)) {
  return (uint64_t)(uintptr_t)function + 2;
}

/* This program's code, as a recording has it. */
static void add_code(struct story *s) {
  struct mappings m;
  mappings_begin(&m, getpid());
  mappings_read(&m);
  s->kernel.codes = allocate(m.count, sizeof *s->kernel.codes);
  for (size_t i = 0; i < m.count; i++) {
    struct story_code *c = &s->kernel.codes[s->kernel.codes_count++];
    *c = (struct story_code){.start = m.list[i].start,
                             .end = m.list[i].end,
                             .offset = m.list[i].offset,
                             .path = story_text(s, m.list[i].path),
                             .build_id_length = m.list[i].build_id_length};
    memcpy(c->build_id, m.list[i].build_id, sizeof c->build_id);
  }
  mappings_free(&m);
}

static void add_sample(struct story *s, uint32_t thread, uint64_t at, const uint64_t *frame,
                       uint16_t frames) {
  struct story_kernel *k = &s->kernel;
  k->samples = reallocate(k->samples, k->samples_count + 1, sizeof *k->samples);
  k->addresses = reallocate(k->addresses, k->addresses_count + frames, sizeof *k->addresses);
  memcpy(k->addresses + k->addresses_count, frame, frames * sizeof *frame);
  k->samples[k->samples_count++] = (struct story_sample){.at = at,
                                                         .thread = thread,
                                                         .segment = STORY_NONE,
                                                         .frame = k->addresses_count,
                                                         .frames = frames};
  k->addresses_count += frames;
}

/* One future, that runs from 10 to 30 and from 50 to 60 on one of two threads. */
static struct story *story_of_one(uint32_t *loop, uint32_t *other) {
  struct story *s = story_new();
  *loop = story_add_thread(s, 42, "loop");
  *other = story_add_thread(s, 43, "other");
  uint32_t path = story_add_path(s, STORY_NONE, STORY_FUNCTION, "handler", "x.c", 5);
  uint32_t request = story_add_request(s, NULL, "handler", 10, 60);
  uint32_t future = story_add_future(s, path, request, STORY_NONE, 10);
  uint32_t ran = story_add_segment(s, future, STORY_EXEC, path, 10, 30);
  story_add_segment(s, future, STORY_WAITING, path, 30, 50);
  uint32_t ran_again = story_add_segment(s, future, STORY_EXEC, path, 50, 60);
  s->segments[ran].thread = s->segments[ran_again].thread = *loop;
  story_end_future(s, future, 60, STORY_DONE);
  story_finish(s);
  s->kernel.there = true;
  s->kernel.sample_ns = 1000;
  return s;
}

static uint64_t cpu_of(const struct view *v, const char *stack) {
  uint64_t cpu = 0;
  for (size_t i = 0; i < v->paths; i++) {
    char *text = print_string("%s", v->path[i].name);
    for (size_t up = v->path[i].parent; up != SIZE_MAX; up = v->path[up].parent) {
      char *longer = print_string("%s;%s", v->path[up].name, text);
      free(text);
      text = longer;
    }
    cpu += strcmp(text, stack) ? 0 : v->path[i].cpu;
    free(text);
  }
  return cpu;
}

START_TEST(samples_lie_beneath_the_future_that_ran) {
  uint32_t loop, other;
  struct story *s = story_of_one(&loop, &other);
  const uint64_t whole[] = {in(helper_of), in(handler), in(the_loop)};
  const uint64_t skipped[] = {in(helper_of), in(the_loop)};
  const uint64_t unknown[] = {8};
  add_code(s);
  add_sample(s, loop, 59, whole, 3);     /* the last moment that it runs */
  add_sample(s, loop, 60, skipped, 2);   /* none runs */
  add_sample(s, loop, 10, whole, 3);     /* the first */
  add_sample(s, loop, 9, whole + 2, 1);  /* none runs yet */
  add_sample(s, loop, 29, whole + 1, 2); /* in the function itself */
  add_sample(s, loop, 30, unknown, 1);   /* it waits */
  add_sample(s, loop, 20, skipped, 2);   /* its own frame is not among them */
  add_sample(s, other, 20, whole, 3);    /* on another thread */
  samples_settle(s);
  struct view *v = ask_story_view(s, NULL, "a story");
  ask_story_cpu(v, s, NULL, NULL);
  ck_assert_uint_eq(cpu_of(v, "handler;helper_of"), 3000);
  ck_assert_uint_eq(cpu_of(v, "handler"), 1000);
  ck_assert_uint_eq(cpu_of(v, "(no future);the_loop"), 1000);
  ck_assert_uint_eq(cpu_of(v, "(no future);the_loop;helper_of"), 1000);
  ck_assert_uint_eq(cpu_of(v, "(no future);the_loop;handler;helper_of"), 1000);
  ck_assert_uint_eq(cpu_of(v, "(no future);(unknown)"), 1000);
  ck_assert_uint_eq(v->sampled.samples, 8);
  ck_assert_uint_eq(v->sampled.outside, 4);
  ck_assert_uint_eq(v->sampled.frames, 17);
  ck_assert_uint_eq(v->sampled.unknown, 1);
  view_free(v);
  bool meant[] = {false};
  v = ask_story_view(s, meant, "none of it");
  ask_story_cpu(v, s, meant, NULL);
  ck_assert_uint_eq(v->sampled.samples, 0);
  view_free(v);
  story_free(s);
  ck_assert_int_ne(the_loop(1), 0);
}
END_TEST

/* In this order, and no more. */
static void check_rows(const struct story *s, const char *function, const char *const *want) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  ck_assert_int_eq(show_cpu(s, NULL, function, true, out), 0);
  fclose(out);
  const char *at = strstr(text, "\"rows\"");
  for (; *want; want++) {
    at = strstr(at, "\"depth\":");
    ck_assert_ptr_nonnull(at);
    ck_assert_msg(!strncmp(at, *want, strlen(*want)), "%s, and not %s", at, *want);
    at++;
  }
  ck_assert_ptr_null(strstr(at, "\"depth\":"));
  free(text);
}

START_TEST(processor_time_is_told_as_a_tree) {
  static const char handled[] = "\"depth\":0,\"name\":\"handler\",\"at\":\"x.c:5\","
                                "\"native\":null,\"cpu_ns\":4000,\"self_ns\":1000}",
                    helped[] = "\"depth\":1,\"name\":\"helper_of\"",
                    outside[] = "\"depth\":0,\"name\":\"(no future)\"",
                    looped[] = "\"depth\":1,\"name\":\"the_loop\"";
  uint32_t loop, other;
  struct story *s = story_of_one(&loop, &other);
  const uint64_t frame[] = {in(helper_of), in(handler), in(the_loop)};
  char *text = NULL;
  size_t length = 0;
  add_code(s);
  for (int i = 0; i < 3; i++)
    add_sample(s, loop, 20 + (uint64_t)i, frame, 3);
  add_sample(s, loop, 25, frame + 1, 2);
  add_sample(s, other, 20, frame + 2, 1);
  samples_settle(s);
  check_rows(s, NULL, (const char *const[]){handled, helped, outside, looped, NULL});
  check_rows(s, "handler", (const char *const[]){handled, helped, NULL});
  FILE *out = open_memstream(&text, &length);
  complain_never(true);
  ck_assert_int_ne(show_cpu(s, NULL, "nobody", true, out), 0);
  ck_assert_int_eq(show_cpu(s, "handler", NULL, false, out), 0);
  complain_never(false);
  fclose(out);
  ck_assert_ptr_nonnull(strstr(text, "handler: 4.00 us on a processor, by 4 samples"));
  ck_assert_ptr_nonnull(strstr(text, "  helper_of"));
  free(text);
  story_free(s);
}
END_TEST

START_TEST(a_file_of_another_build_names_nothing) {
  uint32_t loop, other;
  struct story *s = story_of_one(&loop, &other);
  const uint64_t frame[] = {in(helper_of), in(handler)};
  add_code(s);
  add_sample(s, loop, 20, frame, 2);
  struct native *n = native_new(s);
  uint32_t count;
  const struct native_frame *found = native_frames(n, &s->kernel.samples[0], 0, &count);
  ck_assert_str_eq(found[count - 1].name, "helper_of");
  ck_assert(found[count - 1].known);
  native_free(n);
  for (uint32_t i = 0; i < s->kernel.codes_count; i++)
    s->kernel.codes[i].build_id[0] ^= 1;
  n = native_new(s);
  found = native_frames(n, &s->kernel.samples[0], 0, &count);
  ck_assert_uint_eq(count, 1);
  ck_assert(!found->known);
  ck_assert_ptr_null(strstr(found->name, "helper_of"));
  native_free(n);
  story_free(s);
}
END_TEST

/* -- who had a processor ---------------------------------------------------------------------- */

static void add_switch(struct story *s, uint32_t thread, uint64_t at, uint32_t to) {
  struct story_kernel *k = &s->kernel;
  k->switches = reallocate(k->switches, k->switches_count + 1, sizeof *k->switches);
  k->switches[k->switches_count++] = (struct story_switch){.at = at, .thread = thread, .to = to};
  k->has_switches = true;
}

static void had(const struct story *s, uint32_t thread, uint64_t begin, uint64_t end, uint64_t on,
                uint64_t preempted, uint64_t blocked) {
  struct on_cpu sum = {0};
  on_cpu_add(&sum, s, thread, begin, end);
  ck_assert_uint_eq(sum.on, on);
  ck_assert_uint_eq(sum.preempted, preempted);
  ck_assert_uint_eq(sum.blocked, blocked);
  ck_assert_uint_eq(sum.unknown, end - begin - on - preempted - blocked);
}

/* A few addresses may lie in many functions, as code that was inlined is named, too. */
START_TEST(functions_are_found_however_many) {
  enum { FUNCTIONS = 1000 };
  static const int value[FUNCTIONS];
  struct index x;
  index_new(&x, 3);
  for (int i = 0; i < FUNCTIONS; i++) {
    ck_assert_ptr_null(index_get(&x, print_string("function %d", i)));
    index_put(&x, print_string("function %d", i), &value[i]);
    index_put(&x, print_string("function %d", i), &value[0]); /* the first stays */
  }
  for (int i = 0; i < FUNCTIONS; i++)
    ck_assert_ptr_eq(index_get(&x, print_string("function %d", i)), &value[i]);
  ck_assert_ptr_null(index_get(&x, print_string("another")));
  index_free(&x);
}
END_TEST

/* Far more than could be moved one by one before the test is ended. */
START_TEST(stretches_come_in_any_order) {
  enum { STRETCHES = 600000 };
  const uint64_t frame[] = {8};
  struct story *s = story_new();
  uint32_t loop = story_add_thread(s, 42, "loop");
  uint32_t path = story_add_path(s, STORY_NONE, STORY_FUNCTION, "handler", "x.c", 5);
  for (uint64_t i = STRETCHES; i--;) {
    uint32_t future = story_add_future(s, path, STORY_NONE, STORY_NONE, 10 * i);
    uint32_t ran = story_add_segment(s, future, STORY_EXEC, path, 10 * i, 10 * i + 5);
    s->segments[ran].thread = loop;
    story_end_future(s, future, 10 * i + 5, STORY_DONE);
  }
  story_finish(s);
  add_sample(s, loop, 3, frame, 1);
  add_sample(s, loop, 10 * (STRETCHES / 2) + 4, frame, 1);
  add_sample(s, loop, 10 * (STRETCHES / 2) + 5, frame, 1); /* none runs */
  samples_settle(s);
  ck_assert_uint_eq(s->segments[s->kernel.samples[0].segment].begin, 0);
  ck_assert_uint_eq(s->segments[s->kernel.samples[1].segment].begin, 10 * (STRETCHES / 2));
  ck_assert_uint_eq(s->kernel.samples[2].segment, STORY_NONE);
  story_free(s);
}
END_TEST

START_TEST(a_stretch_is_split_as_far_as_it_is_known) {
  uint32_t loop, other;
  struct story *s = story_of_one(&loop, &other);
  add_switch(s, other, 40, STORY_ON_CPU);
  add_switch(s, loop, 20, STORY_ON_CPU);
  add_switch(s, loop, 16, STORY_PREEMPTED);
  add_switch(s, loop, 12, SAMPLES_WATCHED); /* it was on: it is preempted next */
  add_switch(s, loop, 25, STORY_BLOCKED);
  add_switch(s, loop, 27, STORY_ON_CPU);
  add_switch(s, loop, 40, SAMPLES_LOST); /* since 27; and it was on then */
  add_switch(s, loop, 45, STORY_BLOCKED);
  add_switch(s, loop, 50, STORY_OVER);
  samples_settle(s);
  had(s, loop, 12, 27, 9, 4, 2);
  had(s, loop, 17, 18, 0, 1, 0);
  had(s, loop, 0, 12, 0, 0, 0);
  had(s, loop, 26, 45, 5, 0, 1);
  had(s, loop, 45, 60, 0, 0, 5);
  had(s, loop, 20, 20, 0, 0, 0);
  had(s, other, 30, 50, 10, 0, 0);
  story_free(s);
}
END_TEST

START_TEST(blame_says_what_a_culprit_had) {
  uint32_t loop, other;
  struct story *s = story_new();
  loop = story_add_thread(s, 42, "loop");
  uint32_t path = story_add_path(s, STORY_NONE, STORY_FUNCTION, "culprit", "x.c", 5);
  uint32_t of = story_add_path(s, STORY_NONE, STORY_FUNCTION, "victim", "x.c", 9);
  other = story_add_future(s, of, STORY_NONE, STORY_NONE, 15);
  uint32_t culprit = story_add_future(s, path, STORY_NONE, STORY_NONE, 10);
  uint32_t ran = story_add_segment(s, culprit, STORY_EXEC, path, 10, 30);
  uint32_t queued = story_add_segment(s, other, STORY_QUEUED, of, 15, 30);
  uint32_t ran_then = story_add_segment(s, other, STORY_EXEC, of, 30, 40);
  s->segments[ran].thread = s->segments[queued].thread = s->segments[ran_then].thread = loop;
  story_add_slice(s, loop, culprit, 10, 30);
  story_add_slice(s, loop, other, 30, 40);
  story_finish(s);
  add_switch(s, loop, 5, STORY_ON_CPU);
  add_switch(s, loop, 16, STORY_PREEMPTED);
  add_switch(s, loop, 20, STORY_ON_CPU);
  add_switch(s, loop, 25, STORY_BLOCKED);
  add_switch(s, loop, 27, STORY_ON_CPU);
  samples_settle(s);
  struct blamed *b = blame_all(s, NULL, false);
  ck_assert_uint_eq(b->rows, 1);
  ck_assert_uint_eq(b->row[0].time, 15);
  ck_assert_uint_eq(b->row[0].held.on, 9);
  ck_assert_uint_eq(b->row[0].held.preempted, 4);
  ck_assert_uint_eq(b->row[0].held.blocked, 2);
  ck_assert_uint_eq(b->row[0].held.unknown, 0);
  blame_free(b);
  story_free(s);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("kernel");
  tcase_add_test(tests, the_rule_that_refuses_is_named);
  tcase_add_test(tests, mappings_come_once_and_have_their_build);
  tcase_add_test(tests, of_generated_code_what_was_met_has_names);
  tcase_add_test(tests, samples_lie_beneath_the_future_that_ran);
  tcase_add_test(tests, processor_time_is_told_as_a_tree);
  tcase_add_test(tests, a_file_of_another_build_names_nothing);
  tcase_add_test(tests, functions_are_found_however_many);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, stretches_come_in_any_order);
  tcase_add_test(tests, a_stretch_is_split_as_far_as_it_is_known);
  tcase_add_test(tests, blame_says_what_a_culprit_had);
  return suite_run("kernel", tests);
}
