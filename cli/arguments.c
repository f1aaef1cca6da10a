/* SPDX-License-Identifier: MIT */
/* Arguments of commands; see arguments.h. */
#include "arguments.h"

#include "ask/value.h"
#include "cli.h"
#include "complete.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

/* Keys of options without a letter. */
enum { FIRST_KEY = 256, KEYS_OF_TABLE = 64 };

static int key_of(size_t table, size_t row, char letter) {
  return letter ? letter : (int)(FIRST_KEY + table * KEYS_OF_TABLE + row);
}

static const struct option_row *row_of(const struct arguments *a, int key, char **into) {
  for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
    for (size_t i = 0; a->table[t].row[i].name; i++)
      if (key_of(t, i, a->table[t].row[i].letter) == key) {
        *into = a->table[t].into;
        return &a->table[t].row[i];
      }
  return NULL;
}

static const struct argp_option *options_of(const struct arguments *a) {
  size_t rows = 0, count = 0;
  for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
    for (size_t i = 0; a->table[t].row[i].name; i++)
      rows++;
  struct argp_option *option = allocate(rows + 1, sizeof *option);
  for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
    for (size_t i = 0; a->table[t].row[i].name; i++) {
      const struct option_row *row = &a->table[t].row[i];
      option[count++] = (struct argp_option){.name = row->name,
                                             .key = key_of(t, i, row->letter),
                                             .arg = row->argument,
                                             .doc = row->text,
                                             .flags = (row->hidden ? OPTION_HIDDEN : 0) |
                                                      (row->optional ? OPTION_ARG_OPTIONAL : 0)};
    }
  return option;
}

/* -- values ------------------------------------------------------------------- */

static uint64_t number_of(const struct option_row *row, const char *text,
                          struct argp_state *state) {
  uint64_t number = (uint64_t)row->value;
  if (text && (!value_count(text, &number) ||
               (row->value && !row->optional && number > (uint64_t)row->value)))
    argp_error(state, "--%s: '%s' is not a number%s", row->name, text,
               row->value && !row->optional ? " that it takes" : "");
  return number;
}

static uint64_t time_of(const struct option_row *row, const char *text, struct argp_state *state) {
  uint64_t time;
  if (!value_time(text, row->type == OPTION_S ? 1e9 : 1e6, &time) ||
      (row->type == OPTION_S && !time))
    argp_error(state, "--%s: '%s' is no time, as 500us, 50ms, 10s or 2min", row->name, text);
  return time;
}

static int64_t thread_of(const struct option_row *row, const char *text, struct argp_state *state) {
  uint64_t number;
  if (!parse_number(text, &number) || !number || number > INT32_MAX)
    argp_error(state, "--%s: '%s' is no thread; `aprof report' lists them", row->name, text);
  return (int64_t)number;
}

static int word_of(const struct option_row *row, const char *text, struct argp_state *state) {
  char *all = print_string("%s", "");
  for (int i = 0; row->words[i]; i++) {
    if (!strcmp(text, row->words[i])) {
      free(all);
      return i;
    }
    char *longer = print_string("%s%s%s", all, i ? ", " : "", row->words[i]);
    free(all);
    all = longer;
  }
  argp_error(state, "--%s takes no '%s': it is one of %s", row->name, text, all);
  return 0;
}

static void take(const struct option_row *row, char *into, const char *text,
                 struct argp_state *state) {
  void *member = into + row->at;
  switch (row->type) {
  case OPTION_FLAG:
    *(bool *)member = true;
    break;
  case OPTION_SET:
    *(int *)member = row->value;
    break;
  case OPTION_COUNT:
    *(uint64_t *)member = number_of(row, text, state);
    break;
  case OPTION_MS:
  case OPTION_S:
    *(uint64_t *)member = time_of(row, text, state);
    break;
  case OPTION_THREAD:
    *(int64_t *)member = thread_of(row, text, state);
    break;
  case OPTION_WORD:
    *(int *)member = word_of(row, text, state);
    break;
  case OPTION_TEXT:
    *(const char **)member = text;
    break;
  case OPTION_OWN: {
    char *fault = row->take(into, text);
    if (fault)
      argp_error(state, "--%s %s: %s", row->name, text ? text : "", fault);
    free(fault);
    break;
  }
  }
}

/* -- the whole ---------------------------------------------------------------- */

static void check(const struct arguments *a, struct argp_state *state) {
  if (a->words < a->least)
    argp_error(state, "%s", a->lacking);
  if (a->words > a->most && a->too_many)
    argp_error(state, "%s", a->too_many);
  if (a->words > a->most)
    argp_error(state, "takes no argument ('%s')", a->word[a->most]);
  const char *fault = a->fault ? a->fault(a) : NULL;
  if (fault)
    argp_error(state, "%s", fault);
}

static void no_such(const struct arguments *a, struct argp_state *state, const char *name,
                    size_t length) {
  char *alike = print_string("%s", "");
  for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
    for (const struct option_row *row = a->table[t].row; row->name; row++)
      if (length && !row->hidden && !strncmp(row->name, name, length)) {
        char *longer = print_string("%s%s--%s", alike, *alike ? ", " : "; there is ", row->name);
        free(alike);
        alike = longer;
      }
  argp_error(state, "there is no option --%.*s%s", (int)length, name, alike);
}

/* getopt takes the beginning of a name for the whole, so that a script means another option as soon
   as there is one more. */
static void check_names(const struct arguments *a, struct argp_state *state) {
  state->name = state->argv[0]; /* for errors; argp does it later */
  for (int i = 1; i < state->argc && strcmp(state->argv[i], "--") != 0; i++) {
    const char *word = state->argv[i];
    if (word[0] != '-' || !word[1]) {
      if (a->in_order)
        return;
      continue;
    }
    size_t length = strcspn(word + 2, "=");
    if (word[1] == '-' && !arguments_named(a, word + 2, length) && strcmp(word, "--help") != 0 &&
        strcmp(word, "--usage") != 0)
      no_such(a, state, word + 2, length);
    i += arguments_awaits(a, word) != NULL;
  }
}

/* Words that belong to an option go to it; the others stay, in their order. */
static void take_words(struct arguments *a, struct argp_state *state) {
  a->word = state->argv + state->next;
  for (int i = state->next; i < state->argc; i++) {
    bool taken = false;
    for (size_t t = 0; t < ARGUMENT_TABLES && a->table[t].row; t++)
      for (const struct option_row *row = a->table[t].row; row->name && !taken; row++)
        if ((taken = row->also && row->also(state->argv[i])))
          take(row, a->table[t].into, state->argv[i], state);
    if (!taken)
      a->word[a->words++] = state->argv[i];
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct arguments *a = state->input;
  char *into;
  const struct option_row *row = row_of(a, key, &into);
  if (row && arg && !*arg)
    argp_error(state, "an option's value is empty: is a variable not set?");
  if (row)
    take(row, into, arg, state);
  else if (key == ARGP_KEY_INIT)
    check_names(a, state);
  else if (key == ARGP_KEY_ARGS)
    take_words(a, state);
  else if (key == ARGP_KEY_END)
    check(a, state);
  else
    return ARGP_ERR_UNKNOWN;
  return 0;
}

void arguments_parse(struct arguments *a, int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], COMPLETE_MARK))
    complete_arguments(a, argv + 2, (size_t)argc - 2);
  const struct argp_option *option = options_of(a);
  struct argp argp = {option, parse, a->usage, a->about, NULL, NULL, NULL};
  argp_parse(&argp, argc, argv, a->in_order ? ARGP_IN_ORDER : 0, NULL, a);
  free((void *)option);
}
