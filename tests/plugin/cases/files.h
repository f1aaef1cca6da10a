/* A library that knows nothing of aprof. */
#ifndef FILES_H
#define FILES_H

struct conn;
typedef void (*conn_cb)(struct conn *, int);
typedef int (*timer_cb)(void *);
struct conn {
  int fd;
  conn_cb callback;
};
struct pt {
  int state;
};

int lib_read(struct conn *, int n, conn_cb);
void lib_wrapper(conn_cb, struct conn *);
void lib_close(struct conn *, conn_cb);
void lib_fire(struct conn *);
void lib_wait(int);
int lib_alias(int) __asm__("lib_renamed_symbol");
#define lib_renamed lib_alias
int lib_fs_open(struct conn *, int, conn_cb);
int lib_fs_cleanup(struct conn *);
int lib_poll(void);

#endif
/* SPDX-License-Identifier: MIT */
