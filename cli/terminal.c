/* SPDX-License-Identifier: MIT */
/* The screen by ncurses; see terminal.h. */
#include "terminal.h"

#ifdef HAVE_NCURSES

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static SCREEN *screen;
static bool colours, utf8;
static volatile sig_atomic_t ended_by;
static struct termios before;
static char restore[128]; /* what leaves the screen, for a crash */

/* -- however it ends ------------------------------------------------------------------------ */

static void on_end(int number) {
  ended_by = number;
}

/* Of a crash: nothing but what a handler may do. */
static void on_crash(int number) {
  ssize_t ignored = write(STDOUT_FILENO, restore, strlen(restore));
  (void)ignored;
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
  raise(number); /* the default action: it was reset */
}

static void add_restore(const char *capability) {
  if (capability && strlen(restore) + strlen(capability) < sizeof restore)
    strcat(restore, capability);
}

static void at_exit(void) {
  if (screen && !isendwin())
    endwin();
}

static void take_signals(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT},
                   crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  struct sigaction end = {.sa_handler = on_end};
  struct sigaction crash = {.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    struct sigaction old;
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(ends[i], &end, NULL);
  }
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
    sigaction(crashes[i], &crash, NULL);
  atexit(at_exit);
}

/* -- opening ---------------------------------------------------------------------------- */

static void take_colours(void) {
  const char *no = getenv("NO_COLOR");
  if ((no && *no) || !has_colors())
    return;
  start_color();
  use_default_colors();
  init_pair(1, COLOR_RED, -1);
  init_pair(2, COLOR_GREEN, -1);
  init_pair(3, COLOR_CYAN, -1);
  colours = true;
}

const char *terminal_open(void) {
  const char *name = getenv("TERM");
  int error;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return "a screen needs a terminal: --once prints one";
  if (!name || !*name || !strcmp(name, "dumb"))
    return "this terminal (TERM) cannot move its cursor: --once prints a screenful";
  setlocale(LC_CTYPE, "");
  utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
  if (setupterm(name, STDOUT_FILENO, &error) != OK || !cursor_address)
    return "this terminal (TERM) cannot move its cursor, or is not known: --once prints a "
           "screenful";
  tcgetattr(STDIN_FILENO, &before);
  screen = newterm(name, stdout, stdin);
  if (!screen)
    return "the terminal cannot be set up: --once prints a screenful";
  add_restore(exit_attribute_mode);
  add_restore(cursor_normal);
  add_restore(keypad_local);
  add_restore(exit_ca_mode);
  take_signals();
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  take_colours();
  return NULL;
}

void terminal_close(void) {
  at_exit();
  if (ended_by) {
    signal(ended_by, SIG_DFL);
    raise(ended_by);
  }
}

void terminal_size(size_t *high, size_t *wide) {
  *high = LINES > 0 ? (size_t)LINES : 24;
  *wide = COLS > 0 ? (size_t)COLS : 80;
}

/* -- painting ----------------------------------------------------------------------------- */

/* What tells one thing from another has a word or a mark, too. */
static attr_t attribute(unsigned char style) {
  static const attr_t plain[SHEET_STYLES] = {
      [2] = A_BOLD, [3] = A_DIM, [4] = A_BOLD, [6] = A_REVERSE};
  switch (colours ? style : 0) {
  case 3:
    return A_NORMAL; /* dim letters are hard to read on many screens */
  case 4:
    return A_BOLD | (attr_t)COLOR_PAIR(1);
  case 5:
    return (attr_t)COLOR_PAIR(2);
  case 6:
    return A_BOLD | (attr_t)COLOR_PAIR(3);
  default:
    return style == 3 ? A_NORMAL : plain[style];
  }
}

static void paint(int line, const char *text, attr_t all) {
  attr_t own = A_NORMAL;
  move(line, 0);
  attrset((int)all);
  clrtoeol();
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    size_t bytes = 1;
    if (c < SHEET_STYLES) {
      own = attribute(c);
      continue;
    }
    while (((unsigned char)text[bytes] & 0xc0) == 0x80)
      bytes++;
    bool last = getcurx(stdscr) >= COLS - 1;
    attrset((int)(all | own));
    addnstr(utf8 || c < 0x80 ? text : "?", utf8 ? (int)bytes : 1);
    text += bytes - 1;
    if (last)
      break;
  }
  attrset((int)all);
  if (all != A_NORMAL)
    mvchgat(line, 0, -1, all & ~A_COLOR, 0, NULL);
}

