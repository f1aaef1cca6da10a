/* SPDX-License-Identifier: MIT */
/*
 * What `aprof export` was asked for, and how it is written or sent.
 *
 * Purpose: the command (cmd-export.c) has the options; here they are done. Sending is of a program
 * that has libcurl, which sets `export_push`; else the command hands over to that one.
 * Cost: that of the format. Locking: none.
 */
#ifndef APROF_CLI_EXPORT_H
#define APROF_CLI_EXPORT_H

#include "ask/requests.h"
#include "ask/story-view.h"
#include "load.h"
#include "push.h"
#include "recordings.h"

struct export {
  const struct format *to;
  const char *output, *textfile;
  uint64_t functions; /* or -1: not given, as the next */
  int measure, rows;
  struct format_options options;
  struct push_options push; /* url: NULL: it is written */
  struct request_filter requests;
  struct slowest_filter slowest; /* of recordings, with the kind and tier of those */
  struct load load;
  struct recordings recordings;
};

/* By what it sends; NULL: by another program. */
extern const struct push *export_push;

/* Only some requests are meant. */
bool export_chooses(const struct export *);
void export_write(const struct export *, FILE *out);
/* False after a message: not all has been taken. */
bool export_to_server(const struct export *);
/* A copy of the arguments as they were given; and what runs the program that sends, with them. */
char **export_arguments(int argc, char **argv);
int export_hand_over(char **argv);

#endif
