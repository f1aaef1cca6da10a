/*
 * Totals that come from outside, tested before anything is read from them.
 *
 * Purpose: what was edited, cut, merged badly or made by a damaged profile is told
 * by the first member that cannot be: of the wrong type, beyond what can be counted,
 * or at odds with an equation of the ledger (aprof-totals(5)). What is read after
 * that may rely on types; no number of a true file is ever refused, not even of a
 * torn profile: only what the writer derives is compared.
 * Cost: linear in the size of the totals. Locking: none.
 */
#ifndef APROF_READ_VERIFY_H
#define APROF_READ_VERIFY_H

#include <cjson/cJSON.h>

/* NULL where all is well; else what is wrong ("functions[3].wall_ns is 7, ..."), to be
   freed. `json` came from json_parse. */
char *verify_totals(const cJSON *json);

/* verify-fields.c: the types alone; after it the arrays hold objects, and members that
   are read are what they should be. */
char *verify_fields(const cJSON *json);

#endif
