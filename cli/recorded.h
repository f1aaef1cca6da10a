/* SPDX-License-Identifier: MIT */
/* Recordings for who asks them: those that are named, or made now. */
#ifndef APROF_CLI_RECORDED_H
#define APROF_CLI_RECORDED_H

#include "probe/sampler.h"

#include <stdint.h>

/* The path of a recording: `target` if it is one, else of one that is made of that live process for
   so long, with what the kernel is asked for (NULL: nothing), which is gone when this command has
   ended. `by`: FILE:LINE or FUNCTION that is watched meanwhile; or NULL. NULL after a message. */
char *recording_of(const char *target, uint64_t span, const struct sampler_wish *, const char *by);
/* Before that, of one that was made so; takes the path. */
void recording_forget(char *path);

#endif
