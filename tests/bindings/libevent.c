/* libevent: an echo server and its clients in one loop, a repeated timer, events
   that happen once or are made active by hand, an HTTP server and its client. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "count.h"

enum { CLIENTS = 5, ROUNDS = 4, TICKS = 6 };

static struct count tick = {.name = "on_tick"}, later = {.name = "on_later"},
                    accepted = {.name = "on_accept"}, serve = {.name = "on_serve"},
                    closed = {.name = "on_close"}, echo = {.name = "on_echo"},
                    page = {.name = "on_page"}, answer = {.name = "on_answer"},
                    poked = {.name = "on_poke"}, pushed = {.name = "on_push"};
static struct event_base *base;
static struct event *ticker, *pusher;
static unsigned clients_gone, servers_gone;

static void on_later(evutil_socket_t fd, short what, void *arg) {
  (void)fd, (void)what, (void)arg;
  later.waits++;
  later.done++;
}

/* Of an event that is never added. */
static void on_poke(evutil_socket_t fd, short what, void *arg) {
  (void)fd, (void)what, (void)arg;
  poked.done++;
}

/* Of a timer that is pushed back at each tick, and comes behind the last. */
static void on_push(evutil_socket_t fd, short what, void *arg) {
  (void)fd, (void)what, (void)arg;
  pushed.waits++;
  pushed.done++;
}

static void push(void) {
  const struct timeval soon = {0, 30000};
  pushed.created += !event_pending(pusher, EV_TIMEOUT, NULL);
  event_add(pusher, &soon);
}

static void poke(struct event *event) {
  event_active(event, EV_READ, 1);
  event_active(event, EV_READ, 1); /* it is already */
  poked.created++;
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {
  const struct timeval now = {0, 0};
  (void)fd, (void)what, (void)arg;
  tick.waits++;
  event_base_once(base, -1, EV_TIMEOUT, on_later, NULL, &now);
  later.created++;
  poke(arg);
  push();
  if (tick.waits < TICKS)
    return;
  event_del(ticker);
  tick.done++;
}

/* -- the server ------------------------------------------------------------------ */

static void on_serve(struct bufferevent *peer, void *arg) {
  (void)arg;
  serve.waits++;
  bufferevent_write_buffer(peer, bufferevent_get_input(peer));
}

static void on_close(struct bufferevent *peer, short what, void *arg) {
  (void)what, (void)arg;
  closed.waits++;
  closed.done++;
  serve.done++;
  serve.waits++; /* closed while it waited for more */
  servers_gone++;
  bufferevent_free(peer);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from,
                      int length, void *arg) {
  struct bufferevent *peer = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
  (void)listener, (void)from, (void)length, (void)arg;
  accepted.waits++;
  bufferevent_setcb(peer, on_serve, NULL, on_close, NULL);
  serve.created++;
  closed.created++;
  bufferevent_enable(peer, EV_READ);
}

/* -- clients ----------------------------------------------------------------------- */

static void on_echo(struct bufferevent *peer, void *arg) {
  unsigned *rounds = arg;
  echo.waits++;
  evbuffer_drain(bufferevent_get_input(peer), evbuffer_get_length(bufferevent_get_input(peer)));
  if (++*rounds < ROUNDS) {
    bufferevent_write(peer, "hello", 5);
    return;
  }
  bufferevent_free(peer);
  echo.done++;
  clients_gone++;
}

static void start_client(const struct sockaddr *to, socklen_t length, unsigned *rounds) {
  struct bufferevent *peer = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
  bufferevent_setcb(peer, on_echo, NULL, NULL, rounds);
  echo.created++;
  bufferevent_enable(peer, EV_READ);
  bufferevent_write(peer, "hello", 5);
  if (bufferevent_socket_connect(peer, (struct sockaddr *)to, (int)length) != 0)
    abort();
}

/* -- HTTP ----------------------------------------------------------------------------- */

static void on_page(struct evhttp_request *request, void *arg) {
  struct evbuffer *text = evbuffer_new();
  (void)arg;
  page.waits++;
  evbuffer_add(text, "hello", 5);
  evhttp_send_reply(request, 200, "OK", text);
  evbuffer_free(text);
}

static void on_answer(struct evhttp_request *request, void *arg) {
  (void)arg;
  if (!request || evhttp_request_get_response_code(request) != 200)
    abort();
  answer.waits++;
  answer.done++;
}

static void get_page(struct evhttp_connection *connection) {
  evhttp_make_request(connection, evhttp_request_new(on_answer, NULL), EVHTTP_REQ_GET, "/");
  answer.created++;
}

static struct evhttp_connection *start_http(struct evhttp **http) {
  struct evhttp_bound_socket *bound;
  struct evhttp_connection *connection;
  struct sockaddr_in name;
  socklen_t length = sizeof name;
  *http = evhttp_new(base);
  bound = evhttp_bind_socket_with_handle(*http, "127.0.0.1", 0);
  if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&name, &length))
    abort();
  evhttp_set_gencb(*http, on_page, NULL);
  page.created++;
  connection = evhttp_connection_base_new(base, NULL, "127.0.0.1", ntohs(name.sin_port));
  for (int i = 0; i < 3; i++)
    get_page(connection);
  return connection;
}

int main(void) {
  const struct timeval two_ms = {0, 2000};
  struct sockaddr_in name;
  socklen_t length = sizeof name;
  unsigned rounds[CLIENTS] = {0};
  struct evconnlistener *listener;
  struct evhttp_connection *connection;
  struct evhttp *http;
  struct event *by_hand, *kept;

  base = event_base_new();
  by_hand = event_new(base, -1, 0, on_poke, NULL);
  event_add(by_hand, NULL); /* there is nothing that it could wait for: it is not added */
  kept = event_new(base, -1, EV_PERSIST, on_poke, &poked);
  poke(kept);
  pusher = evtimer_new(base, on_push, NULL);
  ticker = event_new(base, -1, EV_PERSIST, on_tick, by_hand);
  tick.created++;
  event_add(ticker, &two_ms);

  memset(&name, 0, sizeof name);
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener = evconnlistener_new_bind(base, on_accept, NULL, LEV_OPT_CLOSE_ON_FREE, 16,
                                     (struct sockaddr *)&name, sizeof name);
  if (!listener ||
      getsockname(evconnlistener_get_fd(listener), (struct sockaddr *)&name, &length) != 0)
    return 1;
  accepted.created++;
  for (int i = 0; i < CLIENTS; i++)
    start_client((struct sockaddr *)&name, length, &rounds[i]);
  connection = start_http(&http);

  while (tick.waits < TICKS || later.done < TICKS || servers_gone < CLIENTS ||
         clients_gone < CLIENTS || answer.done < 3 || poked.done < poked.created ||
         pushed.done < pushed.created)
    event_base_loop(base, EVLOOP_ONCE);

  evhttp_connection_free(connection);
  evhttp_free(http);
  evconnlistener_free(listener);
  accepted.done++;
  accepted.waits++;
  event_free(ticker);
  event_free(pusher);
  event_free(by_hand);
  event_free(kept);
  event_base_free(base);

  count_print(&tick);
  count_print(&later);
  count_print(&accepted);
  count_print(&serve);
  count_print(&closed);
  count_print(&echo);
  count_print(&page);
  count_print(&answer);
  count_print(&poked);
  count_print(&pushed);
  return 0;
}
/* SPDX-License-Identifier: MIT */
