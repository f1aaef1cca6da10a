/* SPDX-License-Identifier: MIT */
/* All interleavings of a few instructions, depth first; see litmus.h. */
#include "litmus.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 12, TABLE = 1 << 18 };

/* Compared byte by byte, so all of it is written. */
struct state {
  uint8_t word[WORDS], reg[THREADS][REGISTERS];
  struct thread {
    uint8_t at, count, fence, over;
    struct {
      uint8_t word, value, fence, awaited; /* awaited: by so many bits' threads that settle */
    } buffer[BUFFER];
  } thread[THREADS];
};

struct run {
  const struct litmus *l;
  int without;
  struct litmus_found found;
  struct state *seen; /* open addressing; 0xff in `over` of thread 0: empty */
};

static bool is_barrier(enum litmus_what what) {
  return what == L_FENCE || what == L_FULL || what == L_SETTLE;
}

int litmus_barriers(const struct litmus *l) {
  int count = 0;
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < STEPS && l->thread[t][i].what != L_END; i++)
      count += is_barrier(l->thread[t][i].what);
  return count;
}

/* Is that the barrier that is left out? */
static bool left_out(const struct run *run, int thread, int step) {
  int count = 0;
  for (int t = 0; t <= thread; t++)
    for (int i = 0; i < (t == thread ? step : STEPS) && run->l->thread[t][i].what != L_END; i++)
      count += is_barrier(run->l->thread[t][i].what);
  return count == run->without;
}

/* True: it is new. */
static bool note(struct run *run, const struct state *s) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < sizeof *s; i++)
    hash = (hash ^ ((const uint8_t *)s)[i]) * 1099511628211u;
  for (uint32_t at = (uint32_t)(hash >> 40) % TABLE;; at = (at + 1) % TABLE) {
    if (run->seen[at].thread[0].over == 0xff) {
      run->seen[at] = *s;
      return true;
    }
    if (memcmp(&run->seen[at], s, sizeof *s) == 0)
      return false;
  }
}

/* -- the memory ------------------------------------------------------------- */

static uint8_t visible(const struct state *s, int thread, uint8_t word) {
  const struct thread *t = &s->thread[thread];
  for (int i = t->count; i-- > 0;)
    if (t->buffer[i].word == word)
      return t->buffer[i].value;
  return s->word[word];
}

static void store(struct state *s, int thread, uint8_t word, uint8_t value) {
  struct thread *t = &s->thread[thread];
  if (t->count == BUFFER)
    abort();
  t->buffer[t->count].word = word;
  t->buffer[t->count].value = value;
  t->buffer[t->count].fence = t->fence;
  t->buffer[t->count].awaited = 0;
  t->count++;
}

/* May the buffer's i-th store become visible next? */
static bool may_drain(const struct thread *t, int i) {
  for (int k = 0; k < i; k++)
    if (t->buffer[k].word == t->buffer[i].word || t->buffer[k].fence != t->buffer[i].fence)
      return false;
  return true;
}

static void drain(struct state *s, int thread, int i) {
  struct thread *t = &s->thread[thread];
  s->word[t->buffer[i].word] = t->buffer[i].value;
  t->count--;
  memmove(&t->buffer[i], &t->buffer[i + 1], (size_t)(t->count - i) * sizeof t->buffer[0]);
  memset(&t->buffer[t->count], 0, sizeof t->buffer[0]);
  if (t->count == 0)
    t->fence = 0;
}

/* What others have stored until now is waited for by `thread`. */
static void await_others(struct state *s, int thread) {
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; t != thread && i < s->thread[t].count; i++)
      s->thread[t].buffer[i].awaited |= (uint8_t)(1 << thread);
}
static bool others_awaited(const struct state *s, int thread) {
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < s->thread[t].count; i++)
      if (s->thread[t].buffer[i].awaited & 1 << thread)
        return true;
  return false;
}

/* -- steps ------------------------------------------------------------------ */

static uint8_t label(const struct run *run, int thread, uint8_t number) {
  for (uint8_t i = 0; i < STEPS; i++)
    if (run->l->thread[thread][i].what == L_LABEL && run->l->thread[thread][i].value == number)
      return i;
  abort();
}

/* One instruction. False: it cannot be done now. */
static bool step(const struct run *run, struct state *s, int thread) {
  struct thread *t = &s->thread[thread];
  const struct litmus_step *i = &run->l->thread[thread][t->at];
  uint8_t *reg = &s->reg[thread][i->reg], next = (uint8_t)(t->at + 1);
  bool out = is_barrier(i->what) && left_out(run, thread, t->at);
  if (t->over)
    return false;
  if (others_awaited(s, thread))
    return false; /* it settles still */
  switch (i->what) {
  case L_END:
    t->over = 1;
    return true;
  case L_STORE:
    store(s, thread, i->word, i->value);
    break;
  case L_PUT:
    store(s, thread, i->word, (uint8_t)(*reg + i->value));
    break;
  case L_LOAD:
    *reg = visible(s, thread, i->word);
    break;
  case L_CAS:
  case L_SWAP:
    if (t->count != 0)
      return false;
    if (i->what == L_SWAP)
      *reg = s->word[i->word];
    else
      *reg = s->word[i->word] == i->expected;
    if (i->what == L_SWAP || *reg)
      s->word[i->word] = i->value;
    break;
  case L_FENCE:
    if (!out && t->count != 0)
      t->fence++;
    break;
  case L_FULL:
    if (!out && t->count != 0)
      return false;
    break;
  case L_SETTLE:
    if (!out)
      await_others(s, thread);
    break;
  case L_IF:
  case L_UNLESS:
    if ((*reg == i->expected) == (i->what == L_IF))
      next = label(run, thread, i->value);
    break;
  case L_GOTO:
    next = label(run, thread, i->value);
    break;
  case L_LABEL:
    break;
  case L_KILLED:
    if (!s->thread[0].over || s->thread[0].count != 0)
      return false;
    break;
  }
  t->at = next;
  return true;
}

static void visit(struct run *run, const struct state *s) {
  if (!note(run, s))
    return;
  bool over = true;
  for (int t = 0; t < THREADS; t++) {
    struct state next = *s;
    over &= s->thread[t].over && s->thread[t].count == 0;
    if (step(run, &next, t))
      visit(run, &next);
    for (int i = 0; i < s->thread[t].count; i++)
      if (may_drain(&s->thread[t], i)) {
        next = *s;
        drain(&next, t, i);
        visit(run, &next);
      }
  }
  if (run->l->kills && !s->thread[0].over) {
    struct state next = *s;
    memset(&next.thread[0], 0, sizeof next.thread[0]);
    next.thread[0].over = 1;
    visit(run, &next);
  }
  if (over) {
    run->found.ends++;
    run->found.broken += !run->l->holds((struct litmus_end){s->word, s->reg});
  }
}

struct litmus_found litmus_try(const struct litmus *l, int without) {
  struct run run = {.l = l, .without = without, .seen = malloc(TABLE * sizeof(struct state))};
  if (run.seen == NULL)
    abort();
  for (uint32_t i = 0; i < TABLE; i++)
    run.seen[i].thread[0].over = 0xff;
  struct state first;
  memset(&first, 0, sizeof first);
  memcpy(first.word, l->word, sizeof first.word);
  visit(&run, &first);
  free(run.seen);
  return run.found;
}
