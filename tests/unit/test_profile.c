/* SPDX-License-Identifier: MIT */
/* The profile as a file: its header, its limits, and what happens beyond them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "unit.h"

#include "rt/file/arena.h"
#include "rt/rt.h"

FUNCTION_SITE(work);
CALLBACK_SITE(request);
AWAIT_SITE(nap);
CREATE_SITE(create_it, APROF_ONCE, 1);

static void one(uint64_t ns) {
  token t;
  enter(&work, &t);
  pass(ns);
  leave(&t);
}

static unsigned long long start_time_of_this_process(void) {
  char text[1024] = "";
  FILE *file = fopen("/proc/self/stat", "r");
  ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
  fclose(file);
  char *field = strrchr(text, ')');
  for (unsigned i = 2; i < 22; i++)
    field = strchr(field + 1, ' ');
  return strtoull(field, NULL, 10);
}

/* What a number may depend on. */
START_TEST(where_it_is_from) {
  cpu_set_t mine;
  ck_assert_int_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
  setenv("container", "nspawn", 1);
  attach();
  one(1);
  const struct aprof_header *h = profile();
  ck_assert_uint_eq(h->processors, (unsigned)CPU_COUNT(&mine));
  ck_assert_uint_gt(h->build_id_length, 0);
  ck_assert_str_ne(h->aprof, "");
  if (strlen(h->container) != 64) /* this is in one that has an id */
    ck_assert_str_eq(h->container, "nspawn");
}
END_TEST

START_TEST(header) {
  attach();
  one(1);
  const struct aprof_header *h = profile();
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  ck_assert_uint_eq(h->version, APROF_PROFILE_VERSION);
  ck_assert_uint_eq(h->header_size, APROF_HEADER_SIZE);
  ck_assert_int_eq(h->pid, getpid());
  ck_assert_int_eq(h->parent_pid, getppid());
  ck_assert_uint_eq(h->start_time, start_time_of_this_process());
  ck_assert_str_eq(h->host, host);
  ck_assert_str_eq(h->name, "test_profile");
  ck_assert_uint_eq(h->dir[0], '/');
  ck_assert_uint_eq(h->clock_source, APROF_CLOCK_VIRTUAL);
  ck_assert_uint_eq(h->enabled, 1);
  ck_assert_uint_ge(h->epoch, 1);
  ck_assert_uint_eq(h->used % APROF_PAGE, 0);
  ck_assert_uint_le(h->used, h->capacity);
}
END_TEST

/* Every chunk is whole, in its place, and of a known type. */
START_TEST(chunks) {
  attach();
  one(1);
  for (uint64_t i = 0; i < 3000; i++)
    new_future(&create_it, &request, 16 * i);
  const struct aprof_header *h = profile();
  uint64_t offset = h->header_size;
  while (offset < h->used) {
    const struct aprof_chunk *c = (const void *)((const char *)h + offset);
    ck_assert_uint_ne(c->size, 0);
    ck_assert_uint_eq(c->size % APROF_PAGE, 0);
    ck_assert_uint_le(sizeof *c + (uint64_t)c->count * c->element, c->size);
    offset += c->size;
  }
  ck_assert_uint_eq(offset, h->used);
}
END_TEST

/* Beyond its memory futures are not recorded, but counted; the program goes on. */
START_TEST(memory_limit) {
  enum { MANY = 100000 };
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",memory:2M", 1);
  attach();
  for (uint64_t i = 0; i < MANY; i++)
    new_future(&create_it, &request, 16 * i);
  const struct aprof_header *h = profile();
  ck_assert_uint_le(h->used, 2u << 20);
  ck_assert_uint_le(h->capacity, 2u << 20);
  ck_assert_uint_gt(h->lost_futures, 0);
  ck_assert_uint_eq(total("request", "created") + h->lost_futures, MANY);
}
END_TEST

