/* SPDX-License-Identifier: MIT */
/* Counters that do not fall from one view of a process to the next; see view.h. */
#include "fold.h"
#include "settle.h"
#include "util.h"

#include <string.h>

static void own_buckets(struct arena *arena, struct distribution *d) {
  const struct bucket *lent = d->bucket;
  d->bucket = d->count ? arena_get(arena, d->count, sizeof *lent) : NULL;
  if (d->count)
    memcpy(d->bucket, lent, d->count * sizeof *lent);
}

/* Of one that has gone, keeps its counters: not its parts, and nothing that is so now. */
static void keep_counts(struct arena *arena, const struct layout *layout, void *object) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    void *at = field_of(object, field);
    if (field->type == FIELD_TEXT || field->type == FIELD_MAYBE_TEXT)
      *(const char **)at = arena_text(arena, *(const char *const *)at);
    else if (field->type == FIELD_PAIR)
      memset(at, 0, 2 * sizeof(char *));
    else if (field->type == FIELD_LIST)
      memset(at, 0, sizeof(void *) + sizeof(size_t));
    else if (field->type == FIELD_HISTOGRAM)
      own_buckets(arena, at);
    else if (field->type == FIELD_OBJECT)
      keep_counts(arena, field->of, at);
    else if (field->fold == FOLD_NOW)
      memset(at, 0, sizeof(uint64_t));
  }
}

/* A function has nothing left once all its futures have turned out to be others'. */
static void keep_functions(struct view *later, const struct view *earlier) {
  struct matching m = fold_matching(&layout_function, later->function, later->functions);
  struct view_function *all =
      arena_get(&later->arena, later->functions + earlier->functions, sizeof *all);
  size_t count = later->functions;
  if (count)
    memcpy(all, later->function, count * sizeof *all);
  for (size_t i = 0; i < earlier->functions; i++)
    if (!fold_match(&m, &earlier->function[i])) {
      all[count] = earlier->function[i];
      keep_counts(&later->arena, &layout_function, &all[count++]);
    }
  fold_matching_free(&m);
  later->function = all;
  later->functions = count;
}

void view_raise(struct view *later, const struct view *earlier) {
  if (!view_shares_process(later, earlier) ||
      later->process.reset_epoch != earlier->process.reset_epoch)
    return;
  fold_object(FOLD_RAISE, &later->arena, &layout_totals, later, earlier);
  keep_functions(later, earlier);
  settle_tiers(later);
  settle_requests(later);
}
