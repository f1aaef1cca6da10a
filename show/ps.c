/* SPDX-License-Identifier: MIT */
/*
 * What lives, as text in 80 columns and as JSON (aprof.ps/1).
 *
 * Purpose: one look at a process that hangs, is slow, or has crashed.
 * Cost: that of ask/live.h.
 */
#include "ask/live.h"
#include "ask/requests.h"
#include "emit.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"
#include "totals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  WIDTH = 80,
  STEP = 2,        /* columns that a level is further in */
  STEPS = 10,      /* so many levels; those beneath stand one under the other */
  NAME_WIDTH = 34, /* at most */
  STATE_WIDTH = 8,
  TIME_WIDTH = 9,
  LISTENERS = 10, /* and holders: so many are named, unless all are wanted */
};

/* The view lists so many futures one by one. Of the others those alike are one entry, without their
   creator. */
enum { LIVES = 100000, ROWS = 40 };

struct options {
  uint64_t rows; /* 0: all */
  bool all;      /* so are these, and listeners */
};

static const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

static int64_t pid_of(const struct view *v, const struct view_live *live) {
  return live->process < v->processes ? v->merged[live->process].pid : v->process.pid;
}

static const struct view_function *function_of(const struct view *v, const struct view_live *live) {
  return live->function < v->functions ? &v->function[live->function] : NULL;
}

/* -- the head ---------------------------------------------------------------- */

/* ", 2 queued" */
static void add_count(char **text, uint64_t count, const char *what) {
  if (!count)
    return;
  char *longer = print_string("%s%s%s %s", *text, **text ? ", " : "", shown_count(count), what);
  free(*text);
  *text = longer;
}

/* Of which moment all of it is. */
static char *moment(const struct view *v) {
  if (v->alive)
    return print_string("%s", v->stopped ? ", stopped" : "");
  if (!strcmp(v->process.reason, "recovered"))
    return print_string(", ended without a word, as of its last event");
  if (!strcmp(v->process.reason, "exit"))
    return print_string(", at its exit");
  return v->process.dumped_at ? print_string(", as of %s", v->process.dumped_at)
                              : print_string("%s", "");
}

/* On the next line where it does not fit. */
static void print_part(FILE *out, size_t *column, const char *text) {
  size_t width = shown_width(text);
  if (*column && *column + 1 + width > WIDTH) {
    fputs("\n  ", out);
    *column = 2;
  } else if (*column) {
    fputc(' ', out);
    ++*column;
  }
  fputs(cut_middle(text, WIDTH - 2), out);
  *column += width;
}

static void print_words(FILE *out, const char *text) {
  size_t column = 0;
  char *copy = print_string("%s", text), *rest = copy;
  for (char *word; (word = strsep(&rest, " ")) != NULL;)
    print_part(out, &column, word);
  fputc('\n', out);
  free(copy);
}

static void print_head(const struct view *v, const struct live_tree *tree, FILE *out) {
  uint64_t count = tree->running + tree->queued + tree->unknown + tree->waiting;
  char *states = print_string("%s", ""), *when = moment(v), *who;
  add_count(&states, tree->running, "running");
  add_count(&states, tree->queued, "queued");
  add_count(&states, tree->waiting, "waiting");
  add_count(&states, tree->unknown, "not known");
  if (v->processes)
    who = print_string("%s, %zu processes", cut_middle(v->process.name, 40), v->processes);
  else
    who = print_string("%s %" PRId64, cut_middle(v->process.name, 40), v->process.pid);
  uint64_t requests = 0;
  for (size_t i = 0; i < v->kinds; i++)
    requests += v->kind[i].live;
  char *those = requests ? print_string("%s request%s, ", shown_count(requests), plural(requests))
                         : print_string("%s", "");
  char *text = print_string("%s%s: %s%s live future%s%s%s%s", who, when, those, shown_count(count),
                            plural(count), count ? " (" : "", states, count ? ")" : "");
  add_count(&text, tree->listening, tree->listening == 1 ? "listener" : "listeners");
  style_set(out, STYLE_TITLE);
  print_words(out, text);
  style_set(out, STYLE_PLAIN);
  free(text);
  free(those);
  free(who);
  free(when);
  free(states);
}

