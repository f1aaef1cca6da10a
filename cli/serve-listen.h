/* SPDX-License-Identifier: MIT */
/*
 * The address that is listened on.
 * Cost: none. Locking: none.
 */
#ifndef APROF_CLI_SERVE_LISTEN_H
#define APROF_CLI_SERVE_LISTEN_H

#include <stdbool.h>

struct listening {
  int fd;
  bool loopback;
  unsigned port;
  char *url; /* "http://127.0.0.1:9797/" */
};

/* `where`: ADDR:PORT, of which port 0 is any that is free. False after a message. */
bool listen_open(struct listening *, const char *where);
void listen_close(struct listening *);

#endif
