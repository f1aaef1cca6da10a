/* SPDX-License-Identifier: MIT */
/*
 * Labels of a host, as one text: "zone=a,rack=7", as OpenTelemetry has resource attributes.
 * Cost: that of the text. Locking: none.
 */
#ifndef APROF_READ_LABELS_H
#define APROF_READ_LABELS_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with one, "KEY=VALUE"; or NULL. */
const char *label_fault(const char *text);
/* Behind those that there are, in place of one of the same key; `labels` (or NULL) is taken. */
char *labels_add(char *labels, const char *label);
#define LABELS_NONE "(none)"
/* The value of that key; LABELS_NONE. `labels` may be NULL. */
const char *labels_get(struct arena *, const char *labels, const char *key);
/* Whether "KEY=VALUE" is one of them. */
bool labels_have(const char *labels, const char *label);
/* The first one, and how long its parts are; NULL: there is none. And the text behind it. */
const char *labels_next(const char *labels, size_t *key, size_t *value);
const char *labels_behind(const char *labels);

#endif
