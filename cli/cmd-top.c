/* SPDX-License-Identifier: MIT */
/* aprof top: processes as they move, on a screen, or one screenful of them as text. */
#include "arguments.h"
#include "ask/value.h"
#include "cli.h"
#include "load.h"
#include "read/clock.h"
#include "show/format.h"
#include "show/report.h"
#include "show/top.h"
#include "terminal.h"
#include "top-ask.h"
#include "top-watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
enum { ROWS = 20, NARROWEST = 40, WIDEST = 1000, LEAST_DELAY = 50000000 };

struct top_options {
  bool once, json, flat;
  uint64_t delay, rows;
  uint64_t window; /* ns; 0: since the start */
  bool has_window;
  int sort;
  struct request_filter requests;
};

static const char *offer_window(size_t i) {
  static const char *const words[] = {"10s", "1m", "start"};
  return i < sizeof words / sizeof *words ? words[i] : NULL;
}

static char *take_window(void *options, const char *text) {
  struct top_options *o = options;
  o->has_window = true;
  o->window = 0;
  return !strcmp(text, "start") || (value_time(text, 1e9, &o->window) && o->window)
             ? NULL
             : print_string("that is no time, as 10s or 1m, nor `start'");
}

static const struct option_row options[] = {
    {"once", 0, OPTION_FLAG, offsetof(struct top_options, once),
     .text = "Print one screenful as text and end: since the start, of --for, or of --window"},
    {"json", 0, OPTION_FLAG, offsetof(struct top_options, json), .text = "The same as JSON"},
    {"top", 'n', OPTION_COUNT, offsetof(struct top_options, rows), "N",
     .text = "With --once: N rows (default 20; 0: all)"},
    {"delay", 'd', OPTION_S, offsetof(struct top_options, delay), "TIME",
     .text = "Look every TIME, as 500ms (default 1s)"},
    {"sort", 's', OPTION_WORD, offsetof(struct top_options, sort), "BY",
     .text = "exec (default), rate, queued, waiting, p50, p99, live or name", .words = top_sorts},
    {"flat", 0, OPTION_FLAG, offsetof(struct top_options, flat),
     .text = "Functions alone, not beneath the kinds of requests that they ran in"},
    {"window", 'w', OPTION_OWN, 0, "TIME",
     .text = "10s (default), 1m or start: over which time numbers are; with --once any, as far "
             "as earlier totals of the process tell it",
     .take = take_window, .offer = offer_window},
    {0}};

/* -- once ------------------------------------------------------------------------------- */

