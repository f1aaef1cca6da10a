/* SPDX-License-Identifier: MIT */
/* Numbers of two views folded into one; see fold.h. */
#include "fold.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

/* -- histograms -------------------------------------------------------------------- */

/* Two buckets are one if their bounds were converted with nearly one rate. */
static bool same_bucket(uint64_t a, uint64_t b) {
  uint64_t apart = a > b ? a - b : b - a;
  return apart <= (a > b ? a : b) / 100;
}

/* Counters only grow, so less than before means a torn read of a live process;
   then nothing is what was seen to happen. */
static uint64_t left(uint64_t later, uint64_t earlier) {
  return later > earlier ? later - earlier : 0;
}

static void subtract_buckets(struct distribution *to, const struct distribution *from) {
  size_t j = 0, kept = 0;
  for (size_t i = 0; i < to->count; i++) {
    struct bucket b = to->bucket[i];
    while (j < from->count && from->bucket[j].lower < b.lower &&
           !same_bucket(from->bucket[j].lower, b.lower))
      j++;
    if (j < from->count && same_bucket(from->bucket[j].lower, b.lower))
      b.count = left(b.count, from->bucket[j++].count);
    if (b.count)
      to->bucket[kept++] = b;
  }
  to->count = kept;
}

static void join_buckets(enum fold how, struct arena *arena, struct distribution *to,
                         const struct distribution *from) {
  struct bucket *all = arena_get(arena, to->count + from->count, sizeof *all);
  size_t i = 0, j = 0, count = 0;
  while (i < to->count || j < from->count) {
    bool mine = j == from->count || (i < to->count && to->bucket[i].lower <= from->bucket[j].lower);
    struct bucket b = mine ? to->bucket[i++] : from->bucket[j++];
    if (!count || !same_bucket(all[count - 1].lower, b.lower))
      all[count++] = b;
    else if (how == FOLD_ADD)
      add_to(&all[count - 1].count, b.count);
    else if (all[count - 1].count < b.count)
      all[count - 1].count = b.count;
  }
  to->bucket = all;
  to->count = count;
}

/* Whether each bucket has as many already. */
static bool covers(const struct distribution *to, const struct distribution *from) {
  size_t i = 0;
  for (size_t j = 0; j < from->count; j++) {
    const struct bucket *b = &from->bucket[j];
    while (i < to->count && to->bucket[i].lower < b->lower &&
           !same_bucket(to->bucket[i].lower, b->lower))
      i++;
    if (i == to->count || !same_bucket(to->bucket[i].lower, b->lower) ||
        to->bucket[i].count < b->count)
      return false;
  }
  return true;
}

/* Of what is left the greatest is known if it is new; else it lies in the highest bucket. */
static void settle_left(struct distribution *d, uint64_t max, bool is_new) {
  distribution_settle(d, HISTOGRAM_NO_MAX);
  uint64_t edge = d->max;
  distribution_settle(d, max);
  if (!is_new && edge < d->max)
    d->max = edge;
}

static void fold_distribution(enum fold how, struct arena *arena, struct distribution *to,
                              const struct distribution *from, uint64_t max, bool is_new) {
  if (how == FOLD_SUBTRACT) {
    if (to->count) {
      subtract_buckets(to, from);
      settle_left(to, max, is_new);
    }
  } else if (how == FOLD_RAISE && covers(to, from)) {
    /* as it mostly is: nothing is copied */
  } else if (from->count && to->count) {
    uint64_t largest = to->max > from->max ? to->max : from->max;
    join_buckets(how, arena, to, from);
    distribution_settle(to, largest);
  } else if (from->count) {
    *to = *from;
    to->bucket = NULL;
    to->count = 0;
    join_buckets(how, arena, to, from);
  }
}

/* -- other members --------------------------------------------------------------------- */

static void fold_sum(enum fold how, uint64_t *to, uint64_t from, bool may_be_unknown) {
  if (may_be_unknown && (*to == UNKNOWN || from == UNKNOWN))
    *to = how == FOLD_RAISE ? *to : UNKNOWN;
  else if (how == FOLD_RAISE)
    *to = *to > from ? *to : from;
  else
    *to = how == FOLD_ADD ? plus(*to, from) : left(*to, from);
}

