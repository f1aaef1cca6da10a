/* SPDX-License-Identifier: MIT */
/* The address that is listened on; see serve-listen.h. */
#include "serve-listen.h"

#include "read/util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

/* The two halves of "ADDR:PORT", "[ADDR]:PORT". free() the first. */
static char *split(const char *where, const char **port) {
  const char *colon = strrchr(where, ':');
  uint64_t number;
  if (!colon || colon == where || !parse_number(colon + 1, &number) || number > 65535)
    return NULL;
  bool bracket = *where == '[';
  size_t length = (size_t)(colon - where);
  if (bracket && (length < 3 || where[length - 1] != ']'))
    return NULL;
  /* Of "::1" without brackets nobody knows where it ends. */
  if (!bracket && memchr(where, ':', length))
    return NULL;
  *port = colon + 1;
  return print_string("%.*s", (int)(length - 2 * bracket), where + bracket);
}

static bool is_loopback(const struct sockaddr_storage *address) {
  const struct sockaddr_in *four = (const struct sockaddr_in *)address;
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
  return address->ss_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&six->sin6_addr)
                                        : ntohl(four->sin_addr.s_addr) >> 24 == 127;
}

/* Whoever listens everywhere is reached by this machine's name. */
static char *url_of(const struct sockaddr_storage *address, unsigned port) {
  char text[INET6_ADDRSTRLEN] = "", name[256] = "";
  bool six = address->ss_family == AF_INET6;
  const void *number = six ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                           : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
  static const unsigned char any[16];
  inet_ntop(address->ss_family, number, text, sizeof text);
  if (!memcmp(number, any, six ? 16 : 4) && !gethostname(name, sizeof name - 1))
    return print_string("http://%s:%u/", name, port);
  return print_string(six ? "http://[%s]:%u/" : "http://%s:%u/", text, port);
}

static int open_socket(const struct addrinfo *a, struct sockaddr_storage *bound) {
  socklen_t length = sizeof *bound;
  int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0 &&
      getsockname(fd, (struct sockaddr *)bound, &length) == 0)
    return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool listen_open(struct listening *l, const char *where) {
  const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                 .ai_socktype = SOCK_STREAM};
  struct addrinfo *found = NULL;
  struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
  const char *port = NULL;
  char *address = split(where, &port);
  if (!address) {
    complain("--listen %s: it is ADDR:PORT, such as 127.0.0.1:9797, 0.0.0.0:9797 or [::1]:0",
             where);
    return false;
  }
  int fault = getaddrinfo(address, port, &hints, &found);
  l->fd = fault ? -1 : open_socket(found, &bound);
  if (l->fd < 0)
    complain("cannot listen on %s: %s%s", where, fault ? gai_strerror(fault) : strerror(errno),
             fault                 ? ""
             : errno == EADDRINUSE ? "; --listen ADDR:0 takes a port that is free"
             : errno == EACCES     ? "; ports below 1024 are root's"
                                   : "");
  else {
    l->loopback = is_loopback(&bound);
    l->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                : ((struct sockaddr_in *)&bound)->sin_port);
    l->url = url_of(&bound, l->port);
  }
  if (found)
    freeaddrinfo(found);
  free(address);
  return l->fd >= 0;
}

void listen_close(struct listening *l) {
  free(l->url);
}