/* So that the selected row is seen. */
static void scroll_to(size_t *first, size_t selected, size_t rows, size_t room) {
  if (selected < *first)
    *first = selected;
  if (room && selected >= *first + room)
    *first = selected - room + 1;
  if (*first + room > rows)
    *first = rows > room ? rows - room : 0;
}

void terminal_paint(const struct sheet *s, size_t *first) {
  int line = 0, last = LINES - (s->foot != NULL);
  size_t room = sheet_room(s, (size_t)LINES);
  scroll_to(first, s->selected, s->rows, room);
  for (size_t i = 0; i < s->heads && line < last; i++)
    paint(line++, s->head[i], A_NORMAL);
  if (s->title && line < last)
    paint(line++, s->title, A_REVERSE);
  for (size_t i = *first; i < s->rows && line < last; i++) {
    char *text = sheet_text(s, i);
    paint(line++, text, i == s->selected ? A_REVERSE | A_BOLD : A_NORMAL);
    free(text);
  }
  attrset(A_NORMAL);
  for (; line < last; line++) {
    move(line, 0);
    clrtoeol();
  }
  if (s->foot && LINES > 0)
    paint(LINES - 1, s->foot, A_NORMAL);
  refresh();
}

/* -- keys --------------------------------------------------------------------------------- */

static int key_of(int key) {
  static const struct {
    int curses, ours;
  } keys[] = {{KEY_UP, KEY_OF_UP},         {KEY_DOWN, KEY_OF_DOWN},
              {KEY_PPAGE, KEY_OF_PAGE_UP}, {KEY_NPAGE, KEY_OF_PAGE_DOWN},
              {KEY_HOME, KEY_OF_HOME},     {KEY_END, KEY_OF_END},
              {KEY_ENTER, KEY_OF_ENTER},   {KEY_BACKSPACE, KEY_OF_ERASE},
              {KEY_RESIZE, KEY_OF_RESIZE}, {27, KEY_OF_ESCAPE},
              {'\r', KEY_OF_ENTER},        {'\n', KEY_OF_ENTER},
              {127, KEY_OF_ERASE},         {8, KEY_OF_ERASE}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (key == keys[i].curses)
      return keys[i].ours;
  if (key >= KEY_F(1) && key <= KEY_F(12))
    return KEY_OF_F1 + (key - KEY_F(1));
  return key < 256 ? key : KEY_OF_NONE;
}

/* Of those that it has already, or in `ms`; ERR: none. */
static int next_key(int ms, int other) {
  struct pollfd in[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = other, .events = POLLIN}};
  timeout(other < 0 ? ms : 0);
  int key = getch();
  if (key != ERR || other < 0)
    return key;
  poll(in, 2, ms);
  return getch();
}

int terminal_key(uint64_t ns, int other) {
  enum { MS = 1000000, LONGEST = 3600 * 1000 };
  uint64_t ms = (ns + MS - 1) / MS;
  if (ended_by)
    return KEY_OF_QUIT;
  errno = 0;
  int key = next_key(ms > LONGEST ? LONGEST : (int)ms, other);
  if (ended_by)
    return KEY_OF_QUIT;
  if (key == ERR) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    bool gone = poll(&in, 1, 0) == 1 && (in.revents & (POLLHUP | POLLERR | POLLNVAL));
    return gone ? KEY_OF_QUIT : KEY_OF_NONE;
  }
  return key_of(key);
}

#else

const char *terminal_open(void) {
  return "this aprof was built without ncurses (libncurses-dev): --once prints a screenful";
}
void terminal_close(void) {}
void terminal_size(size_t *high, size_t *wide) {
  *high = 24;
  *wide = 80;
}
void terminal_paint(const struct sheet *s, size_t *first) {
  (void)s;
  (void)first;
}
int terminal_key(uint64_t ns, int other) {
  (void)ns;
  (void)other;
  return KEY_OF_QUIT;
}

#endif