static bool is_greater(uint64_t a, uint64_t b) {
  return a != UNKNOWN && (b == UNKNOWN || a > b);
}

static void fold_max(enum fold how, uint64_t *to, uint64_t from) {
  if (how == FOLD_ADD ? is_greater(from, *to) : *to == from)
    *to = how == FOLD_ADD ? from : UNKNOWN;
}

static size_t size_of(const struct field *field) {
  switch (field->type) {
  case FIELD_FLAG:
  case FIELD_MAYBE_FLAG:
    return sizeof(uint8_t);
  case FIELD_PAIR:
    return 2 * sizeof(char *);
  default:
    return sizeof(uint64_t);
  }
}

/* What goes with a maximum is nothing without it, and of the greater one. */
static void fold_with(enum fold how, const struct field *field, void *to, const void *from) {
  uint64_t mine, other;
  memcpy(&mine, (char *)to + field->of_max, sizeof mine);
  memcpy(&other, (const char *)from + field->of_max, sizeof other);
  if (how == FOLD_ADD ? is_greater(other, mine) : mine != other)
    memcpy(field_of(to, field), field_of(how == FOLD_ADD ? from : to, field), size_of(field));
  else if (how == FOLD_SUBTRACT)
    memset(field_of(to, field), 0, size_of(field));
}

static void fold_flags(const struct field *field, void *to, const void *from) {
  bool any = field->fold == FOLD_ANY;
  uint8_t *mine = field_of(to, field);
  const uint8_t *other = field_of(from, field);
  if (field->type == FIELD_SHED)
    *(unsigned *)field_of(to, field) |= *(const unsigned *)field_of(from, field);
  else if (*mine != FLAG_UNKNOWN && *other != FLAG_UNKNOWN)
    *mine = any ? *mine | *other : *mine & *other;
}

static void fold_member(enum fold how, struct arena *arena, const struct field *field, void *to,
                        const void *from) {
  uint64_t *number = field_of(to, field);
  const uint64_t *other = field_of(from, field);
  bool adds = how == FOLD_ADD;
  if (field->type == FIELD_LIST && field->fold == FOLD_SUM)
    fold_list(how, arena, field, to, from, NULL);
  else if (field->type == FIELD_STEPS && field->fold == FOLD_SUM)
    for (size_t i = 0; i < APROF_STEPS; i++)
      fold_object(how, arena, field->of, field_element(to, field, i),
                  field_element(from, field, i));
  else if (field->type == FIELD_OBJECT && field->fold == FOLD_SUM) {
    if (field->is && adds)
      *((bool *)to + field->is) |= *((const bool *)from + field->is);
    fold_object(how, arena, field->of, number, other);
  } else if (field->fold == FOLD_SUM || (field->fold == FOLD_NOW && adds))
    fold_sum(how, number, *other, field->type == FIELD_MAYBE);
  else if (field->fold == FOLD_MAX && how != FOLD_RAISE)
    fold_max(how, number, *other);
  else if (adds && (field->fold == FOLD_ANY || field->fold == FOLD_ALL))
    fold_flags(field, to, from);
}

/* First what looks at a maximum, then the maxima and all else. */
void fold_object(enum fold how, struct arena *arena, const struct layout *layout, void *to,
                 const void *from) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    uint64_t max = UNKNOWN, other = UNKNOWN;
    if (field->of_max) {
      memcpy(&max, (char *)to + field->of_max, sizeof max);
      memcpy(&other, (const char *)from + field->of_max, sizeof other);
    }
    if (field->type == FIELD_HISTOGRAM)
      fold_distribution(how, arena, field_of(to, field), field_of(from, field), max, max != other);
    else if (field->fold == FOLD_WITH && how != FOLD_RAISE)
      fold_with(how, field, to, from);
  }
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    if (field->type != FIELD_HISTOGRAM && field->fold != FOLD_WITH)
      fold_member(how, arena, field, to, from);
  }
}

