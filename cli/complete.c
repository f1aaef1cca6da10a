/* SPDX-License-Identifier: MIT */
/* What may stand where the user is typing; see complete.h. */
#include "complete.h"

#include "cli.h"
#include "find.h"

#include <stdlib.h>
#include <string.h>

void complete_offer(const char *start, const char *word, const char *what) {
  if (!strncmp(word, start, strlen(start)))
    printf("%s\t%s\n", word, what);
}

/* -- processes ---------------------------------------------------------------------- */

static void offer_process(struct found *found, void *context) {
  const char *start = context;
  struct aprof_header header;
  char pid[24];
  if (!profile_read_header(found->fd, found->what, &header, true))
    return;
  snprintf(pid, sizeof pid, "%ld", found->pid);
  complete_offer(start, pid, header.name);
  if (header.name[0] != '-')
    complete_offer(start, header.name, found->what);
}

/* -- options ------------------------------------------------------------------------ */

static void offer_value(const struct option_row *row, const char *start) {
  for (size_t i = 0; row->words && row->words[i]; i++)
    complete_offer(start, row->words[i], "");
  const char *word;
  for (size_t i = 0; row->offer && (word = row->offer(i)); i++)
    complete_offer(start, word, "");
  if (!strcmp(row->argument, "FILE") || !strcmp(row->argument, "SRC"))
    puts(":files");
  else if (!strcmp(row->argument, "DIR"))
    puts(":dirs");
}

static void offer_options(const struct arguments *a, const char *start) {
  for (size_t t = 0; a->table[t].row; t++)
    for (const struct option_row *row = a->table[t].row; row->name; row++) {
      char *name = print_string("--%s%s", row->name, row->argument && !row->optional ? "=" : "");
      if (!row->hidden)
        complete_offer(start, name, row->text);
      free(name);
    }
  complete_offer(start, "--help", "Tell about the command");
}

/* -- words -------------------------------------------------------------------------- */

/* `begun`: the words are those of a program that is to be run. */
static void offer_word(const struct arguments *a, const char *start, bool begun) {
  switch (a->offers) {
  case OFFER_TARGETS:
    find_live(offer_process, (void *)start);
    puts(":files");
    break;
  case OFFER_PROCESSES:
    find_live(offer_process, (void *)start);
    break;
  case OFFER_PROGRAM:
    puts(begun ? ":files" : ":commands");
    break;
  case OFFER_FILES:
    if (a->most)
      puts(":files");
    break;
  }
}

void complete_arguments(const struct arguments *a, char **typed, size_t words) {
  const char *last = typed[words - 1], *equals = strchr(last, '=');
  const struct option_row *waiting = NULL; /* for its value, which is the next word */
  bool options = true, program = false;
  for (size_t i = 0; i + 1 < words; i++) {
    const struct option_row *before = waiting;
    waiting = NULL;
    if (before || program)
      continue;
    if (options && !strcmp(typed[i], "--"))
      options = false;
    else if (options && typed[i][0] == '-')
      waiting = arguments_awaits(a, typed[i]);
    else
      program = a->in_order;
  }
  if (waiting)
    offer_value(waiting, last);
  else if (options && !program && !strncmp(last, "--", 2) && equals) {
    const struct option_row *row = arguments_named(a, last + 2, (size_t)(equals - last - 2));
    if (row && row->argument)
      offer_value(row, equals + 1);
  } else if (options && !program && last[0] == '-')
    offer_options(a, last);
  else
    offer_word(a, last, program);
  exit(fflush(stdout) ? CLI_FAILED : CLI_OK);
}
