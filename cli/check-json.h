/* SPDX-License-Identifier: MIT */
/* What `aprof check` has found, for programs: a struct check_result as JSON of ours, or as SARIF.
 */
#ifndef APROF_CLI_CHECK_JSON_H
#define APROF_CLI_CHECK_JSON_H

#include <stdio.h>

void check_json(const void *result, FILE *);
void check_sarif(const void *result, FILE *);

#endif