static char *time_of(const struct live_group *g, uint64_t ns) {
  return print_string("%s", shown_mark(LACKS(g->lacks, live, since), shown_time(ns)));
}

/* Where its hold began; or else where its function is. */
static char *place_of_hold(const struct view *v, const struct view_live *live) {
  const struct view_function *f = function_of(v, live);
  return live->held_from ? print_string(", since %s", live->held_from)
         : f && f->file  ? print_string(" (%s)", place_text(f->file, f->line))
                         : print_string("%s", "");
}

static void print_holder(const struct view *v, const struct live_group *g, FILE *out) {
  const struct view_live *live = g->like;
  bool inside = live->held_by && strcmp(live->held_by, live->name);
  char *span = time_of(g, live->holds), *place = place_of_hold(v, live);
  char *within = inside ? print_string(" inside `%s`", live->held_by) : print_string("%s", "");
  char *how = !ask_ended(v) ? print_string("is held for %s now by", span)
              : live->holds ? print_string("was held for %s to the end by", span)
                            : print_string("was held at the end, for how long is not known, by");
  char *text =
      print_string("loop %" PRId64 " %s `%s`%s%s", live->tid, how, live->name, within, place);
  style_set(out, STYLE_ALARM);
  print_words(out, text);
  style_set(out, STYLE_PLAIN);
  free(text);
  free(how);
  free(within);
  free(place);
  free(span);
}

/* -- requests ---------------------------------------------------------------- */

/* "GET /item x2, oldest 71.0 ms: pool_get, at db.c:77 for answer" */
static void print_requests_of(const struct view *v, const struct view_pending *oldest,
                              uint64_t count, FILE *out) {
  const struct view_live *holder = ask_holder(v, oldest);
  char *many = count > 1 ? print_string(" x%s, oldest", shown_count(count)) : print_string(",");
  char *where = !holder          ? print_string("none of its futures is known")
                : !holder->state ? print_string("whether `%s` ran is not known", holder->name)
                : view_is(holder, "running") ? print_string("`%s` runs", holder->name)
                : holder->place
                    ? print_string("`%s` %s at %s%s%s", holder->name, holder->state, holder->place,
                                   holder->callee ? " " : "", holder->callee ? holder->callee : "")
                    : print_string("`%s` %s", holder->name, holder->state);
  char *text = print_string("%s%s %s: %s%s%s", oldest->kind, many, shown_time(oldest->age), where,
                            oldest->trace ? ", trace " : "", oldest->trace ? oldest->trace : "");
  print_words(out, text);
  free(text);
  free(where);
  free(many);
}

static bool same_kind(const struct view_pending *a, const struct view_pending *b) {
  return !strcmp(a->kind, b->kind) && !strcmp(a->function, b->function);
}

/* Those that go on, the kind with the oldest first: a line each. */
static void print_requests(const struct view *v, uint64_t rows, FILE *out) {
  size_t shown = 0, left = 0;
  for (size_t i = 0; i < v->pendings; i++) {
    size_t first = 0;
    uint64_t count = 0;
    while (!same_kind(&v->pending[first], &v->pending[i]))
      first++;
    if (first < i)
      continue;
    for (size_t j = i; j < v->pendings; j++)
      count += same_kind(&v->pending[i], &v->pending[j]);
    if (rows && shown >= LISTENERS) {
      left++;
      continue;
    }
    print_requests_of(v, &v->pending[i], count, out);
    shown++;
  }
  if (left)
    fprintf(out, "and %zu kind%s of requests more: --all\n", left, plural(left));
}

/* -- the tree ---------------------------------------------------------------- */

/* Chooses the groups that have a row: first holders and what is above them, then the upper levels.
   No limit cuts off the root of a group that is shown. */
struct rank {
  size_t index, depth;
  bool holds;
};

