/* SPDX-License-Identifier: MIT */
/*
 * The kernel's time line of what is recorded: samples and switches of a live process go into its
 * recording. Where the kernel refuses, it is said why, and the recording goes on without.
 * Cost: see probe/sampler.h. Locking: none.
 */
#ifndef APROF_CLI_SAMPLING_H
#define APROF_CLI_SAMPLING_H

#include "find.h"
#include "probe/sampler.h"
#include "record/recorder.h"

enum { SAMPLING_USUAL = 99, SAMPLING_MOST = 1000 }; /* hertz */

struct sampling;

/* NULL: nothing is wished, or after a message. */
struct sampling *sampling_begin(const struct found *, const struct aprof_header *,
                                const struct sampler_wish *, struct recorder *);
/* What has come since; after recorder_poll. NULL: nothing. */
void sampling_poll(struct sampling *);
/* Before the recorder ends its file, or begins another. */
void sampling_names(struct sampling *);
/* ", 1.2k samples": for the end's line; "" where there are none. Until the next of such texts. */
const char *sampling_says(const struct sampling *);
void sampling_free(struct sampling *);

#endif
