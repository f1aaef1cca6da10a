/* SPDX-License-Identifier: MIT */
/* Asks other servers for a command that compares them. Cost, locking: as serve-agents.h. */
#ifndef APROF_CLI_SERVE_MANY_H
#define APROF_CLI_SERVE_MANY_H

#include "many.h"

extern const struct many_pull many_pull_by_curl;

#endif
