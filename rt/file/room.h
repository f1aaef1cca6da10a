/* SPDX-License-Identifier: MIT */
/*
 * How much memory a profile may take.
 *
 * Each takes of `wanted` bytes as many as there is room for: by the limits of the
 * process; a quarter of its control group's limit, which counts both a file in memory and a
 * memfd; a quarter of a directory's file system, where the program's own shared memory may lie,
 * in a container's 64 MB, and what forked children left: none where half of that is used. The
 * first is asked when the runtime is loaded, the others while a profile is opened.
 */
#ifndef APROF_RT_ROOM_H
#define APROF_RT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

uint64_t room_of_process(uint64_t wanted);
uint64_t room_of_group(uint64_t wanted);
uint64_t room_in(const char *dir, uint64_t wanted);
bool room_on_tmpfs(const char *dir);

#endif
