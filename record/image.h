/* SPDX-License-Identifier: MIT */
/*
 * Images of a profile in a recording.
 *
 * In: a copy of a profile, or its file while it lives. Out: frames with what the replay needs of
 * it: nodes, sites and names, futures, requests, blocks, counters; no histograms, no rings.
 * Cost: pages that are empty, or have not changed, are left out. Locking: none.
 */
#ifndef APROF_RECORD_IMAGE_H
#define APROF_RECORD_IMAGE_H

#include "read/profile.h"
#include "trace-write.h"

struct image;

struct image *image_new(void);
/* All of it, and its MARK. */
void image_write(struct image *, struct trace_writer *, const struct profile *, enum trace_image);
/* What has come to the tables of names since, of the live profile. */
void image_add(struct image *, struct trace_writer *, int fd);
void image_free(struct image *);

#endif
