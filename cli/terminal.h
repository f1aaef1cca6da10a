/* SPDX-License-Identifier: MIT */
/*
 * A terminal: a sheet painted, and the keys that come back.
 *
 * Purpose: all that knows ncurses. However the program ends, by a signal or a crash too, the
 * terminal is as it was. Without ncurses at build time there is none. Cost: what has changed on the
 * screen. Locking: none; one at a time.
 */
#ifndef APROF_CLI_TERMINAL_H
#define APROF_CLI_TERMINAL_H

#include "show/sheet.h"

#include <stdbool.h>
#include <stdint.h>

/* What terminal_key says that is no character. */
enum {
  KEY_OF_NONE = -1, /* the time is over */
  KEY_OF_UP = 0x110000,
  KEY_OF_DOWN,
  KEY_OF_PAGE_UP,
  KEY_OF_PAGE_DOWN,
  KEY_OF_HOME,
  KEY_OF_END,
  KEY_OF_ENTER,
  KEY_OF_ESCAPE,
  KEY_OF_ERASE,
  KEY_OF_RESIZE,
  KEY_OF_QUIT, /* a signal wants it, or there is no terminal any more */
  KEY_OF_F1,   /* and those behind it */
};

/* NULL, or why there is none. */
const char *terminal_open(void);
/* Ends by the signal that ended it, if one did. */
void terminal_close(void);
void terminal_size(size_t *high, size_t *wide);
/* `first`: the row at the top; it is moved so that the selected one is seen. */
void terminal_paint(const struct sheet *, size_t *first);
/* Waits for one so long, ns, or until there is something to read from `other` (-1: nothing is). */
int terminal_key(uint64_t ns, int other);

#endif
