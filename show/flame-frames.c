/* SPDX-License-Identifier: MIT */
/* Frames of a view, and where each lies; see flame.h. */
#include "flame.h"

#include "ask/ask.h"
#include "format.h"
#include "read/index.h"
#include "read/names.h"
#include "read/util.h"
#include "report.h"
#include "stacks.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* -- frames ---------------------------------------------------------------------------- */

static size_t add_frame(struct flame *f, size_t parent, enum flame_what what, char *name,
                        char *place) {
  if (f->frames == f->room) {
    f->room = f->room ? 2 * f->room : 1024;
    f->frame = reallocate(f->frame, f->room, sizeof *f->frame);
  }
  f->frame[f->frames] = (struct flame_frame){
      .parent = parent,
      .what = what,
      .name = name,
      .place = place,
      .depth = f->frames ? f->frame[parent].depth + 1 : 0,
      .library = f->frames && f->frame[parent].library && what != FLAME_FUNCTION,
  };
  return f->frames++;
}

/* Frames are found again by parent, name and file where views of two are compared, for lines
   move from one build to the next. Of one view each path has a frame of its own. */
struct known {
  struct index index;
  size_t *frame; /* what the index points to */
  size_t frames;
};

static size_t find_frame(struct flame *f, struct known *known, size_t parent, enum flame_what what,
                         const char *name, const char *file, uint64_t line) {
  if (f->sides > 1) {
    char *key = print_string("%zu %d %s\n%s", parent, what, name, file ? file : "");
    const size_t *there = index_get(&known->index, print_string("%s", key));
    if (there) {
      free(key);
      return *there;
    }
    known->frame[known->frames] = f->frames;
    index_put(&known->index, key, &known->frame[known->frames++]);
  }
  char *place = !file  ? NULL
                : line ? print_string("%s:%" PRIu64, file, line)
                       : print_string("%s", file);
  return add_frame(f, parent, what, print_string("%s", name), place);
}

/* That of a view which is compared has no line. */
static size_t stack_frame(struct flame *f, struct known *known, const struct stack *s,
                          size_t parent) {
  enum flame_what what = s->is_wait ? FLAME_WAIT : FLAME_FUNCTION;
  const char *name = s->unnamed && f->sides > 1 ? "waiting" : s->name;
  size_t frame = find_frame(f, known, parent, what, name, s->file, s->line);
  if (!s->is_wait)
    f->frame[frame].library =
        s->function ? ask_is_library(s->function) : s->path->whose > VIEW_PROGRAM;
  return frame;
}

/* -- what a path has ------------------------------------------------------------------- */

/* Per call the time of a root, and of all beneath, is divided by the futures of that root. */
static double lived(const struct view_path *path) {
  return (double)path->done + (double)path->failed + (double)path->cancelled +
         (double)path->detached + (double)path->live;
}

/* Requests that have ended. */
static double requests_of(const struct view *v) {
  double all = 0;
  for (size_t i = 0; i < v->kinds; i++)
    all += (double)v->kind[i].count;
  return all;
}

static double seconds_of(const struct view *v) {
  uint64_t ns = v->process.measured && v->process.measured != UNKNOWN ? v->process.measured
                                                                      : v->process.elapsed;
  return ns ? (double)ns / 1e9 : 1;
}

static void give(struct flame *f, size_t frame, int side, uint64_t ns, double scale,
                 uint64_t count) {
  f->frame[frame].self[side] += (double)ns * scale;
  f->uncounted[side] += scale > 0 ? 0 : (double)ns;
  f->frame[frame].count[side] += (double)count;
}

static bool shows(const struct flame *f, enum stack_measure measure) {
  return f->options.measure == measure ||
         (f->options.measure == STACK_WALL && measure != STACK_CPU);
}

