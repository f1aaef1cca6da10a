/* GNU libmicrohttpd: requests that are answered at once, that are suspended for a while, with a
   body in parts, and one that is refused; a client of bare sockets asks for them in turn. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "count.h"

static struct count requests = {.name = "on_request"};
static struct MHD_Connection *suspended;
static int suspends[2];

/* Of the daemon's thread alone, but for what the pipe hands over. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state) {
  (void)arg, (void)method, (void)version, (void)data;
  if (*state == NULL) {
    requests.created++;
    *state = &requests;
    if (strcmp(url, "/no") != 0)
      return MHD_YES;
    requests.done++;
    return MHD_NO;
  }
  requests.waits++;
  if (*size != 0) {
    *size = 0;
    return MHD_YES;
  }
  if (strcmp(url, "/later") == 0 && *state == &requests) {
    *state = &suspended;
    suspended = connection;
    MHD_suspend_connection(connection);
    if (write(suspends[1], "s", 1) != 1)
      abort();
    return MHD_YES;
  }
  static char text[] = "done";
  struct MHD_Response *answer =
      MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_PERSISTENT);
  enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, answer);
  MHD_destroy_response(answer);
  requests.done++;
  return queued;
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how) {
  (void)arg, (void)connection, (void)how;
  *state = NULL;
}

static int dial(unsigned short port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
    abort();
  return fd;
}

/* True if the answer came, all of it. */
static int ask(int fd, const char *text, int resume) {
  char answer[4096] = "", c;
  size_t length = 0;
  if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
    abort();
  if (resume) {
    if (read(suspends[0], &c, 1) != 1)
      abort();
    MHD_resume_connection(suspended);
  }
  while (strstr(answer, "\r\n\r\ndone") == NULL) {
    ssize_t n = read(fd, answer + length, sizeof answer - 1 - length);
    if (n <= 0)
      return 0;
    length += (size_t)n;
    answer[length] = '\0';
  }
  return 1;
}

int main(void) {
  int answers = 0, refused = 0;
  if (pipe(suspends) != 0)
    return 1;
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, NULL,
      MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
  if (daemon == NULL)
    return 1;
  unsigned short port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
  int fd = dial(port);
  for (int i = 0; i < 10; i++) {
    answers += ask(fd, "GET /now HTTP/1.1\r\nHost: x\r\n\r\n", 0);
    answers += ask(fd, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n", 1);
    answers += ask(fd, "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 0);
  }
  refused = !ask(fd, "GET /no HTTP/1.1\r\nHost: x\r\n\r\n", 0);
  close(fd);
  MHD_stop_daemon(daemon);
  printf("%d answers, %d refused\n", answers, refused);
  count_print(&requests);
  return 0;
}
/* SPDX-License-Identifier: MIT */
