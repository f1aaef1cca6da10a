/* The library of files.c: compiled without the plugin. */
#include "files.h"

int lib_read(struct conn *c, int n, conn_cb callback) {
  c->callback = callback;
  return n > 0 ? 0 : -1;
}
void lib_wrapper(conn_cb callback, struct conn *c) { c->callback = callback; }
void lib_close(struct conn *c, conn_cb callback) { c->callback = callback; }
void lib_fire(struct conn *c) { c->callback(c, c->fd); }
void lib_wait(int x) { (void)x; }
int lib_alias(int x) { return x; }
int lib_fs_open(struct conn *c, int flags, conn_cb callback) {
  c->callback = callback;
  return flags;
}
int lib_fs_cleanup(struct conn *c) { return c->fd; }
int lib_poll(void) { return 0; }
/* SPDX-License-Identifier: MIT */
