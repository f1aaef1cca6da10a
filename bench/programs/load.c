/* SPDX-License-Identifier: MIT */
/*
 * Load for a server on this machine, at a fixed rate or as fast as it answers, and what the
 * server spent on it.
 *
 *     load get PORT | load PATH PORT   [connections=16] [rate=0] [seconds=2] [requests=0] [pid=0]
 *
 * `get` speaks memcached's text protocol, a PATH that begins with '/' HTTP/1.1; connections
 * stay open. With a rate, request i is due i/rate seconds after the first and its latency
 * counts from then, also when every connection was busy: what a slow answer delays is not
 * forgotten. Ends after `seconds`, or after `requests` if that is given. The processor time
 * is that of all threads of `pid`, to the nanosecond, from the first request to the last.
 *
 * Prints one line: requests, errors, requests/s, CPU us/request, p50, p99 and max in us.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, KEYS = 1000 };

static struct options {
  const char *what;
  int port, connections, pid;
  double rate, seconds;
  long requests;
} options = {.connections = 16, .seconds = 2};

static struct connection {
  uint64_t due_ns; /* of the request under way; 0: idle */
  size_t length;
  char in[65536];
} connections[MOST];
static struct pollfd polls[MOST];

static uint32_t *latencies; /* ns */
static size_t answered, room, errors;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void die(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void open_connection(int i) {
  struct sockaddr_in to = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)options.port),
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
    die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  polls[i] = (struct pollfd){.fd = fd, .events = POLLIN};
}

/* Nanoseconds that all threads of the server have run. */
static uint64_t server_cpu(void) {
  char path[300];
  uint64_t sum = 0;
  snprintf(path, sizeof path, "/proc/%d/task", options.pid);
  DIR *tasks = options.pid > 0 ? opendir(path) : NULL;
  for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
    unsigned long long ran;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", options.pid, task->d_name);
    FILE *file = task->d_name[0] != '.' ? fopen(path, "r") : NULL;
    if (file != NULL && fscanf(file, "%llu", &ran) == 1)
      sum += ran;
    if (file != NULL)
      fclose(file);
  }
  if (tasks != NULL)
    closedir(tasks);
  return sum;
}

static void send_request(int i, uint64_t due_ns) {
  static unsigned number;
  char text[512];
  int length =
      options.what[0] == '/'
          ? snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: here\r\n\r\n", options.what)
          : snprintf(text, sizeof text, "get key%u\r\n", number++ % KEYS);
  connections[i].due_ns = due_ns;
  connections[i].length = 0;
  if (send(polls[i].fd, text, (size_t)length, MSG_NOSIGNAL) != length)
    die("send");
}

/* Is the answer whole? */
static int is_whole(struct connection *c) {
  c->in[c->length] = '\0';
  if (options.what[0] != '/')
    return c->length >= 5 && memcmp(c->in + c->length - 5, "END\r\n", 5) == 0;
  char *body = strstr(c->in, "\r\n\r\n"), *field = strcasestr(c->in, "content-length:");
  return body != NULL && field != NULL &&
         (size_t)(body + 4 - c->in) + strtoul(field + 15, NULL, 10) <= c->length;
}

static void answer_over(struct connection *c, uint64_t now) {
  if (answered == room) {
    room = room != 0 ? room * 2 : 1 << 16;
    latencies = realloc(latencies, room * sizeof *latencies);
    if (latencies == NULL)
      die("memory");
  }
  errors += memcmp(c->in, options.what[0] == '/' ? "HTTP/1.1 200" : "VALUE",
                   options.what[0] == '/' ? 12 : 5) != 0;
  latencies[answered++] = (uint32_t)(now - c->due_ns);
  c->due_ns = 0;
}

static void receive(int i) {
  struct connection *c = &connections[i];
  ssize_t got = recv(polls[i].fd, c->in + c->length, sizeof c->in - 1 - c->length, 0);
  if (got <= 0)
    die("the server closed a connection");
  c->length += (size_t)got;
  if (c->due_ns != 0 && is_whole(c))
    answer_over(c, now_ns());
}

