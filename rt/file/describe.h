/* SPDX-License-Identifier: MIT */
/*
 * What a process and its modules are, for readers of the profile.
 *
 * Purpose: fills the constant part of the header; names modules.
 * Cost: a few small files of /proc, once a process. Locking: none.
 */
#ifndef APROF_DESCRIBE_H
#define APROF_DESCRIBE_H

#include "rt/rt.h"

struct dl_phdr_info; /* link.h */

/* All but times, clock and numbers. On a small stack, one thread at a time. */
void describe_process(struct aprof_header *h);

/* The short name of the file that `inside` lies in, printable. Takes the loader's lock, which the
   caller of a constructor holds. */
void describe_module(const void *inside, char *name, size_t room);

#define BUILD_ID 24
/* Its length; 0: it has none, or a longer one. */
uint32_t describe_build_id(const struct dl_phdr_info *module, uint8_t id[BUILD_ID]);

#endif
