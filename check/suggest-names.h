/* SPDX-License-Identifier: MIT */
/*
 * What names of functions and types tell, as libraries write them.
 *
 * Purpose: the only tables of such words. Cost: none worth a thought. Locking: none.
 */
#ifndef APROF_CHECK_SUGGEST_NAMES_H
#define APROF_CHECK_SUGGEST_NAMES_H

#include <stdbool.h>

/* One of the words stands in the name, between underscores, capitals or ends. */
bool has_word(const char *name, const char *const *words);
/* It is the last one. */
bool ends_in_word(const char *name, const char *const *words);

extern const char *const words_at_once[]; /* callbacks that are called before the call returns */
extern const char *const words_visit[];   /* functions that call back before they return */
extern const char *const words_first[];   /* the object of those that call back the first time */
extern const char *const words_once[];    /* callbacks that are called once, ... */
extern const char *const words_async[];   /* ... and functions that have them */
extern const char *const words_often[];   /* those that are called again and again */
extern const char *const words_get[];     /* what only tells or sets something */
extern const char *const words_end[];     /* what ends something, ... */
extern const char *const words_cancel[];  /* ... before its time */
extern const char *const words_wake[];    /* what makes something go on */
extern const char *const words_wait[];    /* what returns when something has happened */

#endif