/* -- lists ------------------------------------------------------------------------------ */

static const char *text_at(const struct field *field, const void *at) {
  bool is = field->type == FIELD_TEXT || field->type == FIELD_MAYBE_TEXT;
  const char *text = is ? *(const char *const *)at : NULL;
  return is && !text ? "" : text;
}

/* As they come: nobody reads them. */
char *fold_digits(char *to, uint64_t number) {
  do
    *to++ = (char)('0' + number % 10);
  while (number /= 10);
  *to++ = '\n';
  return to;
}

char *fold_key(const struct layout *layout, const void *element) {
  size_t size = 1;
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    const char *text = field->fold == FOLD_KEY ? text_at(field, field_of(element, field)) : NULL;
    size += field->fold != FOLD_KEY ? 0 : text ? strlen(text) + 1 : FOLD_DIGITS;
  }
  char *key = allocate(size, 1), *to = key;
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    const void *at = field_of(element, field);
    const char *text = text_at(field, at);
    if (field->fold != FOLD_KEY)
      continue;
    if (text) {
      to = stpcpy(to, text);
      *to++ = '\n';
    } else
      to =
          fold_digits(to, field->type == FIELD_FLAG ? *(const uint8_t *)at : *(const uint64_t *)at);
  }
  return key;
}

bool fold_same(const struct layout *layout, const void *a, const void *b) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    if (field->fold != FOLD_KEY)
      continue;
    const void *mine = field_of(a, field), *other = field_of(b, field);
    const char *text = text_at(field, mine);
    if (text ? strcmp(text, text_at(field, other)) != 0
             : memcmp(mine, other,
                      field->type == FIELD_FLAG ? sizeof(uint8_t) : sizeof(uint64_t)) != 0)
      return false;
  }
  return true;
}

struct matching fold_matching(const struct layout *layout, void *first, size_t count) {
  return (struct matching){.layout = layout, .first = first, .count = count};
}

static void make_index(struct matching *m) {
  index_new(&m->index, m->count);
  for (size_t i = 0; i < m->count; i++) {
    void *element = m->first + i * m->layout->size;
    index_put(&m->index, fold_key(m->layout, element), element);
  }
  m->indexed = true;
}

void *fold_match(struct matching *m, const void *other) {
  char *found = m->next < m->count ? m->first + m->next * m->layout->size : NULL;
  if (!found || !fold_same(m->layout, found, other)) {
    if (!m->count)
      return NULL;
    if (!m->indexed)
      make_index(m);
    found = (char *)index_get(&m->index, fold_key(m->layout, other));
  }
  if (found)
    m->next = (size_t)(found - m->first) / m->layout->size + 1;
  return found;
}

void fold_matching_free(struct matching *m) {
  if (m->indexed)
    index_free(&m->index);
}

void fold_list(enum fold how, struct arena *arena, const struct field *field, void *to,
               const void *from, size_t *place) {
  const struct layout *layout = field->of;
  size_t count = field_count(to, field), others = field_count(from, field);
  bool adds = how == FOLD_ADD;
  char *first = count ? field_element(to, field, 0) : NULL;
  struct matching m = fold_matching(layout, first, count);
  char *all = adds ? arena_get(arena, count + others, layout->size) : NULL;
  if (all && count)
    memcpy(all, first, count * layout->size);
  for (size_t i = 0; i < others; i++) {
    const void *other = field_element(from, field, i);
    char *mine = fold_match(&m, other);
    size_t at = mine ? (size_t)(mine - first) / layout->size : count;
    if (mine)
      fold_object(how, arena, layout, adds ? all + at * layout->size : mine, other);
    else if (adds)
      memcpy(all + count++ * layout->size, other, layout->size);
    if (place)
      place[i] = at;
  }
  if (adds) {
    *(void **)field_of(to, field) = all;
    *(size_t *)((char *)field_of(to, field) + sizeof(void *)) = count;
  }
  fold_matching_free(&m);
}
