/* SPDX-License-Identifier: MIT */
/* Documents from other servers; see serve-pull.h. */
#include "serve-pull.h"

#include "read/util.h"
#include "serve-document.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CURL
#include <curl/curl.h>

/* Seconds until somebody is there, and for all of an answer. */
enum { CONNECT = 5, WHOLE = 20, CONNECTIONS = 64, EXTRA = 4 };
/* Whether somebody is late is looked at that often, ms; a look counts as so long, ns, however
 * short. */
enum { TELL_MS = 500, PASS = 1000000 };
#define SECOND ((int64_t)1000000000)

struct pulls {
  CURLM *multi;
  struct pull *first;
  int64_t clock; /* ns that it has listened; while it does not, nobody is slow */
};

struct pull {
  struct pull *next;
  int64_t began; /* by that clock */
  CURL *easy;
  struct curl_slist *header, *connect;
  char *text;
  size_t length, room, most;
  bool too_long;
  pull_done *done;
  void *context;
};

struct pulls *pulls_new(void) {
  if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
    complain("libcurl does not start");
    return NULL;
  }
  struct pulls *all = allocate(1, sizeof *all);
  all->multi = curl_multi_init();
  curl_multi_setopt(all->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)CONNECTIONS);
  return all;
}

void pulls_free(struct pulls *all) {
  if (!all)
    return;
  curl_multi_cleanup(all->multi);
  curl_global_cleanup();
  free(all);
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  struct pull *p = context;
  size_t more = size * count;
  if (more > p->most - p->length) {
    p->too_long = true;
    return 0;
  }
  while (p->length + more + 1 > p->room) {
    p->room = p->room ? p->room * 2 : 16384;
    p->text = reallocate(p->text, p->room, 1);
  }
  memcpy(p->text + p->length, bytes, more);
  p->length += more;
  p->text[p->length] = 0;
  return more;
}

