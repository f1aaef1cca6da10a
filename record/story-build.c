/* SPDX-License-Identifier: MIT */
/* The story's arrays; see story-build.h. */
#include "story-build.h"

#include "read/names.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

struct story *story_new(void) {
  struct story *s = allocate(1, sizeof *s);
  s->share = 1;
  s->process = s->command = s->host = "";
  return s;
}

void story_free(struct story *s) {
  if (!s)
    return;
  free(s->paths);
  free(s->futures);
  free(s->segments);
  free(s->requests);
  free(s->slices);
  free(s->threads);
  free(s->shares);
  free(s->kernel.samples);
  free(s->kernel.switches);
  free(s->kernel.codes);
  free(s->kernel.named);
  free(s->kernel.addresses);
  free(s->probes);
  free(s->hits);
  arena_free(&s->arena);
  free(s);
}

const char *story_text(struct story *s, const char *text) {
  return arena_text(&s->arena, text);
}

/* -- adding -------------------------------------------------------------------- */

/* Room for one more, zeroed; its number. By halves: a large story is large already. */
static uint32_t one_more(void **list, uint32_t *count, uint32_t *room, size_t size) {
  if (*count == *room) {
    *room += *room / 2 + 64;
    *list = reallocate(*list, *room, size);
  }
  memset((char *)*list + (size_t)*count * size, 0, size);
  return (*count)++;
}

#define ONE_MORE(s, list)                                                                          \
  one_more((void **)&(s)->list, &(s)->list##_count, &(s)->room.list, sizeof *(s)->list)

uint32_t story_add_path(struct story *s, uint32_t parent, enum story_path_kind kind,
                        const char *name, const char *file, uint32_t line) {
  uint32_t number = ONE_MORE(s, paths);
  bool above = parent != STORY_NONE;
  s->paths[number] = (struct story_path){
      .parent = parent,
      .function = kind == STORY_FUNCTION ? number
                  : above                ? s->paths[parent].function
                                         : STORY_NONE,
      .name = story_text(s, name),
      .file = story_text(s, file),
      .line = line,
      .kind = kind,
      .is_await = kind == STORY_AWAIT,
  };
  return number;
}

uint32_t story_add_thread(struct story *s, int32_t tid, const char *name) {
  uint32_t number = ONE_MORE(s, threads);
  s->threads[number] = (struct story_thread){.tid = tid, .name = story_text(s, name)};
  return number;
}

uint32_t story_add_request(struct story *s, const char *kind, const char *function, uint64_t begin,
                           uint64_t end) {
  uint32_t number = ONE_MORE(s, requests);
  function = story_text(s, function);
  s->requests[number] = (struct story_request){
      .begin = begin,
      .end = end,
      .root = STORY_NONE,
      .kind = kind ? story_text(s, kind) : function,
      .function = function,
      .number = number + 1,
      .whole = 1,
      .over = 1,
  };
  return number;
}

uint32_t story_add_future(struct story *s, uint32_t path, uint32_t request, uint32_t creator,
                          uint64_t born) {
  uint32_t number = ONE_MORE(s, futures);
  s->futures[number] = (struct story_future){
      .born = born,
      .over = UINT64_MAX,
      .path = path,
      .request = request,
      .creator = creator,
      .first = STORY_NONE,
      .last = STORY_NONE,
      .earlier = STORY_NONE,
      .later = STORY_NONE,
  };
  if (request != STORY_NONE && s->requests[request].root == STORY_NONE)
    s->requests[request].root = number;
  return number;
}

void story_end_future(struct story *s, uint32_t future, uint64_t over, enum story_end how) {
  s->futures[future].over = over > s->futures[future].born ? over : s->futures[future].born;
  s->futures[future].how = how;
  s->futures[future].whole = how != STORY_LIVES;
}

uint32_t story_add_segment(struct story *s, uint32_t future, enum story_what what, uint32_t path,
                           uint64_t begin, uint64_t end) {
  uint32_t number = ONE_MORE(s, segments);
  s->segments[number] = (struct story_segment){
      .begin = begin,
      .end = end,
      .future = future,
      .path = path,
      .thread = STORY_NONE,
      .waker = STORY_NONE,
      .next = STORY_NONE,
      .what = what,
  };
  struct story_future *f = &s->futures[future];
  if (f->last == STORY_NONE)
    f->first = number;
  else
    s->segments[f->last].next = number;
  f->last = number;
  return number;
}

uint32_t story_add_slice(struct story *s, uint32_t thread, uint32_t future, uint64_t begin,
                         uint64_t end) {
  uint32_t number = ONE_MORE(s, slices);
  s->slices[number] = (struct story_slice){
      .begin = begin, .end = end, .turn = UINT64_MAX, .future = future, .thread = thread};
  return number;
}

void story_add_share(struct story *s, const struct story_share *share) {
  struct story_share *last = s->shares_count ? &s->shares[s->shares_count - 1] : NULL;
  s->shared = true;
  s->begun += share->begun;
  s->kept += share->kept;
  s->share = s->begun ? (double)s->kept / (double)s->begun : share->share;
  if (last && last->share >= share->share && last->share <= share->share) {
    last->end = share->end;
    last->begun += share->begun;
    last->kept += share->kept;
    return;
  }
  uint32_t number = ONE_MORE(s, shares);
  s->shares[number] = *share;
}

uint32_t story_add_probe(struct story *s, const char *texts, size_t size) {
  if (s->probes_count == STORY_PROBES || size == 0 || texts[size - 1] != '\0')
    return STORY_NONE;
  uint32_t count = 0, number = ONE_MORE(s, probes);
  for (size_t i = 0; i < size; i++)
    count += texts[i] == '\0';
  const char **name = arena_get(&s->arena, count, sizeof *name);
  for (uint32_t i = 0; i < count; i++, texts += strlen(texts) + 1) {
    char *copy = (char *)story_text(s, texts);
    clean_text(copy);
    name[i] = copy;
  }
  s->probes[number] =
      (struct story_probe){.label = name[0], .names = name + 1, .names_count = count - 1};
  return number;
}

uint32_t story_add_hit(struct story *s, uint32_t probe, int32_t tid, uint64_t at) {
  uint32_t number = ONE_MORE(s, hits);
  s->hits[number] =
      (struct story_hit){.at = at, .tid = tid, .probe = probe, .segment = STORY_NONE, .seen = 1};
  return number;
}
