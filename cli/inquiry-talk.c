/* SPDX-License-Identifier: MIT */
/* What goes between who asks and who answers; see inquiry.h. */
#include "inquiry.h"

#include <errno.h>
#include <unistd.h>

bool inquiry_read(int socket, struct inquiry_asked *asked) {
  size_t got = 0;
  while (got < sizeof *asked) {
    ssize_t some = read(socket, (char *)asked + got, sizeof *asked - got);
    if (some == 0 || (some < 0 && errno != EINTR))
      return false;
    got += some > 0 ? (size_t)some : 0;
  }
  asked->kind[INQUIRY_KIND - 1] = asked->function[INQUIRY_KIND - 1] = 0;
  return true;
}

static void send_all(int socket, const void *from, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t some = write(socket, (const char *)from + done, size - done);
    if (some < 0 && errno != EINTR)
      _exit(1);
    done += some > 0 ? (size_t)some : 0;
  }
}

void inquiry_send(int socket, bool refused, const char *text, size_t length) {
  struct inquiry_answer head = {.length = length, .refused = refused};
  send_all(socket, &head, sizeof head);
  send_all(socket, text, length);
}
