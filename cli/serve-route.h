/* SPDX-License-Identifier: MIT */
/*
 * Requests: what is at which path, for whom, and what is wrong with them.
 *
 * Purpose: a table of paths; whatever is not in it is refused with a status and one sentence.
 * Cost: that of the answer. Locking: none.
 */
#ifndef APROF_CLI_SERVE_ROUTE_H
#define APROF_CLI_SERVE_ROUTE_H

#include "serve-ask.h"
#include "serve-client.h"
#include "serve-guard.h"
#include "serve-listen.h"
#include "serve-source.h"

struct serve {
  struct listening listening;
  struct guard guard;
  struct source source;
  struct clients clients;
  struct streams streams;
  struct asks asks;
  struct MHD_Daemon *daemon;
};

/* As MHD calls them; the first argument is a struct serve. */
enum MHD_Result route_request(void *serve, struct MHD_Connection *, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **request);
void route_completed(void *serve, struct MHD_Connection *, void **request,
                     enum MHD_RequestTerminationCode);

#endif
