/* SPDX-License-Identifier: MIT */
/* The flame graph as SVG; see flame.h. Each frame is an <svg> of its own, so that its text is
   cut to its box by whoever draws it, at any width of the page. */
#include "flame.h"
#include "format.h"
#include "read/fields.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const style[] = {
#include "flame.css.inc"
};
static const char *const script[] = {
#include "flame.js.inc"
};

enum {
  ROW = 18,
  LINE = 15,
  HEAD_COLUMNS = 60, /* a narrow page has room for so many */
  MARGIN = 8,
};
#define COLUMN 6.7 /* pixels of a letter in a frame */

/* -- text ------------------------------------------------------------------------------ */

/* Texts of a view are clean (read/names.h); what XML has a meaning for, or refuses, is left. */
static void put(FILE *out, const char *text) {
  for (const char *s = text; *s; s++)
    if (!strncmp(s, "\xef\xbf\xbe", 3) || !strncmp(s, "\xef\xbf\xbf", 3)) {
      fputc('?', out);
      s += 2;
    } else if (strchr("&<>\"'", *s)) {
      fprintf(out, "&#%d;", *s);
    } else {
      fputc(*s, out);
    }
}

static uint64_t whole(double ns) {
  return ns >= 9e18 ? (uint64_t)9e18 : ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* To be freed. */
static char *amount(const struct flame *f, double ns) {
  static const char *const per[] = {"", " per call", " per second", " per request"};
  return print_string("%s%s", shown_time(whole(ns)), per[f->options.per]);
}

static const char *percent(double part, double all) {
  static char turns[4][24];
  static unsigned turn;
  char *text = turns[turn++ % 4];
  snprintf(text, sizeof turns[0], all > 0 ? "%.*f %%" : "-", part < 0.1 * all ? 2 : 1,
           all > 0 ? 100 * part / all : 0);
  return text;
}

/* "+3.1 ms" */
static const char *change(double by) {
  static char text[40];
  snprintf(text, sizeof text, "%s%s",
           by < 0   ? "-"
           : by > 0 ? "+"
                    : "",
           shown_time(whole(by < 0 ? -by : by)));
  return text;
}

static double grown(const struct flame_frame *frame) {
  return frame->amount[1] - frame->amount[0];
}

/* What stands in the frame, if there is room; to be freed. */
static char *label(const struct flame *f, const struct flame_frame *frame) {
  if (f->sides > 1)
    return print_string("%s %s", frame->name, change(grown(frame)));
  return frame->what == FLAME_ROOT
             ? print_string("%s, %s", frame->name, shown_time(whole(frame->amount[0])))
             : print_string("%s", frame->name);
}

/* -- frames ---------------------------------------------------------------------------- */

/* By how much of the whole it changed. */
static const char *class_of_change(const struct flame *f, const struct flame_frame *frame) {
  static const char *const more[] = {"n", "g1", "g2", "g3", "g4"};
  static const char *const less[] = {"n", "s1", "s2", "s3", "s4"};
  static const double steps[] = {0.001, 0.01, 0.05, 0.2};
  double by = grown(frame);
  double all =
      f->frame[0].amount[0] > f->frame[0].amount[1] ? f->frame[0].amount[0] : f->frame[0].amount[1];
  int step = 0;
  while (step < 4 && (by < 0 ? -by : by) > steps[step] * all)
    step++;
  return by < 0 ? less[step] : more[step];
}

/* State of the time that its width is: see flame.css. */
static const char *class_of(const struct flame *f, const struct flame_frame *frame) {
  static const char *const function[] = {[STACK_WALL] = "f",
                                         [STACK_EXEC] = "r",
                                         [STACK_WAITING] = "v",
                                         [STACK_QUEUED] = "q",
                                         [STACK_CPU] = "r"};
  static const char *const leaf[] = {[FLAME_RUN] = "r", [FLAME_QUEUE] = "q", [FLAME_WAIT] = "w"};
  if (frame->what == FLAME_ROOT || frame->what == FLAME_FOLD)
    return "a";
  if (f->sides > 1)
    return class_of_change(f, frame);
  return frame->what == FLAME_FUNCTION ? function[f->options.measure] : leaf[frame->what];
}

static void put_amounts(const struct flame *f, const struct flame_frame *frame, FILE *out) {
  const struct flame_frame *root = &f->frame[0];
  char *of[FLAME_SIDES] = {amount(f, frame->amount[0]), amount(f, frame->amount[1])};
  if (f->sides > 1)
    fprintf(out, "A %s, B %s: %s, %s%s", of[0], of[1], change(grown(frame)),
            grown(frame) > 0 ? "+" : "", percent(grown(frame), frame->amount[0]));
  else
    fprintf(out, "%s, %s of all", of[0], percent(frame->amount[0], root->amount[0]));
  free(of[0]);
  free(of[1]);
}

static void put_title(const struct flame *f, const struct flame_frame *frame, const char *text,
                      FILE *out) {
  static const char *const what[] = {
      [FLAME_ROOT] = "all functions",
      [FLAME_FUNCTION] = "function",
      [FLAME_RUN] = "running: the function itself",
      [FLAME_QUEUE] = "queued: ready, and not yet run",
      [FLAME_WAIT] = "waiting",
      [FLAME_FOLD] = "folded: narrower than half a pixel",
  };
  fputs("<title>", out);
  put(out, text);
  fprintf(out, "\n%s%s", what[frame->what],
          frame->library && frame->what == FLAME_FUNCTION ? " of a library" : "");
  if (frame->place) {
    fputs(", ", out);
    put(out, frame->place);
  }
  fputc('\n', out);
  put_amounts(f, frame, out);
  const char *unit = frame->what == FLAME_WAIT ? "waits" : "futures";
  if (f->sides > 1 && (frame->count[0] > 0 || frame->count[1] > 0))
    fprintf(out, "\n%s: A %s, B %s", unit, shown_count(whole(frame->count[0])),
            shown_count(whole(frame->count[1])));
  else if (frame->count[0] > 0)
    fprintf(out, "\n%s %s", shown_count(whole(frame->count[0])), unit);
  fputs("</title>", out);
}

static void put_frame(const struct flame *f, const struct flame_frame *frame, FILE *out) {
  char *text = label(f, frame);
  double room = (frame->width * FLAME_PIXELS - 6) / COLUMN;
  fprintf(out, "<svg class=\"b %s%s%s\" x=\"%.5f%%\" y=\"%u\" width=\"%.5f%%\" height=\"%d\"",
          class_of(f, frame), frame->library ? " l" : "", frame->marked ? " m" : "", 100 * frame->x,
          frame->depth * ROW, 100 * frame->width, ROW - 1);
  if (f->sides > 1)
    fprintf(out, " data-a=\"%.0f\" data-b=\"%.0f\">", frame->amount[0], frame->amount[1]);
  else
    fprintf(out, " data-ns=\"%.0f\">", frame->amount[0]);
  put_title(f, frame, text, out);
  fputs("<rect width=\"100%\" height=\"100%\"/>", out);
  if (room >= 5 || room >= (double)shown_width(text)) {
    fputs("<text x=\"3\" y=\"12.5\">", out);
    put(out, cut_right(text, (size_t)room));
    fputs("</text>", out);
  }
  fputs("</svg>\n", out);
  free(text);
}

static const struct flame *sorted; /* for qsort */

static int by_row(const void *a, const void *b) {
  const struct flame_frame *x = &sorted->frame[*(const size_t *)a];
  const struct flame_frame *y = &sorted->frame[*(const size_t *)b];
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  return x->x < y->x ? -1 : x->x > y->x;
}

/* Row by row, each from the left: the order in which Tab goes, and that the script counts on. */
static void put_frames(const struct flame *f, FILE *out) {
  size_t *order = allocate(f->frames, sizeof *order), count = 0;
  for (size_t i = 0; i < f->frames; i++)
    if (f->frame[i].drawn)
      order[count++] = i;
  sorted = f;
  qsort(order, count, sizeof *order, by_row);
  for (size_t i = 0; i < count; i++)
    put_frame(f, &f->frame[order[i]], out);
  free(order);
}

/* -- what stands above ----------------------------------------------------------------- */

struct head {
  FILE *out;
  int y;
};

static void put_line(struct head *h, const char *class, const char *text) {
  h->y += LINE;
  fprintf(h->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, MARGIN, h->y);
  put(h->out, cut_right(text, HEAD_COLUMNS));
  fputs("</text>\n", h->out);
}

/* Takes the text; as many lines as it needs, broken at spaces. */
static void put_lines(struct head *h, char *text) {
  char *rest = text;
  while (strlen(rest) > HEAD_COLUMNS) {
    char *space = rest + HEAD_COLUMNS;
    while (space > rest && *space != ' ')
      space--;
    if (space == rest)
      break;
    *space = 0;
    put_line(h, "h", rest);
    rest = space + 1;
  }
  put_line(h, "h", rest);
  free(text);
}

static uint64_t measured(const struct view *v) {
  const struct view_process *p = &v->process;
  return p->measured && p->measured != UNKNOWN ? p->measured : p->elapsed;
}

static char *process_text(const struct view *v) {
  const char *name = cut_right(v->process.name ? v->process.name : "?", 30);
  if (v->only)
    return print_string("%s (pid %" PRId64 ", loop %" PRId64 ")", name, v->process.pid, v->only);
  if (v->processes > 1)
    return print_string("%s (%zu processes)", name, v->processes);
  return print_string("%s (pid %" PRId64 ")", name, v->process.pid);
}

static void put_width(const struct flame *f, struct head *h) {
  static const char *const width[] = {
      [STACK_WALL] = "time of futures in any state",
      [STACK_EXEC] = "time that futures ran",
      [STACK_WAITING] = "time that futures waited",
      [STACK_QUEUED] = "time that futures were ready and did not run",
      [STACK_CPU] = "time on a processor, by samples",
  };
  static const char *const per[] = {"added up", "per future of the topmost function", "per second",
                                    "per request"};
  put_lines(h, print_string("Width: %s, %s%s", width[f->options.measure], per[f->options.per],
                            f->sides > 1 ? "; the more of A and B" : ""));
  if (f->frame[0].width <= 0 || f->frames < 2)
    put_lines(h, print_string("Nothing was measured: there is none of it"));
}

static void put_sides(const struct flame *f, struct head *h) {
  for (int side = 0; side < f->sides; side++) {
    const char *says = f->options.says[side];
    char *of = amount(f, f->frame[0].amount[side]);
    char *name = says ? print_string("%s", says) : process_text(f->view[side]);
    if (f->sides > 1)
      put_lines(h, print_string("%c: %s, %s measured: %s", 'A' + side, name,
                                shown_time(measured(f->view[side])), of));
    else if (says)
      put_lines(h,
                print_string("%s, %s measured: %s", name, shown_time(measured(f->view[side])), of));
    else
      put_lines(h, print_string("%s, of %s measured", of, shown_time(measured(f->view[side]))));
    free(name);
    free(of);
  }
}

/* What the samples are, and how far they can be believed. */
static void put_sampled(const struct view_sampled *s, const char *of, struct head *h) {
  put_lines(h, print_string("%s%s samples, each of %s; %s of them as no future ran", of,
                            shown_count(s->samples), shown_time(s->each),
                            percent((double)s->outside, (double)s->samples)));
  put_lines(h, print_string("%sNative frames without a name: %s", of,
                            percent((double)s->unknown, (double)s->frames)));
  if (s->if_hit)
    put_lines(h, print_string("Only in requests that reached %s, from there on", s->if_hit));
  if (s->user_only)
    put_lines(h, print_string("In user space only: the kernel tells no more "
                              "(kernel.perf_event_paranoid)"));
  if (s->throttled)
    put_lines(h, print_string("The kernel gave fewer samples than were asked for"));
  if (s->lost)
    put_lines(h, print_string("Lost: %s records of the kernel", shown_count(s->lost)));
}

static void put_notes(const struct flame *f, struct head *h) {
  for (int side = 0; side < f->sides; side++) {
    const struct view *v = f->view[side];
    char of[8] = "";
    if (f->sides > 1)
      snprintf(of, sizeof of, "%c: ", 'A' + side);
    if (f->options.measure == STACK_CPU)
      put_sampled(&v->sampled, of, h);
    if (f->background[side] > 0)
      put_lines(h, print_string("%sWaiting for new work is left out: %s (--all)", of,
                                shown_time(whole(f->background[side]))));
    if (f->uncounted[side] > 0)
      put_lines(h, print_string("%sLeft out, of futures that were not counted: %s", of,
                                shown_time(whole(f->uncounted[side]))));
    if (view_lacks(v, v->shed) & (LACK_PATHS | LACK_TIMES))
      put_lines(h, print_string("%sDetail was shed: some time is under no path, or rough", of));
  }
  if (f->hidden)
    put_lines(h, print_string("Folded: %zu narrower than half a pixel%s, %s", f->hidden,
                              f->depth >= FLAME_DEPTH ? " or too deep" : "",
                              percent(f->hidden_width, 1)));
  if (f->mark) {
    size_t marked = 0;
    for (size_t i = 0; i < f->frames; i++)
      marked += f->frame[i].marked && f->frame[i].drawn;
    put_lines(h, print_string("Marked by a thick border: %zu frames, /%s/", marked, f->mark));
  }
}

struct legend {
  const char *class, *text;
};
static const struct legend legend_of[][6] = {
    [STACK_WALL] = {{"f", "function"},
                    {"f l", "library"},
                    {"r", "running"},
                    {"w", "waiting"},
                    {"q", "queued"}},
    [STACK_EXEC] = {{"r", "running"}, {"r l", "in a library"}},
    [STACK_WAITING] = {{"v", "function"}, {"v l", "library"}, {"w", "waiting"}},
    [STACK_QUEUED] = {{"q", "queued"}, {"q l", "of a library"}},
    [STACK_CPU] = {{"r", "the program's"}, {"r l", "a library's, the kernel's, or generated"}},
};
static const struct legend legend_of_change[] = {
    {"g3", "+ grew"}, {"s3", "- shrank"}, {"n", "as before"}, {0}};

static void put_legend(const struct flame *f, struct head *h) {
  const struct legend *entry = f->sides > 1 ? legend_of_change : legend_of[f->options.measure];
  h->y += 8;
  for (int x = 0; entry->class; entry++) {
    fprintf(h->out,
            "<g class=\"b %s\"><rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>"
            "<text class=\"h\" x=\"%d\" y=\"%d\">%s</text></g>\n",
            entry->class, MARGIN + x, h->y, MARGIN + x + 15, h->y + 10, entry->text);
    x += 22 + 7 * (int)strlen(entry->text);
  }
  h->y += LINE + 4;
}

static void put_patterns(FILE *out) {
  static const struct {
    const char *id, *fill, *shape;
  } pattern[] = {
      {"pw", "#7fb5dd", "<path d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\"/>"},
      {"pwl", "#c6dff0", "<path d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\"/>"},
      {"pq", "#f3d738", "<circle cx=\"3\" cy=\"3\" r=\"1\"/>"},
      {"pql", "#faf0b0", "<circle cx=\"3\" cy=\"3\" r=\"1\"/>"},
  };
  fputs("<defs>", out);
  for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++)
    fprintf(out,
            "<pattern id=\"%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
            "<path class=\"p\" d=\"M0 0h6v6h-6z\" fill=\"%s\"/><g class=\"k\">%s</g></pattern>",
            pattern[i].id, pattern[i].fill, pattern[i].shape);
  fputs("</defs>\n", out);
}

