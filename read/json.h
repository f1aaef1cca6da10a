/* SPDX-License-Identifier: MIT */
/*
 * JSON with 64-bit integers, read by cJSON.
 *
 * Purpose: cJSON keeps numbers as doubles, which lose counters beyond 2^53;
 * they are read as strings after a scan has put quotes
 * around long ones.
 * Cost: one pass over a text before it is parsed. Locking: none.
 */
#ifndef APROF_READ_JSON_H
#define APROF_READ_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Digits that a double holds whatever they are. Integers with more are strings once
   they have been parsed. */
enum { JSON_EXACT_DIGITS = 15 };

/* As deep as a text may nest: beyond what any of ours does, within what cJSON does. */
enum { JSON_DEPTH = 500 };

/* A parsed text may take so much memory, whoever wrote it: some six times the length of
   totals. */
#define JSON_MEMORY ((size_t)1 << 30)

/* Parses a text, exact integers included; NULL with `*fault`, what is wrong with it
   ("not JSON from byte 12 on"), to be freed. The text is left alone. */
cJSON *json_parse(const char *text, size_t length, char **fault);
/* All of it, which nothing was added to or taken from; or NULL. */
void json_free(const cJSON *);

/* Readers of a parsed object; NULL, or the default, where a member is absent, null or of
   another type. */
const char *json_get_text(const cJSON *object, const char *name);
const cJSON *json_member(const cJSON *object, const char *name);
uint64_t json_value(const cJSON *item, uint64_t otherwise);

#endif
