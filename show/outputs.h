/* SPDX-License-Identifier: MIT */
/*
 * Outputs: all ways to show a view, as a table.
 *
 * Purpose: an output is a file here, and a row in outputs.c. The row makes a command of it:
 * `aprof NAME [OPTION...] [TARGET]`, with its help, -o FILE, --loop, --core, and --json where it
 * has JSON (cli/cmd-show.c). What takes a story is of recordings, and of live processes that are
 * recorded first. Cost: that of the output. Locking: none.
 */
#ifndef APROF_SHOW_OUTPUTS_H
#define APROF_SHOW_OUTPUTS_H

#include "ask/option.h"
#include "read/view.h"
#include "record/story.h"

#include <stdio.h>

enum output_targets {
  OUTPUT_ONE,
  OUTPUT_INTERVAL, /* or two of one process: the view is what lies between them */
  OUTPUT_PAIR,     /* or two, as the options say: the second is put into these, see `second` */
};

/* What --kind and --tier do: others are no kinds of the view; nor is what ran in others in it; or
   the output looks to it itself. */
enum output_requests { OUTPUT_ALL_REQUESTS, OUTPUT_KINDS, OUTPUT_NARROWED, OUTPUT_NARROWS };

enum { OUTPUT_FAILED = 1 };

/* Writes the view; 0, or the status that the command ends with. It may shorten names in the view. A
   failing `out` is the caller's to see. `options`: as the row's table has filled them. */
typedef int output_function(struct view *, const void *options, FILE *out);

/* The same of a story. */
typedef int story_function(const struct story *, const void *options, FILE *out);

/* Of a live process, again and again until that ends. */
struct output_follow {
  bool (*wanted)(const void *options);
  uint64_t (*over)(const void *options); /* ns: the process logs requests that take so long */
  void *(*begin)(const void *options, bool json, FILE *out);
  void (*look)(void *, const struct view *, uint64_t now); /* now: ns that go on */
  void (*end)(void *);
};

/* Several processes, perhaps of many hosts, told apart. */
struct output_many {
  const struct view *const *view;
  size_t views;
  const struct output_missing {
    const char *name, *says;
  } * missing; /* that should have been there, and why they are not */
  size_t missings;
};
/* Other `aprof serve' to ask for theirs. */
struct output_from {
  const char **from; /* [NAME=]URL, or files of them */
  size_t froms;
  const char *token_file; /* or NULL */
};
struct output_manys {
  bool (*wanted)(const void *options);
  size_t from; /* offset of a struct output_from */
  int (*text)(const struct output_many *, const void *options, FILE *out);
  int (*json)(const struct output_many *, const void *options, FILE *out);
};

struct output {
  const char *name;    /* of the command */
  const char *summary; /* in `aprof --help` */
  const char *about;   /* in its own; behind \v what stands below the options */
  const char *words;   /* what stands behind the target in its usage, or NULL */
  enum output_targets targets;
  const struct option_row *option; /* its own; NULL: none */
  size_t size;                     /* of the options' struct, and what it is before */
  const void *defaults;
  bool has_limits; /* those of findings are options, too: */
  size_t limits;   /* offset of a struct ask_limits in its own */
  bool has_target; /* it says what to type next: */
  size_t target;   /* offset of a const char *: its targets as a shell is given them, or NULL */
  size_t second;   /* of a struct view *, where targets is OUTPUT_PAIR */
  enum output_requests of_requests; /* OUTPUT_ALL_REQUESTS: there is no --kind, nor --tier */
  size_t filter;  /* offset of a const struct request_filter *, which says of which; 0: it does not
                     matter */
  bool picture;   /* nothing for a terminal */
  bool has_check; /* it shows what a check found: view.checked */
  bool of_now;    /* what is, not what was in a time: there is no --for */
  /* What is wrong with the options given, so many targets, and --json; NULL: nothing. */
  const char *(*fault)(const void *options, size_t targets, bool json);
  void (*release)(void *options); /* what they have taken; NULL: nothing */
  struct view_request wanted;     /* of the view */
  output_function *text;          /* or whatever it is; NULL: only of recordings */
  output_function *json;          /* NULL: there is no --json */
  story_function *story_text;     /* of recordings; NULL: of views alone */
  story_function *story_json;
  bool (*wants_story)(
      const void *options); /* of a live process, too; NULL: if there is no `text` */
  bool (*wants_samples)(const void *options); /* in what is recorded first; NULL: no */
  const struct output_follow *follow;         /* NULL: it looks once */
  const struct output_manys *many;            /* NULL: it does not tell several apart */
  bool asks_slowest;                          /* --kind, --slowest and --over are options: */
  size_t slowest;                             /* offset of a struct slowest_filter */
};

/* In the order of help; NULL ends them. */
extern const struct output *const outputs[];
/* NULL: there is none of that name. */
const struct output *output_named(const char *);
extern const struct output output_report;

#endif
