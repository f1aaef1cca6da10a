/* SPDX-License-Identifier: MIT */
/* Which functions were told; see format-memory.h. */
#include "format-memory.h"

#include "formats.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

struct format_memory {
  struct format_memory *next;
  char *labels; /* of the process */
  bool there;   /* this time, too */
  struct top_memory top;
};

static void forget(struct format_memory **at) {
  struct format_memory *m = *at;
  *at = m->next;
  free(m->labels);
  free(m->top.hash);
  free(m);
}

void format_memory_free(struct format_memory *all) {
  while (all)
    forget(&all);
}

struct top_memory *format_memory_of(struct format_memory **all, const char *labels) {
  struct format_memory *m = all ? *all : NULL;
  if (!all)
    return NULL;
  while (m && strcmp(m->labels, labels) != 0)
    m = m->next;
  if (!m) {
    m = allocate(1, sizeof *m);
    *m = (struct format_memory){.next = *all, .labels = print_string("%s", labels)};
    *all = m;
  }
  m->there = true;
  return &m->top;
}

void format_memory_forget(struct format_memory **at) {
  while (at && *at)
    if ((*at)->there) {
      (*at)->there = false;
      at = &(*at)->next;
    } else
      forget(at);
}
