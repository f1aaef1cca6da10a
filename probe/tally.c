/* SPDX-License-Identifier: MIT */
/* Values that were seen; see tally.h. */
#include "tally.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

static unsigned range_of(int64_t number) {
  uint64_t amount = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  unsigned octave = amount ? 63u - (unsigned)__builtin_clzll(amount) : 0;
  return number == 0 ? PROBE_ZERO : number > 0 ? PROBE_ZERO + 1 + octave : PROBE_ZERO - 1 - octave;
}

static void tally_value(struct probe_shown *s, char *text, const int64_t *number, bool late) {
  if (number) {
    if (s->numbers == 0 || *number < s->least)
      s->least = *number;
    if (s->numbers == 0 || *number > s->most)
      s->most = *number;
    s->sum += (double)*number;
    s->range[range_of(*number)]++;
    s->numbers++;
  }
  s->known++;
  s->is_number = s->numbers == s->known; /* else the list says it */
  s->late += late;
  for (size_t i = 0; i < s->values; i++)
    if (!strcmp(s->value[i].text, text)) {
      s->value[i].count++;
      free(text);
      return;
    }
  if (s->values == TALLY_MOST) {
    s->other++;
    free(text);
    return;
  }
  s->value = reallocate(s->value, s->values + 1, sizeof *s->value);
  s->value[s->values++] = (struct probe_value){text, 1};
}

static void tally_unknown(struct probe_shown *s, const char *why) {
  s->unknown++;
  if (s->why && why && !strcmp(s->why, why))
    return;
  free(s->why);
  s->why = why ? print_string("%s", why) : NULL;
}

static void tally_stack(struct probe_result *r, char *text) {
  for (size_t i = 0; i < r->stacks; i++)
    if (!strcmp(r->stack[i].stack, text)) {
      r->stack[i].count++;
      free(text);
      return;
    }
  if (r->stacks == TALLY_MOST) {
    free(text);
    return;
  }
  r->stack = reallocate(r->stack, r->stacks + 1, sizeof *r->stack);
  r->stack[r->stacks++] = (struct probe_frame_count){text, 1};
}

static int more_first(const void *a, const void *b) {
  const struct probe_value *x = a, *y = b;
  return x->count != y->count ? (x->count > y->count ? -1 : 1) : strcmp(x->text, y->text);
}

static int more_stacks(const void *a, const void *b) {
  const struct probe_frame_count *x = a, *y = b;
  return x->count != y->count ? (x->count > y->count ? -1 : 1) : strcmp(x->stack, y->stack);
}

void tally_duration(struct tally *t, uint64_t ns) {
  t->result->durations++;
  t->result->duration_sum += ns;
  if (ns > t->longest)
    t->longest = ns;
  histogram_count(&t->durations, ns);
}

void tally_drop(const struct probe_result *r, struct probe_hit *h) {
  for (size_t i = 0; i < r->showns && h->value; i++)
    free(h->value[i].text);
  free(h->value);
  free(h->stack);
  h->value = NULL;
  h->stack = NULL;
}

void tally_hit(struct tally *t, struct probe_hit *h, const char *above) {
  struct probe_result *r = t->result;
  for (size_t i = 0; i < r->showns && h->value; i++) {
    struct probe_seen *v = &h->value[i];
    if (v->text)
      tally_value(&r->shown[i], v->text, v->is_number ? &v->number : NULL, v->late);
    else
      tally_unknown(&r->shown[i], v->why);
    v->text = NULL;
  }
  if (h->stack && above) {
    tally_stack(r, print_string("%s; %s", above, h->stack));
  } else if (h->stack) {
    tally_stack(r, h->stack);
    h->stack = NULL;
  }
  if (h->duration != UINT64_MAX)
    tally_duration(t, h->duration);
  tally_drop(r, h);
}

void tally_settle(struct tally *t) {
  struct probe_result *r = t->result;
  if (r->durations)
    r->duration = histogram_convert(&r->arena, &t->durations, (uint64_t)1 << 32, t->longest);
  for (size_t i = 0; i < r->showns; i++)
    if (r->shown[i].values)
      qsort(r->shown[i].value, r->shown[i].values, sizeof *r->shown[i].value, more_first);
  if (r->stacks)
    qsort(r->stack, r->stacks, sizeof *r->stack, more_stacks);
}
