/* Options, signals, and the loop that runs ready requests. */
#include "server.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: http-server [--port=N] [--root=DIR] [--burn=ROUTE:MS[:EVERY]] [--backend=PORT]\n"
    "       http-server --serve-backend [--port=N]\n"
    "Serves /hello, /delay?ms=N, /file/NAME, /quota and POST /upload on 127.0.0.1.\n"
    "  --port=N    0 (the default) takes a free one; it is printed\n"
    "  --root=DIR  files and uploads (default: .)\n"
    "  --burn=...  ROUTE (hello, delay, file, quota, upload) spends MS milliseconds of CPU\n"
    "              on every request, or on each EVERYth\n"
    "  --backend=PORT   /quota asks a backend that runs by itself\n"
    "  --serve-backend  is that backend\n";

static int fail(const char *what, const char *why) {
  fprintf(stderr, "http-server: %s: %s\n", what, why);
  return 2;
}

static int number(const char *text, unsigned *value) {
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  *value = (unsigned)n;
  return end != text && *end == '\0' && *text != '-' && n <= 65535 ? 0 : -1;
}

static int parse_burn(struct server *server, char *text) {
  char *name = strtok(text, ":"), *ms = strtok(NULL, ":"), *every = strtok(NULL, ":");
  server->burn.every = 1;
  if (name == NULL || ms == NULL || number(ms, &server->burn.ms) != 0 ||
      (every != NULL && (number(every, &server->burn.every) != 0 || server->burn.every == 0)))
    return -1;
  for (const struct route *route = routes; route->name != NULL; route++)
    if (strcmp(route->name, name) == 0)
      server->burn.route = route;
  return server->burn.route != NULL ? 0 : -1;
}

struct ports {
  unsigned own, backend; /* backend 0: on a thread */
  int serve_backend;
};

/* Returns -1 to go on, else the exit status. */
static int parse_options(struct server *server, struct ports *port, int argc, char **argv) {
  static const struct option options[] = {{"port", required_argument, NULL, 'p'},
                                          {"root", required_argument, NULL, 'r'},
                                          {"burn", required_argument, NULL, 'b'},
                                          {"backend", required_argument, NULL, 'k'},
                                          {"serve-backend", no_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if ((option == 'p' && number(optarg, &port->own) != 0) ||
        (option == 'k' && number(optarg, &port->backend) != 0))
      return fail(optarg, "not a port");
    port->serve_backend |= option == 's';
    if (option == 'r')
      server->root = optarg;
    if (option == 'b' && parse_burn(server, optarg) != 0)
      return fail(optarg, "not ROUTE:MS[:EVERY], see --help");
    if (option == 'h')
      return fputs(usage, stdout) < 0;
    if (option == '?')
      return 2;
  }
  return optind == argc ? -1 : fail(argv[optind], "unexpected argument");
}

static void on_signal(uv_signal_t *signal, int number) {
  struct server *server = signal->data;
  (void)number;
  if (server->stopping)
    return;
  server->stopping = 1;
  for (int i = 0; i < 2; i++)
    uv_close((uv_handle_t *)&server->signals[i], NULL); /* the next one kills */
  http_stop(server);
}

static void catch_signals(struct server *server) {
  static const int numbers[2] = {SIGINT, SIGTERM};
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&server->loop, &server->signals[i]);
    server->signals[i].data = server;
    uv_signal_start(&server->signals[i], on_signal, numbers[i]);
  }
}

static void run_ready(struct server *server) {
  struct request *request;
  while ((request = server->ready) != NULL) {
    server->ready = request->next_ready;
    if (server->ready == NULL)
      server->ready_end = &server->ready;
    if (request->replied || request->route->step(request) == DONE)
      request_end(request);
  }
}

int main(int argc, char **argv) {
  static struct server server = {.root = ".", .ready_end = &server.ready};
  struct ports port = {0};
  int status = parse_options(&server, &port, argc, argv);
  if (status >= 0)
    return status;

  signal(SIGPIPE, SIG_IGN);
  if (port.serve_backend)
    return backend_serve(port.own) == 0 ? 0 : fail("backend", "cannot be started");
  uv_loop_init(&server.loop);
  server.backend = port.backend != 0 ? backend_at(port.backend) : backend_start();
  if (server.backend == NULL)
    return fail("backend", "cannot be started");
  status = http_listen(&server, (int)port.own);
  if (status != 0)
    return fail("listen", uv_strerror(status));
  catch_signals(&server);

  do {
    run_ready(&server);
  } while (uv_run(&server.loop, UV_RUN_ONCE) != 0 || server.ready != NULL);

  backend_stop(server.backend);
  status = uv_loop_close(&server.loop);
  printf("served %llu requests\n", (unsigned long long)server.served);
  return status == 0 ? 0 : fail("loop", uv_strerror(status));
}
/* SPDX-License-Identifier: MIT */