/* Where all measures lie in one picture, what the function itself did are leaves beneath it. */
static void give_function(struct flame *f, struct known *known, const struct stack *s, size_t frame,
                          int side, double scale) {
  bool leaves = f->options.measure == STACK_WALL;
  static const struct {
    enum stack_measure measure;
    enum flame_what what;
    const char *name;
  } own[] = {{STACK_EXEC, FLAME_RUN, "running"},
             {STACK_QUEUED, FLAME_QUEUE, "queued"},
             {STACK_CPU, FLAME_RUN, "running"}};
  give(f, frame, side, 0, 0, s->self[STACK_CALLS]);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (shows(f, own[i].measure) && s->self[own[i].measure])
      give(f, leaves ? find_frame(f, known, frame, own[i].what, own[i].name, NULL, 0) : frame, side,
           s->self[own[i].measure], scale, 0);
}

static void give_wait(struct flame *f, struct known *known, const struct stack *s, size_t parent,
                      int side, double scale) {
  uint64_t waiting = s->self[STACK_WAITING];
  if (s->left_out || !waiting || !shows(f, STACK_WAITING))
    return;
  if (s->path->background && !f->options.all)
    f->background[side] += (double)waiting;
  else
    give(f, stack_frame(f, known, s, parent), side, waiting, scale, s->path->count);
}

static void add_view(struct flame *f, struct known *known, const struct view *v, int side) {
  struct stacks all = stacks_of(v, true);
  size_t *at = allocate(v->paths + 1, sizeof *at);
  double *scale = allocate(v->paths + 1, sizeof *scale), requests = requests_of(v);
  for (size_t i = 0; i < all.stacks; i++) {
    const struct stack *s = &all.stack[i];
    bool root = s->parent == SIZE_MAX;
    size_t parent = root ? 0 : at[s->parent];
    at[i] = parent;
    scale[i] = !root                                 ? scale[s->parent]
               : f->options.per == FLAME_PER_SECOND  ? 1 / seconds_of(v)
               : f->options.per == FLAME_IN_TOTAL    ? 1
               : f->options.per == FLAME_PER_REQUEST ? (requests > 0 ? 1 / requests : 0)
               : lived(s->path) > 0                  ? 1 / lived(s->path)
                                                     : 0;
    if (s->is_wait) {
      give_wait(f, known, s, parent, side, scale[i]);
    } else {
      at[i] = stack_frame(f, known, s, parent);
      give_function(f, known, s, at[i], side, scale[i]);
    }
  }
  stacks_free(&all);
  free(scale);
  free(at);
}

/* -- where they lie -------------------------------------------------------------------- */

/* Of two views the wider: what one of them lacks is seen, too. */
static double width_of(const double amount[FLAME_SIDES]) {
  return amount[0] > amount[1] ? amount[0] : amount[1];
}

static const struct flame *sorted; /* for qsort */

static int by_place(const void *a, const void *b) {
  size_t i = *(const size_t *)a, j = *(const size_t *)b;
  const struct flame_frame *x = &sorted->frame[i], *y = &sorted->frame[j];
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  if (x->width != y->width)
    return x->width > y->width ? -1 : 1;
  int order = strcmp(x->name, y->name);
  return order ? order : i < j ? -1 : 1;
}

/* Sums from the leaves up; then from the root down each row from the left, the widest first. */
static void lay_out(struct flame *f) {
  size_t *order = allocate(f->frames, sizeof *order);
  double *cursor = allocate(f->frames, sizeof *cursor);
  for (size_t i = f->frames; i--;) {
    struct flame_frame *frame = &f->frame[i], *parent = &f->frame[frame->parent];
    frame->width += width_of(frame->self);
    order[i] = i;
    for (int side = 0; side < f->sides; side++) {
      frame->amount[side] += frame->self[side];
      if (i)
        parent->amount[side] += frame->amount[side];
    }
    if (i)
      parent->width += frame->width;
  }
  double whole = f->frame[0].width > 0 ? f->frame[0].width : 1;
  sorted = f;
  qsort(order + 1, f->frames - 1, sizeof *order, by_place);
  for (size_t i = 0; i < f->frames; i++) {
    struct flame_frame *frame = &f->frame[order[i]];
    const struct flame_frame *parent = &f->frame[frame->parent];
    frame->width = order[i] || f->frame[0].width > 0 ? frame->width / whole : 1;
    frame->x = order[i] ? cursor[frame->parent] : 0;
    cursor[order[i]] = frame->x;
    if (order[i])
      cursor[frame->parent] += frame->width;
    frame->drawn = !order[i] || (parent->drawn && frame->depth < FLAME_DEPTH &&
                                 frame->width * FLAME_PIXELS >= 0.5);
    if (frame->drawn && frame->depth >= f->depth)
      f->depth = frame->depth + 1;
  }
  free(cursor);
  free(order);
}