static int by_rank(const void *a, const void *b) {
  const struct rank *x = a, *y = b;
  if (x->holds != y->holds)
    return x->holds ? -1 : 1;
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

/* By index whether it has one; free() it. */
static bool *rows_of(const struct live_tree *tree, size_t limit) {
  bool *has = allocate(tree->groups, sizeof *has);
  struct rank *rank = allocate(tree->groups, sizeof *rank);
  for (size_t i = 0; i < tree->groups; i++)
    rank[i] = (struct rank){i, tree->group[i].depth, tree->group[i].held_beneath != 0};
  qsort(rank, tree->groups, sizeof *rank, by_rank);
  for (size_t i = 0; i < tree->groups && (!limit || i < limit); i++)
    has[rank[i].index] = true;
  free(rank);
  return has;
}

/* "  └ get_item x2", cut in the middle of the name. */
static char *shown_name(const struct view *v, const struct live_group *g, size_t width) {
  size_t steps = g->depth < STEPS ? g->depth : STEPS;
  int indent = steps ? (int)(steps - 1) * STEP : 0;
  char *many = g->count > 1 ? print_string(" x%s", shown_count(g->count)) : print_string("%s", "");
  char *pid = v->processes && !steps ? print_string("[%" PRId64 "] ", pid_of(v, g->like))
                                     : print_string("%s", "");
  size_t rest = steps * STEP + shown_width(many) + shown_width(pid);
  size_t room = width > rest + 6 ? width - rest : 6;
  char *text = print_string("%*s%s%s%s%s", indent, "", steps ? "└ " : "", pid,
                            cut_middle(g->like->name, room), many);
  free(many);
  free(pid);
  return text;
}

/* Where the future waits; without such a place, what else is known. */
static char *shown_where(const struct view *v, const struct live_group *g, size_t width) {
  const struct view_live *live = g->like;
  if (g->holds)
    return print_string("%s loop %" PRId64, ask_ended(v) ? "HELD" : "HOLDS", live->tid);
  char *due = g->due ? print_string(", due in %s", shown_time(g->due)) : print_string("%s", "");
  const char *callee = live->callee ? live->callee : "";
  const char *place = live->place ? live->place : live->created_at;
  char *text = NULL;
  /* Without room, directories go first, then the callee, then the time. */
  for (int less = 0; less < 4 && (!text || shown_width(text) > width); less++) {
    free(text);
    const char *shown = !place ? "?" : less ? base_name(place) : place;
    bool named = live->callee && less < 2 && strcmp(callee, live->name);
    text = print_string("%s%s%s%s%s", live->place || !place ? "" : "created ", shown,
                        named ? " " : "", named ? callee : "", less < 3 ? due : "");
  }
  char *cut = print_string("%s", cut_middle(text, width));
  free(text);
  free(due);
  return cut;
}

static void print_row(const struct view *v, const struct live_group *g, size_t name_width,
                      FILE *out) {
  char *name = shown_name(v, g, name_width);
  char *time = time_of(g, g->since);
  size_t rest = WIDTH - name_width - 2 - STATE_WIDTH - 2 * TIME_WIDTH - 2;
  char *where = shown_where(v, g, rest);
  bool unknown = g->holds && ask_ended(v) && !g->like->holds;
  print_left(out, name, (int)name_width + 2);
  print_left(out, shown_state(g->like), STATE_WIDTH);
  print_right(out, unknown ? "-" : time, TIME_WIDTH);
  print_right(out, shown_time(g->age), TIME_WIDTH);
  fputs("  ", out);
  style_set(out, g->holds ? STYLE_ALARM : STYLE_PLAIN);
  fputs(where, out);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
  free(name);
  free(time);
  free(where);
}

static void print_tree(const struct view *v, const struct live_tree *tree, size_t limit,
                       FILE *out) {
  bool *has = rows_of(tree, limit);
  size_t width = sizeof "future" - 1, hidden = 0;
  uint64_t futures = 0;
  for (size_t i = 0; i < tree->groups; i++) {
    char *name = has[i] ? shown_name(v, &tree->group[i], NAME_WIDTH) : NULL;
    size_t columns = name ? shown_width(name) : 0;
    width = columns > width ? columns : width;
    free(name);
  }
  if (tree->groups) {
    style_set(out, STYLE_FAINT);
    print_left(out, "future", (int)width + 2);
    print_left(out, "state", STATE_WIDTH);
    print_right(out, "for", TIME_WIDTH);
    print_right(out, "age", TIME_WIDTH);
    fputs("  where\n", out);
    style_set(out, STYLE_PLAIN);
  }
  for (size_t i = 0; i < tree->groups; i++)
    if (has[i])
      print_row(v, &tree->group[i], width, out);
    else {
      hidden++;
      futures += tree->group[i].count;
    }
  if (hidden)
    fprintf(out, "and %s future%s in %zu row%s more: --all\n", shown_count(futures),
            plural(futures), hidden, plural(hidden));
  free(has);
}

static void print_listeners(const struct view *v, const struct live_tree *tree, size_t limit,
                            FILE *out) {
  size_t column = 0, shown = limit && tree->listeners > LISTENERS ? LISTENERS : tree->listeners;
  if (!tree->listeners)
    return;
  print_part(out, &column, "waiting for new work:");
  for (size_t i = 0; i < shown; i++) {
    const struct live_group *g = &tree->listener[i];
    const struct view_function *f = function_of(v, g->like);
    const char *place =
        g->like->place ? g->like->place : place_text(f ? f->file : NULL, f ? f->line : 0);
    char *many =
        g->count > 1 ? print_string(" x%s", shown_count(g->count)) : print_string("%s", "");
    char *text = print_string("%s%s (%s)%s", cut_middle(g->like->name, NAME_WIDTH), many,
                              cut_middle(place, NAME_WIDTH), i + 1 < tree->listeners ? "," : "");
    print_part(out, &column, text);
    free(many);
    free(text);
  }
  if (shown < tree->listeners) {
    char *more = print_string("and %zu more: --all", tree->listeners - shown);
    print_part(out, &column, more);
    free(more);
  }
  fputc('\n', out);
}

/* Says what the tree lacks, or has elsewhere than where it belongs. */
static void print_lacks(const struct view *v, const struct live_tree *tree, FILE *out) {
  char *text = NULL;
  if (tree->apart) {
    text = print_string("%s young future%s, of which only groups are listed, stand%s there without "
                        "who created %s",
                        shown_count(tree->apart), plural(tree->apart), tree->apart == 1 ? "s" : "",
                        tree->apart == 1 ? "it" : "them");
    print_words(out, text);
    free(text);
  }
  if (v->health.lost_futures) {
    text = print_string("%s future%s had no room, and %s not listed",
                        shown_count(v->health.lost_futures), plural(v->health.lost_futures),
                        v->health.lost_futures == 1 ? "is" : "are");
    print_words(out, text);
    free(text);
  }
  if (v->health.lost_events)
    print_words(out, "events were lost: some of this may have gone on since");
  if (!v->process.enabled)
    print_words(out, "profiling is off: what lives since then is not known");
}

static int print(struct view *v, const void *options, FILE *out) {
  const struct options *o = options;
  uint64_t rows = o->all ? 0 : o->rows;
  char *directory = report_directory(v);
  report_shorten(v, directory);
  struct live_tree tree = ask_live(v);
  style_choose(out);
  print_head(v, &tree, out);
  for (size_t i = 0, shown = 0; i < tree.groups && (!rows || shown < LISTENERS); i++)
    if (tree.group[i].holds) {
      print_holder(v, &tree.group[i], out);
      shown++;
    }
  print_requests(v, rows, out);
  print_tree(v, &tree, rows, out);
  print_listeners(v, &tree, rows, out);
  print_lacks(v, &tree, out);
  ask_live_free(&tree);
  free(directory);
  return 0;
}

/* -- JSON -------------------------------------------------------------------- */

static void write_process(struct emit *e, const struct view *v) {
  emit_open(e, "process", '{');
  emit_members(e, &layout_process, &v->process,
               "pid name host started_at dumped_at reason elapsed_ns enabled");
  emit_bool(e, "alive", v->alive);
  emit_bool(e, "stopped", v->stopped);
  emit_close(e, '}');
  e->gap = "\n";
}

static void emit_counts(struct emit *e, const struct live_tree *tree) {
  emit_number(e, "running", tree->running);
  emit_number(e, "queued", tree->queued);
  emit_number(e, "waiting", tree->waiting);
  emit_number(e, "unknown", tree->unknown);
  emit_number(e, "listening", tree->listening);
  emit_number(e, "apart", tree->apart);
}

/* `id`: 0 of listeners, which are in no tree. */
static void emit_group(struct emit *e, const struct view *v, const struct live_group *g,
                       size_t id) {
  const struct view_live *live = g->like;
  const struct view_function *f = function_of(v, live);
  emit_row(e);
  emit_open(e, NULL, '{');
  if (id) {
    emit_number(e, "id", id);
    emit_maybe(e, "parent", g->parent + 1, g->parent != SIZE_MAX);
    emit_number(e, "depth", g->depth);
  }
  emit_signed(e, "pid", pid_of(v, live));
  emit_text(e, "function", live->name);
  emit_text(e, "file", f ? f->file : NULL);
  emit_maybe(e, "line", f ? f->line : 0, f && f->line);
  emit_number(e, "count", g->count);
  emit_text(e, "state", live->state);
  emit_number(e, "since_ns", g->since);
  emit_number(e, "since_min_ns", g->since_min);
  emit_number(e, "age_ns", g->age);
  emit_text(e, "await", live->place);
  emit_text(e, "callee", live->callee);
  emit_text(e, "kind", live->kind);
  emit_bool(e, "started", live->started);
  emit_maybe(e, "due_in_ns", g->due, g->due != 0);
  emit_text(e, "created_at", live->created_at);
  emit_text(e, "created_by", live->created_by);
  emit_maybe(e, "holds_loop", (uint64_t)live->tid, g->holds && live->tid > 0);
  emit_maybe(e, "held_ns", live->holds, live->holds != 0);
  emit_text(e, "held_by", live->held_by);
  emit_text(e, "held_from", live->held_from);
  emit_shed(e, "shed", g->shed);
  emit_close(e, '}');
}

static void emit_tree(struct emit *e, const struct view *v, const struct live_tree *tree) {
  emit_list(e, "groups");
  for (size_t i = 0; i < tree->groups; i++)
    emit_group(e, v, &tree->group[i], i + 1);
  emit_close(e, ']');
  emit_list(e, "listeners");
  for (size_t i = 0; i < tree->listeners; i++)
    emit_group(e, v, &tree->listener[i], 0);
  emit_close(e, ']');
}

void report_emit_live(struct emit *e, const struct view *v) {
  struct live_tree tree = ask_live(v);
  emit_counts(e, &tree);
  emit_tree(e, v, &tree);
  ask_live_free(&tree);
}

static int write_json(struct view *v, const void *options, FILE *out) {
  (void)options;
  struct live_tree tree = ask_live(v);
  struct emit e;
  emit_begin(&e, out, "aprof.ps/1");
  e.gap = "\n";
  write_process(&e, v);
  emit_counts(&e, &tree);
  emit_number(&e, "lost_futures", v->health.lost_futures);
  emit_number(&e, "lost_events", v->health.lost_events);
  emit_total(&e, v, "live_requests");
  emit_tree(&e, v, &tree);
  emit_end(&e);
  ask_live_free(&tree);
  return 0;
}

/* -- as an output -------------------------------------------------------------- */

static const struct option_row own[] = {{
                                            "all",
                                            0,
                                            OPTION_FLAG,
                                            offsetof(struct options, all),

                                            .text = "Show all rows and listeners",
                                        },
                                        {"top", 'n', OPTION_COUNT, offsetof(struct options, rows),
                                         "N", .text = "Show N rows (default 40; 0: all)"},
                                        {0}};

const struct output output_ps = {
    .name = "ps",
    .summary = "show what lives: who waits for what, who holds a loop",
    .about = "Shows the futures that live, under those that created them: in which state, for how "
             "long, where they wait; who holds a loop, who is queued. Equal ones are one row. Of a "
             "process, running, stopped or hung; of totals, of a profile that a crash left, or of "
             "its core.\v"
             "The process is not disturbed: its profile is read, no signal is sent.",
    .option = own,
    .of_now = true,
    .of_requests = OUTPUT_KINDS,
    .size = sizeof(struct options),
    .defaults = &(const struct options){.rows = ROWS},
    .wanted = {.without_histograms = true, .lives = LIVES},
    .text = print,
    .json = write_json};