static size_t columns_of_output(void) {
  const char *given = getenv("COLUMNS");
  uint64_t columns = 0;
  struct winsize size;
  if (!(given && parse_number(given, &columns)) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
    columns = size.ws_col;
  if (!columns)
    columns = FORMAT_WIDTH;
  return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : (size_t)columns;
}

static void print_once(struct top_look *look, const struct top_options *o,
                       const struct top_process *process, size_t count) {
  if (o->json) {
    top_json(look, process, count, stdout);
    return;
  }
  struct sheet s = {.width = columns_of_output()};
  style_choose(stdout);
  top_make(&s, look, process, count, 0);
  sheet_print(&s, o->rows, stdout);
  sheet_release(&s);
}

static bool load_targets(struct load *load, const char *target) {
  if (target)
    return load_add(load, target) && load_finish(load);
  load->views = view_load_live(NULL, &load->view);
  return true;
}

/* One target, or all that live since their starts. */
static int top_once(struct top_look *look, const struct top_options *o, struct load *load,
                    const char *target) {
  bool done = load_targets(load, target);
  struct top_process *process = allocate(load->views + 1, sizeof *process);
  for (size_t i = 0; done && i < load->views; i++) {
    struct view *v = load->view[i];
    char *directory = report_directory(v);
    report_shorten(v, directory);
    free(directory);
    process[i] = (struct top_process){.pid = v->process.pid,
                                      .name = v->process.name,
                                      .state = !v->alive    ? TOP_ENDED
                                               : v->stopped ? TOP_STOPPED
                                                            : TOP_RUNS,
                                      .view = v};
  }
  look->window = TOP_WINDOWS - 1;
  if (target && load->views) {
    look->page = TOP_FUNCTIONS;
    look->pid = process[0].pid;
  }
  if (done)
    print_once(look, o, process, load->views);
  free(process);
  load_release(load);
  return done ? CLI_OK : CLI_FAILED;
}

/* -- the screen --------------------------------------------------------------------------- */

struct live {
  struct top_look look;
  struct top_watch *watch;
  struct top_ask *ask;
  uint64_t delay, next; /* when to look again */
  size_t first, lines;
  struct sheet sheet;
  const struct top_process *row;
  size_t rows;
};

static void draw(struct live *l) {
  static char clock[32];
  time_t now = time(NULL);
  struct tm tm;
  localtime_r(&now, &tm);
  if (!l->look.frozen)
    strftime(clock, sizeof clock, "%H:%M:%S", &tm);
  l->look.clock = clock;
  sheet_release(&l->sheet);
  l->sheet = (struct sheet){0};
  terminal_size(&l->lines, &l->sheet.width);
  if (l->sheet.width < NARROWEST)
    l->sheet.width = NARROWEST;
  top_make(&l->sheet, &l->look, l->row, l->rows, l->lines);
  terminal_paint(&l->sheet, &l->first);
}

static void take_rows(struct live *l) {
  l->row = top_watch_rows(l->watch, top_windows[l->look.window].ns, &l->rows);
  if (l->look.alone && l->rows)
    l->look.pid = l->row[0].pid;
}

static void move(struct live *l, int64_t by) {
  int64_t row = (int64_t)l->sheet.selected + by;
  top_select(&l->look, &l->sheet, row < 0 ? 0 : (size_t)row);
}

static void type(struct live *l, int key) {
  char *filter = l->look.filter;
  size_t length = strlen(filter);
  if (key == KEY_OF_ENTER || key == KEY_OF_ESCAPE)
    l->look.typing = false;
  if (key == KEY_OF_ESCAPE)
    *filter = 0;
  else if (key == KEY_OF_ERASE && length)
    filter[length - 1] = 0;
  else if (key >= ' ' && key < 256 && key != 127 && length + 1 < TOP_FILTER) {
    filter[length] = (char)key;
    filter[length + 1] = 0;
  }
}

static void go_to(struct live *l, enum top_page page) {
  if (page == TOP_HELP && l->look.page != TOP_HELP)
    l->look.before = l->look.page;
  if (page == TOP_FINDINGS) {
    l->look.depth = 0;
    free(l->look.kind);
    l->look.kind = NULL;
  }
  l->look.page = page;
  l->look.row = 0;
}

static void move_by_key(struct live *l, int key) {
  int64_t page = (int64_t)sheet_room(&l->sheet, l->lines), all = (int64_t)l->sheet.rows;
  move(l, key == KEY_OF_UP          ? -1
          : key == KEY_OF_DOWN      ? 1
          : key == KEY_OF_PAGE_UP   ? -page
          : key == KEY_OF_PAGE_DOWN ? page
          : key == KEY_OF_HOME      ? -all
                                    : all);
}

static const struct top_process *opened(const struct live *l) {
  return top_opened(&l->look, l->row, l->rows);
}

/* What is switched on for it goes off when one leaves. */
static void ask(struct live *l, enum question_number question) {
  top_ask(&l->look, &l->sheet, opened(l), question);
}

static void change(struct live *l, int key) {
  struct top_look *look = &l->look;
  switch (key) {
  case 'w':
    look->window = (look->window + 1) % TOP_WINDOWS;
    take_rows(l);
    break;
  case 's':
  case '>':
  case KEY_OF_F1 + 5:
    top_sort(look, look->sort + 1);
    break;
  case 'S':
  case '<':
    top_sort(look, look->sort - 1);
    break;
  case 'P':
    top_sort(look, 0);
    break;
  case 'N':
    top_sort(look, -1);
    break;
  case 'I':
    look->reverse = !look->reverse;
    break;
  case ' ':
    look->frozen = !look->frozen;
    break;
  case '/':
  case KEY_OF_F1 + 3:
    look->typing = look->page == TOP_FUNCTIONS || look->page == TOP_PROCESSES;
    break;
  case 'k':
    look->flat = !look->flat;
    break;
  case '+':
  case '-':
    top_open_all(look, key == '+');
    break;
  case 'l':
    top_open_kind(look, &l->sheet, opened(l));
    break;
  case 't':
    ask(l, QUESTION_TAIL);
    break;
  case 'b':
    ask(l, QUESTION_BLAME);
    break;
  case 'r':
    ask(l, QUESTION_PATHS);
    break;
  case 'x':
    ask(l, QUESTION_PATH);
    break;
  case 'c':
    ask(l, QUESTION_CPU);
    break;
  case 'p':
    ask(l, QUESTION_PROBE);
    break;
  case 'f':
    if (look->page != TOP_PROCESSES)
      go_to(l, TOP_FINDINGS);
    break;
  case 'h':
  case '?':
  case KEY_OF_F1:
    go_to(l, TOP_HELP);
  }
}

/* False where it is the end. */
static bool take_key(struct live *l, int key) {
  struct top_look *look = &l->look;
  if (key == KEY_OF_QUIT)
    return false;
  if (look->typing)
    type(l, key);
  else if (key == 'q' || key == KEY_OF_F1 + 9)
    return false;
  else if (key >= KEY_OF_UP && key <= KEY_OF_END)
    move_by_key(l, key);
  else if (key == KEY_OF_ENTER)
    top_open(look, &l->sheet, opened(l));
  else if (key == KEY_OF_ESCAPE)
    top_back(look);
  else
    change(l, key);
  return true;
}

static void run(struct live *l) {
  for (bool goes_on = true; goes_on;) {
    uint64_t now = clock_monotonic();
    if (now >= l->next && !l->look.frozen) {
      top_watch_look(l->watch, l->look.page == TOP_PROCESSES ? 0 : l->look.pid);
      take_rows(l);
    }
    if (now >= l->next)
      l->next = now + l->delay;
    top_ask_look(l->ask, &l->look, opened(l), now);
    draw(l);
    now = clock_monotonic();
    goes_on = take_key(l, terminal_key(l->next > now ? l->next - now : 0, top_ask_fd(l->ask)));
  }
}

static int top_screen(const struct top_look *look, uint64_t delay, const char *target) {
  struct live l = {.look = *look, .delay = delay, .ask = top_ask_new()};
  l.watch = top_watch_new(target);
  if (!l.watch) {
    top_ask_free(l.ask);
    return CLI_FAILED;
  }
  const char *fault = terminal_open();
  if (fault)
    complain("%s", fault);
  else {
    complain_never(true); /* it would be written across the screen */
    run(&l);
  }
  top_ask_free(l.ask);
  if (!fault)
    terminal_close();
  sheet_release(&l.sheet);
  top_look_release(&l.look);
  top_watch_free(l.watch);
  return fault ? CLI_FAILED : CLI_OK;
}

/* -- the command ------------------------------------------------------------------------ */

struct given {
  struct top_options options;
  struct load load;
};

/* Which of the screen's windows that is; TOP_WINDOWS: none. */
static int window_of_screen(const struct top_options *o) {
  int i = 0;
  while (o->has_window && i < TOP_WINDOWS && top_windows[i].ns != o->window)
    i++;
  return i;
}

static const char *fault_of(const struct arguments *a) {
  const struct given *g = a->context;
  const struct top_options *o = &g->options;
  if (o->json && !o->once)
    return "--json goes with --once: a screen is no JSON";
  if (g->load.span && !o->once)
    return "--for goes with --once; a screen has windows: --window";
  if (g->load.span && !a->words)
    return "--for measures a TARGET: name one";
  if (g->load.span && o->has_window)
    return "--for measures from now on, --window shows what was: not both";
  if (o->once && o->window && !a->words)
    return "--window with --once is of a TARGET: name one";
  if (!o->once && window_of_screen(o) == TOP_WINDOWS)
    return "the screen has windows of 10s, of 1m, and since the start";
  if (o->flat && (o->requests.kind || o->requests.tier))
    return "--flat is without kinds, --kind and --tier say which: not both";
  if (o->delay < LEAST_DELAY)
    return "--delay is 50ms at least";
  return NULL;
}

int cmd_top(int argc, char **argv) {
  struct given g = {.options = {.delay = SECOND, .rows = ROWS}};
  struct arguments a = {
      .usage = "[TARGET]",
      .about =
          "Shows what live processes do now: how busy their loops are and who holds them, what "
          "is found, and each kind of requests and function by exec, waiting, queued, rate and "
          "p99, over the last "
          "10 s, the last minute, or since the start. h shows the keys.\v"
          "TARGET: a PID, the NAME of a process, or a profile; without one all live processes "
          "that are profiled. No process is disturbed: profiles are read, no signal is sent. Keys "
          "that ask why requests are slow record a process while their page is open.",
      .table = {{options, &g.options}, {request_options, &g.options.requests}, {load_for, &g.load}},
      .most = 1,
      .too_many = "one target at a time",
      .fault = fault_of,
      .context = &g};
  arguments_parse(&a, argc, argv);
  const char *target = a.words ? a.word[0] : NULL;
  g.load.window = g.options.window;
  struct top_look look = {.page = target ? TOP_FUNCTIONS : TOP_PROCESSES,
                          .sort = g.options.sort,
                          .window = window_of_screen(&g.options) % TOP_WINDOWS,
                          .alone = target != NULL,
                          .requests = g.options.requests,
                          .flat = g.options.flat,
                          .open = g.options.once,
                          .limits = ask_defaults};
  return g.options.once ? top_once(&look, &g.options, &g.load, target)
                        : top_screen(&look, g.options.delay, target);
}
