/* SPDX-License-Identifier: MIT */
/*
 * A story, made piece by piece.
 *
 * Purpose: the replay makes one of a recording, tests make theirs by hand: make one, add to it in
 * any order in which what is named is there already, then finish. Each add returns a number;
 * whatever else its element has is set in the array. Texts are copied.
 * Cost: amortised constant an element; finish is linear. Locking: none.
 */
#ifndef APROF_RECORD_STORY_BUILD_H
#define APROF_RECORD_STORY_BUILD_H

#include "story.h"

struct story *story_new(void);
/* Equal ones are not folded. `parent` STORY_NONE: a root. */
uint32_t story_add_path(struct story *, uint32_t parent, enum story_path_kind, const char *name,
                        const char *file, uint32_t line);
uint32_t story_add_thread(struct story *, int32_t tid, const char *name);
/* `kind` NULL: as its function. It is whole, and has no root yet: the first future that is added
   to it becomes that. */
uint32_t story_add_request(struct story *, const char *kind, const char *function, uint64_t begin,
                           uint64_t end);
/* Of its path's function; lives until story_end_future, or the story's end. */
uint32_t story_add_future(struct story *, uint32_t path, uint32_t request, uint32_t creator,
                          uint64_t born);
void story_end_future(struct story *, uint32_t future, uint64_t over, enum story_end how);
/* Behind the last one of that future, which ends where this begins. */
uint32_t story_add_segment(struct story *, uint32_t future, enum story_what, uint32_t path,
                           uint64_t begin, uint64_t end);
uint32_t story_add_slice(struct story *, uint32_t thread, uint32_t future, uint64_t begin,
                         uint64_t end);
/* One that goes on with the share of the last one is that. */
void story_add_share(struct story *, const struct story_share *);
/* `texts`: as a TRACE_PROBE frame has them. NONE: there is no room for more. */
uint32_t story_add_probe(struct story *, const char *texts, size_t size);
uint32_t story_add_hit(struct story *, uint32_t probe, int32_t tid, uint64_t at);
/* Finds out whose hits are: a part of story_finish. story-hits.c */
void story_join_hits(struct story *);
const char *story_text(struct story *, const char *text);
/* Puts in order what has to be, and makes what follows: texts of paths, futures and sums of
   requests, slices of threads, the end, how many are partial. */
void story_finish(struct story *);

#endif