/* What is not drawn beneath one that is becomes one frame there, as the narrowest are the last. */
static void fold(struct flame *f) {
  size_t frames = f->frames, *folded = allocate(frames, sizeof *folded); /* 0: none */
  size_t *count = allocate(frames, sizeof *count);
  for (size_t i = 1; i < frames; i++) {
    size_t parent = f->frame[i].parent;
    if (f->frame[i].drawn || f->frame[i].width <= 0)
      continue;
    f->hidden++;
    if (!f->frame[parent].drawn)
      continue;
    if (!folded[parent]) {
      folded[parent] = add_frame(f, parent, FLAME_FOLD, NULL, NULL);
      f->frame[folded[parent]].x = 1;
    }
    struct flame_frame *of = &f->frame[folded[parent]];
    const struct flame_frame *frame = &f->frame[i];
    of->x = frame->x < of->x ? frame->x : of->x;
    of->width += frame->width;
    f->hidden_width += frame->width;
    for (int side = 0; side < f->sides; side++)
      of->amount[side] += frame->amount[side];
    count[parent]++;
  }
  for (size_t i = frames; i < f->frames; i++) {
    struct flame_frame *of = &f->frame[i];
    of->name = print_string("(%zu more)", count[of->parent]);
    of->drawn = of->width * FLAME_PIXELS >= 0.5;
    if (of->drawn && of->depth >= f->depth)
      f->depth = of->depth + 1;
  }
  free(count);
  free(folded);
}

char *flame_expression(const char *mark) {
  size_t length = strlen(mark);
  bool slashes = length > 1 && mark[0] == '/' && mark[length - 1] == '/';
  return print_string("%.*s", (int)(slashes ? length - 2 : length), mark + slashes);
}

static void mark(struct flame *f) {
  regex_t regex;
  char *text = f->options.mark ? flame_expression(f->options.mark) : NULL;
  if (text && !regcomp(&regex, text, REG_EXTENDED | REG_NOSUB)) {
    for (size_t i = 1; i < f->frames; i++)
      f->frame[i].marked = !regexec(&regex, f->frame[i].name, 0, NULL, 0);
    regfree(&regex);
    clean_text(text);
  }
  f->mark = text;
}

struct flame *flame_new(struct view *from, struct view *to, const struct flame_options *o) {
  struct flame *f = allocate(1, sizeof *f);
  struct view *both[FLAME_SIDES] = {from, to};
  struct known known = {0};
  size_t room = 0;
  f->options = *o;
  f->sides = to ? 2 : 1;
  for (int side = 0; side < f->sides; side++) {
    char *directory = report_directory(both[side]);
    report_shorten(both[side], directory);
    free(directory);
    f->view[side] = both[side];
    room += 3 * both[side]->paths; /* a function has up to two leaves of its own */
  }
  known.frame = allocate(room + 1, sizeof *known.frame);
  index_new(&known.index, room + 1);
  add_frame(f, 0, FLAME_ROOT, print_string("%s", from->process.name ? from->process.name : "all"),
            NULL);
  for (int side = 0; side < f->sides; side++)
    add_view(f, &known, both[side], side);
  index_free(&known.index);
  free(known.frame);
  mark(f);
  lay_out(f);
  fold(f);
  return f;
}

void flame_free(struct flame *f) {
  for (size_t i = 0; f && i < f->frames; i++) {
    free(f->frame[i].name);
    free(f->frame[i].place);
  }
  if (f) {
    free(f->frame);
    free(f->mark);
  }
  free(f);
}
