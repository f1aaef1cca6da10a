/* SPDX-License-Identifier: MIT */
/*
 * Which other servers are asked: what the user has named, and lists in files, which may change.
 *
 * In: "URL", "NAME=URL", or the file of a list with one of these on each line, and behind it, if
 * wanted, the file of a token and labels. dns+URL is one for each address of its host. Out: name,
 * URL, token and labels of each.
 * Cost: that of reading files. Locking: none.
 */
#ifndef APROF_CLI_SERVE_AGENT_LIST_H
#define APROF_CLI_SERVE_AGENT_LIST_H

#include "serve-names.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct agent_entry {
  char *name, *url, *token; /* token: or NULL */
  char *labels;             /* or NULL */
  char *connect;            /* "HOST:PORT:ADDRESS:PORT", where that is not the URL's; or NULL */
};

struct agent_list {
  struct agent_entry *entry;
  size_t entries;
};

/* What the user has said. */
struct agent_sources {
  const char **from; /* borrowed */
  size_t froms;
  char *token;            /* of those that have none of their own; or NULL */
  struct names_up *names; /* of dns+URL */
  unsigned changes;       /* of them, that are known */
  struct timespec *known; /* when each file was written that was read; zeros of what is none */
};

/* The token of all, of that file or of the environment; NULL: none is given. To be freed. False
   after a message. */
bool agent_token(const char *file, char **token);
/* Whether a file of them was written since they were read. */
bool agent_list_changed(const struct agent_sources *);
/* False after a message, which names the line: then the list is empty. */
bool agent_list_read(struct agent_sources *, struct agent_list *);
void agent_list_release(struct agent_list *);

#endif
