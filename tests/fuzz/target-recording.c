/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the reader of recordings, and all that is asked of them.
 *
 * Input: a loose recording (loose.h). What is asked: it is refused with a sentence, or its story
 * holds together, adds up or not, and each question has an answer, as text and as JSON.
 */
#include "ask/requests.h"
#include "loose.h"
#include "record/balance.h"
#include "record/story.h"
#include "show/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

extern const struct output output_tail, output_blame, output_path, output_slow;

static void ask(const struct story *s, FILE *out) {
  static const struct output *const asked[] = {&output_tail, &output_blame, &output_path,
                                               &output_slow};
  static const struct request_filter all;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    void *options = calloc(1, asked[i]->size);
    memcpy(options, asked[i]->defaults, asked[i]->size);
    if (asked[i]->filter) /* as a command without --kind has it */
      *(const struct request_filter **)((char *)options + asked[i]->filter) = &all;
    asked[i]->story_text(s, options, out);
    asked[i]->story_json(s, options, out);
    free(options);
  }
}

/* What who asks relies on. */
static void hold_together(const struct story *s) {
  for (uint32_t i = 0; i < s->segments_count; i++) {
    const struct story_segment *g = &s->segments[i];
    if (g->begin > g->end || g->path >= s->paths_count || g->future >= s->futures_count ||
        (g->next != STORY_NONE && g->next >= s->segments_count))
      abort();
  }
  for (uint32_t i = 0; i < s->futures_count; i++)
    if (s->futures[i].request != STORY_NONE && s->futures[i].request >= s->requests_count)
      abort();
  for (uint32_t i = 0; i < s->requests_count; i++)
    if (s->requests[i].begin > s->requests[i].end)
      abort();
  for (uint32_t i = 0; i < s->slices_count; i++)
    if (s->slices[i].future >= s->futures_count || s->slices[i].thread >= s->threads_count)
      abort();
}

static void weigh(const char *path) {
  struct trace_error why = {""};
  struct trace *t = trace_open(path, &why);
  struct replay *r = t ? replay_new(t, &why) : NULL;
  if (r)
    free(balance_new(r));
  replay_free(r);
  trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  char path[64];
  struct story_error why = {""};
  if (!nowhere)
    nowhere = fopen("/dev/null", "w");
  int fd = loose_tighten(data, size);
  if (fd < 0)
    return 0;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  struct story *s = story_open(path, &why);
  if (!s && !*why.text)
    abort();
  if (s) {
    hold_together(s);
    ask(s, nowhere);
    weigh(path);
  }
  story_free(s);
  close(fd);
  return 0;
}

/* -- mutations ------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* The content of a frame, each as likely; events weigh as much as all else. */
static bool any_frame(const uint8_t *data, size_t size, size_t *begin, size_t *end) {
  size_t frames = 0, b, e;
  bool events = next_random() % 2;
  for (size_t at = LOOSE_FIRST, next; (next = loose_next(data, size, at, &b, &e)) != 0; at = next) {
    struct trace_frame head;
    memcpy(&head, data + at, sizeof head);
    if (e - b >= 16 && (!events || head.type == TRACE_EVENTS) && next_random() % ++frames == 0)
      *begin = b, *end = e;
  }
  return frames != 0;
}

/* A word, or a part of one, is another: an extreme, a neighbour, one from the same frame. */
static void change_word(uint8_t *data, size_t begin, size_t end) {
  static const uint64_t extremes[] = {0,          1,       0x7fffffff, 0xffffffff,
                                      UINT64_MAX, 1 << 12, 1ull << 63, 1ull << 32};
  size_t width = next_random() % 2 ? 8 : next_random() % 2 ? 4 : 1;
  size_t words = (end - begin) / width;
  uint8_t *at = data + begin + next_random() % words * width;
  uint64_t value = 0;
  memcpy(&value, at, width);
  switch (next_random() % 4) {
  case 0:
    value = extremes[next_random() % (sizeof extremes / sizeof *extremes)];
    break;
  case 1:
    value += next_random() % 2 ? 1 : UINT64_MAX;
    break;
  case 2:
    value ^= 1ull << next_random() % (8 * width);
    break;
  default:
    memcpy(&value, data + begin + next_random() % words * width, width);
  }
  memcpy(at, &value, width);
}

/* An event is another one of its frame, or changes places with it. */
static void change_event(uint8_t *data, size_t begin, size_t end) {
  size_t events = (end - begin) / 16;
  uint8_t *a = data + begin + next_random() % events * 16, old[16];
  uint8_t *b = data + begin + next_random() % events * 16;
  memcpy(old, a, 16);
  memmove(a, b, 16);
  if (next_random() % 2)
    memcpy(b, old, 16);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
  size_t begin, end;
  state = seed * 0x9e3779b97f4a7c15u + 1;
  if (next_random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, room);
  for (uint64_t changes = 1 + next_random() % 6; changes--;) {
    if (!any_frame(data, size, &begin, &end))
      return LLVMFuzzerMutate(data, size, room);
    if (next_random() % 3)
      change_word(data, begin, end);
    else
      change_event(data, begin, end);
  }
  if (next_random() % 4 == 0 && size >= LOOSE_FIRST) /* what the header says of times and clocks */
    change_word(data, 16, LOOSE_FIRST);
  return size;
}
