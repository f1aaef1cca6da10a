/* SPDX-License-Identifier: MIT */
/*
 * What lies where in a process that has the runtime linked into it: at its end one line for each
 * piece of memory that events read or write, "regions NAME BEGIN END", addresses in hexadecimal.
 * bench/lines.py tells by it which lines of a memory trace are whose.
 */
#include <stdio.h>

#include "rt/event/thread.h"
#include "rt/rt.h"

extern char __start_aprof_sites[], __stop_aprof_sites[];
extern struct aprof_gate APROF_GATE __attribute__((weak, visibility("hidden")));

static void region(const char *name, const void *begin, size_t size) {
  printf("region %s %lx %lx\n", name, (unsigned long)begin, (unsigned long)begin + size);
}

static const char *const chunks[] = {
    [APROF_CHUNK_COUNTERS] = "counters", [APROF_CHUNK_HISTOGRAMS] = "histograms",
    [APROF_CHUNK_FUTURES] = "records",   [APROF_CHUNK_KEYS] = "keys",
    [APROF_CHUNK_PRIVATE] = "tables",    [APROF_CHUNK_NODES] = "nodes",
    [APROF_CHUNK_BLOCK] = "segments",
};

static __attribute__((destructor)) void regions(void) {
  const struct thread *t = aprof_self;
  /* The first that an address lies in counts. */
  region("gate", &APROF_GATE, sizeof APROF_GATE);
  region("site", __start_aprof_sites, (size_t)(__stop_aprof_sites - __start_aprof_sites));
  region("common", &aprof_here, sizeof aprof_here);
  region("common", &rt, sizeof rt);
  region("paths", t->cache, t->paths + sizeof *t->cache);
  region("common", t, sizeof *t);
  region("common", t->block, sizeof *t->block);
  region("common", rt.header, sizeof *rt.header);
  for (uint64_t at = rt.header->header_size; at < rt.header->used;) {
    const struct aprof_chunk *chunk = (const struct aprof_chunk *)(rt_base() + at);
    const char *name = chunk->type < sizeof chunks / sizeof *chunks ? chunks[chunk->type] : NULL;
    region(name != NULL ? name : "other", chunk, chunk->size);
    at += chunk->size != 0 ? chunk->size : APROF_PAGE;
  }
}