/* Sends what is due, while connections are free. The next due time, or 0: never. */
static uint64_t send_due(long *sent, uint64_t begin, uint64_t end, int *under_way) {
  *under_way = 0;
  for (int i = 0; i < options.connections; i++)
    *under_way += connections[i].due_ns != 0;
  for (int i = 0; i < options.connections; i++) {
    uint64_t now = now_ns(), due = now;
    if (options.rate > 0)
      due = begin + (uint64_t)((double)*sent * 1e9 / options.rate);
    if (due >= end || (options.requests > 0 && *sent >= options.requests))
      return 0;
    if (due > now)
      return due;
    if (connections[i].due_ns == 0) {
      send_request(i, due);
      ++*sent;
      ++*under_way;
    }
  }
  return options.rate > 0 ? now_ns() + 1000000 : 0;
}

static void run(uint64_t begin, uint64_t end) {
  long sent = 0;
  for (int under_way = 1;;) {
    uint64_t due = send_due(&sent, begin, end, &under_way), now = now_ns();
    if (under_way == 0 && due == 0)
      return;
    uint64_t rest = due > now ? due - now : due != 0 ? 0 : 1000000000u;
    struct timespec wait = {(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
    if (ppoll(polls, (nfds_t)options.connections, &wait, NULL) < 0)
      die("poll");
    for (int i = 0; i < options.connections; i++)
      if (polls[i].revents != 0)
        receive(i);
  }
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* What `get` will ask for. */
static void store_values(void) {
  char value[401], text[600], in[64];
  memset(value, 'v', 400);
  value[400] = '\0';
  for (int i = 0; i < KEYS; i++) {
    int length = snprintf(text, sizeof text, "set key%d 0 0 400\r\n%s\r\n", i, value);
    if (send(polls[0].fd, text, (size_t)length, MSG_NOSIGNAL) != length ||
        recv(polls[0].fd, in, sizeof in, 0) <= 0)
      die("set");
  }
}

static int parse(int argc, char **argv) {
  if (argc < 3 || (argv[1][0] != '/' && strcmp(argv[1], "get") != 0))
    return 0;
  options.what = argv[1];
  options.port = atoi(argv[2]);
  for (int i = 3; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    double number = value != NULL ? atof(value + 1) : 0;
    if (strncmp(argv[i], "connections=", 12) == 0)
      options.connections = (int)number;
    else if (strncmp(argv[i], "rate=", 5) == 0)
      options.rate = number;
    else if (strncmp(argv[i], "seconds=", 8) == 0)
      options.seconds = number;
    else if (strncmp(argv[i], "requests=", 9) == 0)
      options.requests = (long)number;
    else if (strncmp(argv[i], "pid=", 4) == 0)
      options.pid = (int)number;
    else
      return 0;
  }
  return options.connections >= 1 && options.connections <= MOST;
}

int main(int argc, char **argv) {
  if (!parse(argc, argv)) {
    fprintf(stderr, "usage: load get|PATH PORT [connections=N] [rate=N] [seconds=N]"
                    " [requests=N] [pid=N]\n");
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1);
  for (int i = 0; i < options.connections; i++)
    open_connection(i);
  if (options.what[0] != '/')
    store_values();
  uint64_t begin = now_ns(), cpu = server_cpu();
  run(begin, options.requests > 0 ? UINT64_MAX : begin + (uint64_t)(options.seconds * 1e9));
  cpu = server_cpu() - cpu;
  double took = (double)(now_ns() - begin) / 1e9;
  if (answered == 0)
    die("nothing was answered");
  qsort(latencies, answered, sizeof *latencies, ascending);
  printf("%zu\t%zu\t%.0f\t%.3f\t%.1f\t%.1f\t%.1f\n", answered, errors, (double)answered / took,
         (double)cpu / 1e3 / (double)answered, latencies[answered / 2] / 1e3,
         latencies[answered * 99 / 100] / 1e3, latencies[answered - 1] / 1e3);
  return errors != 0;
}
