/* SPDX-License-Identifier: MIT */
/* aprof suggest, which shares its program with aprof check. */
#ifndef APROF_CLI_SUGGEST_MAIN_H
#define APROF_CLI_SUGGEST_MAIN_H

#include <stddef.h>

/* Flags stand behind the words. */
int suggest_main(int argc, char **argv, char *const *flag, size_t flags);

#endif
