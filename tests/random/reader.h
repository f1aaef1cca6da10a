/* SPDX-License-Identifier: MIT */
/*
 * A minimal profile reader for tests, written against profile.h alone.
 *
 * Purpose: turns the profile of this very process into rows, so that runtime
 * tests depend on neither the command nor its JSON. It trusts the bytes: it
 * reads what the runtime under test has just written, on a quiet process.
 * Cost: one pass over the file. Locking: none.
 */
#ifndef TESTS_RANDOM_READER_H
#define TESTS_RANDOM_READER_H

#include "aprof/profile.h"
#include "rows.h"

/* The profile mapped in this process, or NULL where there is none. */
const struct aprof_header *reader_find(void);

/* How a function that is known by its address only is called, and which number a
   thread has; both may stay NULL. */
extern const char *(*reader_address_name)(const void *address);
extern int (*reader_thread_number)(int32_t tid);

/*
 * Adds the totals as of `now` (ticks, which are ns on the virtual clock):
 *   function paths "a > b":  created done failed cancelled detached live exec
 *       queued waiting wall children_exec exec_max wall_max slices slice_max
 *       born_done, and buckets of the four histograms
 *   spans "a > s", "s":      done exec waiting children_exec
 *   awaits "a > b @ w":      count immediate waiting max, buckets
 *   "thread N":              exec idle other elapsed
 *   "health":                missed reused unmatched nested migrations lost
 */
void reader_rows(const struct aprof_header *header, uint64_t now, struct rows *rows);

/* And of its requests: "request LABEL of FUNCTION", "... tier NAME". */
void reader_request_rows(const struct aprof_header *header, struct rows *rows);

/* The same numbers of each function summed over its paths, under its name. */
void reader_function_rows(const struct aprof_header *header, uint64_t now, struct rows *rows);

/* Events of one enum aprof_miss that a site of this name sent ("(no such site)": of
   none), NULL: from anywhere. */
uint64_t reader_missed(const struct aprof_header *header, uint32_t kind, const char *site);

#endif
