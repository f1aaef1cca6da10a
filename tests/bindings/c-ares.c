/* c-ares: questions to a name server of this program's own that knows no name and leaves some
   unanswered; addresses, which are answered inside the call that asks; a channel that is
   destroyed with questions under way. */
#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/select.h>

#include "count.h"

static struct count hosts = {.name = "on_host"}, at_once = {.name = "on_number"},
                    answers = {.name = "on_answer"}, infos = {.name = "on_info"};
static unsigned given_up;

/* "No such name" to every question, but not to those for v... */
static void *serve(void *arg) {
  unsigned char packet[512];
  struct sockaddr_in from;
  socklen_t size = sizeof from;
  ssize_t n;
  while ((n = recvfrom((int)(intptr_t)arg, packet, sizeof packet, 0, (struct sockaddr *)&from,
                       &size)) > 12) {
    packet[2] = 0x81;
    packet[3] = 0x83;
    if (packet[13] != 'v' &&
        sendto((int)(intptr_t)arg, packet, (size_t)n, 0, (struct sockaddr *)&from, size) != n)
      abort();
  }
  return NULL;
}

static void on_host(void *arg, int status, int timeouts, struct hostent *host) {
  (void)arg, (void)status, (void)timeouts, (void)host;
  hosts.done++;
  hosts.waits++;
}

static void on_number(void *arg, int status, int timeouts, struct hostent *host) {
  (void)arg, (void)status, (void)timeouts, (void)host;
  at_once.done++;
  at_once.waits++;
}

static void on_answer(void *arg, int status, int timeouts, unsigned char *data, int size) {
  (void)arg, (void)timeouts, (void)data, (void)size;
  given_up += status == ARES_EDESTRUCTION;
  answers.done++;
  answers.waits++;
}

static void on_info(void *arg, int status, int timeouts, struct ares_addrinfo *info) {
  (void)arg, (void)status, (void)timeouts;
  infos.done++;
  infos.waits++;
  if (info != NULL)
    ares_freeaddrinfo(info);
}

static int name_server(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  pthread_t thread;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(fd, (struct sockaddr *)&address, size) != 0 ||
      getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
      pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) != 0)
    abort();
  return ntohs(address.sin_port);
}

static void ask(ares_channel channel) {
  struct ares_addrinfo_hints hints = {.ai_family = AF_INET};
  for (int i = 0; i < 40; i++) {
    char name[64];
    snprintf(name, sizeof name, "h%d.example.", i);
    ares_query(channel, name, 1, 1, on_answer, NULL);
    answers.created++;
    ares_gethostbyname(channel, name, AF_INET, on_host, name + i % 5);
    hosts.created++;
    ares_gethostbyname(channel, "127.0.0.1", AF_INET, on_number, name);
    at_once.created++;
    ares_getaddrinfo(channel, name, NULL, &hints, on_info, NULL);
    infos.created++;
  }
  for (int i = 0; i < 3; i++) {
    ares_query(channel, "vain.example.", 1, 1, on_answer, NULL);
    answers.created++;
  }
}

int main(void) {
  ares_channel channel;
  char servers[40];
  snprintf(servers, sizeof servers, "127.0.0.1:%d", name_server());
  if (ares_library_init(ARES_LIB_INIT_ALL) != 0 || ares_init(&channel) != 0 ||
      ares_set_servers_ports_csv(channel, servers) != 0)
    return 1;
  ask(channel);
  while (hosts.done < 40 || infos.done < 40 || answers.done < 40) {
    fd_set readable, writable;
    struct timeval most, *timeout = ares_timeout(channel, NULL, &most);
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    int n = ares_fds(channel, &readable, &writable);
    select(n, &readable, &writable, NULL, timeout);
    ares_process(channel, &readable, &writable);
  }
  ares_destroy(channel);

  printf("%u given up\n", given_up);
  count_print(&hosts);
  count_print(&at_once);
  count_print(&answers);
  count_print(&infos);
  return 0;
}
/* SPDX-License-Identifier: MIT */
