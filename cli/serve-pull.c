/* SPDX-License-Identifier: MIT */
/* Documents from other servers; see serve-pull.h. */
#include "serve-pull.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CURL
#include <curl/curl.h>

/* Seconds until somebody is there, and for all of an answer. */
enum { CONNECT = 5, WHOLE = 20, CONNECTIONS = 64, EXTRA = 4 };

struct pulls {
  CURLM *multi;
};

struct pull {
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
  curl_easy_setopt(p->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT);
  curl_easy_setopt(p->easy, CURLOPT_TIMEOUT, (long)WHOLE);
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
  *p = (struct pull){.easy = curl_easy_init(), .most = w->most, .done = done, .context = context};
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

static void tell_done(struct pulls *all) {
  CURLMsg *message;
  int left;
  while ((message = curl_multi_info_read(all->multi, &left))) {
    char *context = NULL;
    if (message->msg != CURLMSG_DONE)
      continue;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
    struct pull *p = (struct pull *)(void *)context;
    struct pulled r = result_of(p, message->data.result);
    p->done(p->context, &r);
    pull_cancel(all, p);
  }
}

int pulls_poll(struct pulls *all, struct pollfd *fds, size_t count, int ms) {
  struct curl_waitfd extra[EXTRA];
  int running = 0, ready = 0;
  for (size_t i = 0; i < count; i++)
    extra[i] = (struct curl_waitfd){.fd = fds[i].fd, .events = CURL_WAIT_POLLIN};
  curl_multi_perform(all->multi, &running);
  tell_done(all);
  /* Without an end it waits for an hour. */
  curl_multi_poll(all->multi, extra, (unsigned)count, ms < 0 ? 3600000 : ms, &ready);
  for (size_t i = 0; i < count; i++)
    fds[i].revents = extra[i].revents & CURL_WAIT_POLLIN ? POLLIN : 0;
  curl_multi_perform(all->multi, &running);
  tell_done(all);
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

int pulls_poll(struct pulls *all, struct pollfd *fds, size_t count, int ms) {
  (void)all;
  return poll(fds, count, ms);
}
#endif