/* What a recorder has set aside is had without asking for it. */
START_TEST(memory_that_is_set_aside) {
  enum { MANY = 3000 };
  attach();
  one(1);
  struct aprof_header *h = (struct aprof_header *)(uintptr_t)profile();
  struct rlimit nothing_more = {h->used, h->used};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &nothing_more), 0);
  for (uint64_t i = 0; i < MANY; i++)
    new_future(&create_it, &request, 16 * i);
  uint64_t lost = h->lost_futures;
  ck_assert_uint_gt(lost, 0);
  h->set_aside = h->used + (1u << 20);
  for (uint64_t i = MANY; i < 2 * MANY; i++)
    new_future(&create_it, &request, 16 * i);
  ck_assert_uint_eq(h->lost_futures, lost);
  ck_assert_uint_eq(total("request", "created"), 2 * MANY - lost);
}
END_TEST

/* A child that was forked in the middle of an event goes on in a copy, behind which nothing lies.
 */
START_TEST(a_copy_has_nothing_set_aside) {
  attach();
  one(1);
  rt.header->set_aside = rt.committed + (2u << 20);
  aprof_self->block->sequence++; /* as in a handler */
  pid_t child = fork();
  if (child == 0) {
    void *chunk = arena_chunk(APROF_CHUNK_PRIVATE, 0, 0, 1u << 20, 1);
    if (chunk != NULL)
      memset(chunk, 1, 1u << 20);
    _exit(chunk == NULL ? 0 : 1);
  }
  aprof_self->block->sequence++;
  int status = 1;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}
END_TEST

/* A body whose future found no room runs as if never instrumented. */
START_TEST(bodies_beyond_the_limit) {
  setenv("APROF_OPTIONS", UNIT_OPTIONS ",memory:2M", 1);
  attach();
  for (uint64_t i = 0; i < 100000; i++)
    new_future(&create_it, &request, 16 * i);
  token t, w;
  uint64_t lost = profile()->lost_futures;
  enter(&work, &t);
  pass(5);
  suspend(&nap, &w);
  resume(&w);
  leave(&t);
  if (profile()->lost_futures > lost)
    expect("work", "created", 0);
  else
    expect("work", "done", 1);
}
END_TEST

/* The program's own limit on file sizes is not to be met: no SIGXFSZ. */
START_TEST(file_size_limit) {
  struct rlimit limit = {4u << 20, 4u << 20};
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
  attach();
  for (uint64_t i = 0; i < 100000; i++)
    new_future(&create_it, &request, 16 * i);
  ck_assert_uint_le(profile()->used, 4u << 20);
  ck_assert_uint_gt(profile()->lost_futures, 0);
}
END_TEST

/* Programs close what they do not know, and open files in its place. */
START_TEST(descriptors_closed_by_the_program) {
  attach();
  one(1);
  for (int fd = 3; fd < 1024; fd++)
    close(fd);
  int mine = open("/dev/null", O_RDWR);
  for (uint64_t i = 0; i < 50000; i++)
    new_future(&create_it, &request, 16 * i);
  expect("request", "live", 50000);
  expect("health", "lost", 0);
  ck_assert_int_ge(fcntl(mine, F_GETFD), 0);
}
END_TEST

START_TEST(descriptor_is_out_of_the_way) {
  attach();
  int before = open("/dev/null", O_RDONLY);
  close(before);
  one(1);
  int after = open("/dev/null", O_RDONLY);
  ck_assert_int_eq(after, before);
}
END_TEST

START_TEST(records_are_used_again) {
  attach();
  for (unsigned i = 0; i < 100000; i++)
    one(0);
  ck_assert_uint_lt(profile()->used, 2u << 20);
  expect("work", "done", 100000);
  expect("work", "born_done", 100000);
}
END_TEST

START_TEST(errno_is_left_alone) {
  attach();
  errno = 12345;
  for (uint64_t i = 0; i < 3000; i++)
    new_future(&create_it, &request, 16 * i);
  one(1);
  ck_assert_int_eq(errno, 12345);
}
END_TEST

UNIT_MAIN("profile", header, where_it_is_from, chunks, memory_limit, memory_that_is_set_aside,
          a_copy_has_nothing_set_aside, bodies_beyond_the_limit, file_size_limit,
          descriptors_closed_by_the_program, descriptor_is_out_of_the_way, records_are_used_again,
          errno_is_left_alone)
