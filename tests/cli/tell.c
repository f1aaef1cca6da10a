/* SPDX-License-Identifier: MIT */
/*
 * A story made by hand in a format, for those that read it: tell FORMAT REQUESTS [slow]; its sums in
 * ns, of what ran, was queued, and waited, and how many segments of these there are: tell sums
 * REQUESTS.
 */
#include "hand-story.h"
#include "show/formats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_sums(const struct story *s) {
  uint64_t sum[STORY_ASIDE + 1] = {0}, count[STORY_ASIDE + 1] = {0};
  for (uint32_t i = 0; i < s->segments_count; i++) {
    sum[s->segments[i].what] += s->segments[i].end - s->segments[i].begin;
    count[s->segments[i].what]++;
  }
  for (int i = 0; i < STORY_ASIDE; i++)
    printf("%" PRIu64 " ", sum[i]);
  for (int i = 0; i < STORY_ASIDE; i++)
    printf("%" PRIu64 "%c", count[i], i + 1 < STORY_ASIDE ? ' ' : '\n');
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  struct story *s = hand_story((uint32_t)atoi(argv[2]));
  bool *slow = calloc(s->requests_count + 1, sizeof *slow);
  for (uint32_t i = 0; i < s->requests_count; i++)
    slow[i] = hand_is_slow(s, i);
  const bool *meant[] = {slow};
  struct format_options o = {.meant = argc > 3 ? meant : NULL};
  const struct format *format = format_find(argv[1]);
  if (format && format->tell)
    format->tell((const struct story *const[]){s}, 1, &o, stdout);
  else
    print_sums(s);
  free(slow);
  story_free(s);
  return fflush(stdout) ? 1 : 0;
}