static void set_options(struct pull *p, const char *url) {
  curl_easy_setopt(p->easy, CURLOPT_URL, url);
  curl_easy_setopt(p->easy, CURLOPT_PRIVATE, p);
  curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->header);
  curl_easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(p->easy, CURLOPT_WRITEDATA, p);
  curl_easy_setopt(p->easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(p->easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(p->easy, CURLOPT_PROXY, "");
  curl_easy_setopt(p->easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(p->easy, CURLOPT_USERAGENT, "aprof");
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(p->easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(p->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

struct pull *pull_start(struct pulls *all, const struct pull_wish *w, pull_done *done,
                        void *context) {
  struct pull *p = allocate(1, sizeof *p);
  *p = (struct pull){.next = all->first,
                     .began = all->clock,
                     .easy = curl_easy_init(),
                     .most = w->most,
                     .done = done,
                     .context = context};
  all->first = p;
  if (w->token) {
    char *line = print_string("Authorization: Bearer %s", w->token);
    p->header = curl_slist_append(NULL, line);
    free(line);
  }
  if (w->connect) {
    p->connect = curl_slist_append(NULL, w->connect);
    curl_easy_setopt(p->easy, CURLOPT_CONNECT_TO, p->connect);
  }
  set_options(p, w->url);
  curl_multi_add_handle(all->multi, p->easy);
  return p;
}

void pull_cancel(struct pulls *all, struct pull *p) {
  struct pull **at = &all->first;
  while (*at != p)
    at = &(*at)->next;
  *at = p->next;
  curl_multi_remove_handle(all->multi, p->easy);
  curl_easy_cleanup(p->easy);
  curl_slist_free_all(p->header);
  curl_slist_free_all(p->connect);
  free(p->text);
  free(p);
}

static struct pulled result_of(const struct pull *p, CURLcode code) {
  struct pulled r = {.text = p->text ? p->text : "", .length = p->length};
  long status = 0;
  curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
  r.status = (unsigned)status;
  if (code == CURLE_OK)
    return r;
  r.fault = p->too_long                        ? PULL_WRONG
            : code == CURLE_OPERATION_TIMEDOUT ? PULL_SLOW
            : code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
                    code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
                    code == CURLE_GOT_NOTHING
                ? PULL_GONE
                : PULL_WRONG;
  r.says = p->too_long                              ? "its answer is too long"
           : code == CURLE_OPERATION_TIMEDOUT       ? "it takes too long to answer"
           : code == CURLE_COULDNT_CONNECT          ? "nobody listens there"
           : code == CURLE_COULDNT_RESOLVE_HOST     ? "there is no host of that name"
           : code == CURLE_PEER_FAILED_VERIFICATION ? "its certificate is not trusted here"
           : r.fault == PULL_GONE                   ? "it hung up"
                                                    : "what it answers is no HTTP";
  return r;
}

static void tell(struct pulls *all, struct pull *p, CURLcode code) {
  struct pulled r = result_of(p, code);
  p->done(p->context, &r);
  pull_cancel(all, p);
}

static bool is_late(const struct pulls *all, const struct pull *p) {
  long asked = 0; /* bytes: somebody is there */
  curl_easy_getinfo(p->easy, CURLINFO_REQUEST_SIZE, &asked);
  return all->clock - p->began > (asked ? WHOLE : CONNECT) * SECOND;
}

/* One of them, as taking an answer may be long; whether there may be more. */
static bool tell_done(struct pulls *all) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(all->multi, &left))) {
    char *context = NULL;
    if (message->msg != CURLMSG_DONE)
      continue;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
    tell(all, (struct pull *)(void *)context, message->data.result);
    return true;
  }
  for (struct pull *p = all->first; p; p = p->next)
    if (is_late(all, p)) {
      tell(all, p, CURLE_OPERATION_TIMEDOUT);
      return true;
    }
  return false;
}

size_t pulls_held(const struct pulls *all) {
  size_t sum = 0;
  for (const struct pull *p = all->first; p; p = p->next)
    sum += p->room;
  return sum;
}

int pulls_poll(struct pulls *all, struct pollfd *fds, size_t count, int ms) {
  struct curl_waitfd extra[EXTRA];
  int running = 0, ready = 0;
  for (size_t i = 0; i < count; i++)
    extra[i] = (struct curl_waitfd){.fd = fds[i].fd, .events = CURL_WAIT_POLLIN};
  curl_multi_perform(all->multi, &running);
  if (tell_done(all))
    ms = 0;
  else if (all->first && (ms < 0 || ms > TELL_MS))
    ms = TELL_MS;
  int64_t begin = monotonic_now();
  /* Without an end it waits for an hour. */
  curl_multi_poll(all->multi, extra, (unsigned)count, ms < 0 ? 3600000 : ms, &ready);
  for (size_t i = 0; i < count; i++)
    fds[i].revents = extra[i].revents & CURL_WAIT_POLLIN ? POLLIN : 0;
  curl_multi_perform(all->multi, &running);
  all->clock += monotonic_now() - begin + PASS;
  return ready;
}
#else

struct pulls *pulls_new(void) {
  complain("--from: this aprof was built without libcurl, so it asks no other: install "
           "libcurl4-openssl-dev, then configure and build again");
  return NULL;
}

void pulls_free(struct pulls *all) {
  (void)all;
}

struct pull *pull_start(struct pulls *all, const struct pull_wish *w, pull_done *done,
                        void *context) {
  (void)all, (void)w, (void)done, (void)context;
  return NULL;
}

void pull_cancel(struct pulls *all, struct pull *p) {
  (void)all, (void)p;
}

size_t pulls_held(const struct pulls *all) {
  (void)all;
  return 0;
}

int pulls_poll(struct pulls *all, struct pollfd *fds, size_t count, int ms) {
  (void)all;
  return poll(fds, count, ms);
}
#endif