static void put_all(FILE *out, const char *const *line, size_t lines) {
  for (size_t i = 0; i < lines; i++)
    fputs(line[i], out);
}

/* How high it is stands before what is above the frames, so that is written aside. */
void flame_write(const struct flame *f, FILE *out) {
  char *text = NULL, *name = process_text(f->view[0]);
  size_t length = 0;
  struct head h = {.out = open_memstream(&text, &length), .y = 6};
  if (!h.out) {
    complain("out of memory");
    exit(CLI_FAILED);
  }
  put_line(&h, "t", f->sides > 1 ? "What changed from A to B" : name);
  put_sides(f, &h);
  put_width(f, &h);
  put_notes(f, &h);
  put_legend(f, &h);
  fclose(h.out);
  int height = h.y + (int)f->depth * ROW + MARGIN;
  fprintf(out,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%d\" "
          "height=\"%d\">\n<title>",
          FLAME_PIXELS, height);
  put(out, name);
  fputs("</title>\n<style>\n", out);
  put_all(out, style, sizeof style / sizeof *style);
  fputs("</style>\n", out);
  put_patterns(out);
  fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", out);
  fwrite(text, 1, length, out);
  fprintf(out, "<svg class=\"frames\" y=\"%d\" width=\"100%%\" height=\"%u\">\n", h.y,
          f->depth * ROW);
  put_frames(f, out);
  fputs("</svg>\n<script><![CDATA[\n", out);
  put_all(out, script, sizeof script / sizeof *script);
  fputs("]]></script>\n</svg>\n", out);
  free(text);
  free(name);
}
