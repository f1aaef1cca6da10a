/* SPDX-License-Identifier: MIT */
/* Sends bodies by libcurl; see push.h. */
#include "push.h"

#include "read/clock.h"
#include "read/util.h"

#ifdef HAVE_CURL
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds until somebody is there, and for all of an answer; bytes that wait, and of an answer that
   are looked at. */
enum { CONNECT = 5, WHOLE = 60, ANSWER = 4096, HEADERS_LIMIT = 64 << 10 };
#define QUEUE ((size_t)64 << 20)
/* The first wait before it is tried again, and the longest, ns. */
#define FIRST_WAIT UINT64_C(500000000)
#define LONGEST_WAIT UINT64_C(30000000000)

struct body {
  struct body *next;
  char *data;
  size_t length;
  uint64_t items;
  char *url; /* NULL: the pusher's */
};

struct pusher {
  struct push_options options;
  const struct format_push *of;
  char *url;
  struct curl_slist *header;
  CURL *easy;
  pthread_t sender;
  pthread_mutex_t lock; /* of the next six */
  pthread_cond_t moved;
  struct body *first, **last;
  size_t queued;
  bool ending;
  struct pushed done;
  uint64_t failing_since; /* the sender's, from here on; 0: it does not */
  unsigned tries;
  bool gone;
  char answer[ANSWER + 1];
  size_t answered;
};

/* -- one body -------------------------------------------------------------------------- */

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  struct pusher *p = context;
  size_t all = size * count, room = ANSWER - p->answered, kept = all < room ? all : room;
  memcpy(p->answer + p->answered, bytes, kept);
  p->answered += kept;
  p->answer[p->answered] = 0;
  return all;
}

enum outcome { TAKEN, LATER, NEVER };

/* As OTLP says it; others answer so where it helps to come again. */
static enum outcome outcome_of(long status) {
  if (status >= 200 && status < 300)
    return TAKEN;
  return status == 408 || status == 429 || status == 502 || status == 503 || status == 504 ? LATER
                                                                                           : NEVER;
}

static bool is_passing(CURLcode code) {
  return code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
         code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE;
}

static void set_fault(struct pusher *p, const char *text) {
  pthread_mutex_lock(&p->lock);
  snprintf(p->done.fault, sizeof p->done.fault, "%.255s", text);
  p->done.fault[strcspn(p->done.fault, "\r\n")] = 0;
  pthread_mutex_unlock(&p->lock);
}

static enum outcome send_once(struct pusher *p, const struct body *b, uint64_t *again_after) {
  long status = 0;
  curl_off_t seconds = 0;
  p->answered = 0;
  p->answer[0] = 0;
  curl_easy_setopt(p->easy, CURLOPT_URL, b->url ? b->url : p->url);
  curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, b->data);
  curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)b->length);
  CURLcode code = curl_easy_perform(p->easy);
  curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(p->easy, CURLINFO_RETRY_AFTER, &seconds);
  *again_after = seconds > 0 && seconds < 3600 ? (uint64_t)seconds * 1000000000 : 0;
  if (code != CURLE_OK) {
    set_fault(p, curl_easy_strerror(code));
    return is_passing(code) ? LATER : NEVER;
  }
  enum outcome outcome = outcome_of(status);
  if (outcome != TAKEN) {
    char text[ANSWER + 64];
    snprintf(text, sizeof text, "status %ld%s%s", status, p->answered ? ": " : "", p->answer);
    set_fault(p, text);
  }
  return outcome;
}

/* Longer each time, and never in step with others that lost the same server. */
static void wait_before(struct pusher *p, uint64_t again_after) {
  unsigned shift = p->tries < 6 ? p->tries : 6;
  uint64_t wait = FIRST_WAIT << shift, until;
  struct timespec at;
  wait = wait > LONGEST_WAIT ? LONGEST_WAIT : wait;
  wait = wait / 2 + (uint64_t)rand() % (wait / 2 + 1);
  wait = again_after > wait ? again_after : wait;
  until = p->failing_since + p->options.give_up;
  if (clock_monotonic() + wait > until)
    wait = until > clock_monotonic() ? until - clock_monotonic() : 0;
  at.tv_sec = (time_t)(wait / 1000000000);
  at.tv_nsec = (long)(wait % 1000000000);
  while (nanosleep(&at, &at) && errno == EINTR)
    continue;
  p->tries++;
}

static void count_retry(struct pusher *p) {
  pthread_mutex_lock(&p->lock);
  p->done.retries++;
  pthread_mutex_unlock(&p->lock);
}

static void count_end(struct pusher *p, const struct body *b, enum outcome outcome) {
  uint64_t lost = outcome == TAKEN && p->of->rejected ? p->of->rejected(p->answer, p->answered) : 0;
  if (lost)
    set_fault(p, "the server took a part only");
  if (outcome == TAKEN)
    p->failing_since = p->tries = 0;
  pthread_mutex_lock(&p->lock);
  p->done.bodies += outcome == TAKEN;
  p->done.items += outcome == TAKEN ? b->items : 0;
  p->done.rejected += lost;
  p->done.dropped += outcome == TAKEN ? 0 : b->items;
  p->done.gone |= outcome != TAKEN && p->gone;
  pthread_mutex_unlock(&p->lock);
}

static void deliver(struct pusher *p, const struct body *b) {
  enum outcome outcome = NEVER;
  uint64_t again_after;
  for (bool again = false; !p->gone; again = true) {
    if (again)
      count_retry(p);
    outcome = send_once(p, b, &again_after);
    if (outcome != LATER)
      break;
    p->failing_since = p->failing_since ? p->failing_since : clock_monotonic();
    p->gone = clock_monotonic() - p->failing_since >= p->options.give_up;
    if (!p->gone)
      wait_before(p, again_after);
  }
  count_end(p, b, outcome);
}

/* -- the queue ------------------------------------------------------------------------- */

static void *send_all(void *pusher) {
  struct pusher *p = pusher;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    struct body *b = p->first;
    if (!b && p->ending)
      break;
    if (!b) {
      pthread_cond_wait(&p->moved, &p->lock);
      continue;
    }
    pthread_mutex_unlock(&p->lock);
    deliver(p, b);
    pthread_mutex_lock(&p->lock);
    p->first = b->next;
    p->last = p->first ? p->last : &p->first;
    p->queued -= b->length;
    pthread_cond_broadcast(&p->moved);
    free(b->data);
    free(b->url);
    free(b);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* A URL without a path gets that of the format, and its query comes behind what there is. */
static char *url_of(const struct push_options *o, const char *own, const struct format_push *of) {
  const char *url = o->url, *host = strstr(url, "://") + 3, *query = strchr(host, '?');
  size_t length = query ? (size_t)(query - url) : strlen(url);
  const char *path = memchr(host, '/', (size_t)(url + length - host));
  bool bare = !path || path + 1 == url + length;
  char *base = print_string("%.*s%s", (int)(path && bare ? (size_t)(path - url) : length), url,
                            bare && of->path ? of->path : "");
  char *whole = print_string("%s%s%s%s", base, query ? query : "",
                             !own    ? ""
                             : query ? "&"
                                     : "?",
                             own ? own : "");
  free(base);
  return whole;
}

/* One body always has room. */
static void add_for(struct pusher *p, const char *query, char *data, size_t length,
                    uint64_t items) {
  struct body *b = allocate(1, sizeof *b);
  *b = (struct body){NULL, data, length, items, query ? url_of(&p->options, query, p->of) : NULL};
  pthread_mutex_lock(&p->lock);
  while (p->first && p->queued + length > QUEUE && !p->options.drops)
    pthread_cond_wait(&p->moved, &p->lock);
  bool room = !p->first || p->queued + length <= QUEUE;
  if (room) {
    *p->last = b;
    p->last = &b->next;
    p->queued += length;
  } else {
    p->done.dropped += items;
  }
  pthread_cond_broadcast(&p->moved);
  pthread_mutex_unlock(&p->lock);
  if (room)
    return;
  free(b->data);
  free(b->url);
  free(b);
}

static void add(struct pusher *p, char *data, size_t length, uint64_t items) {
  add_for(p, NULL, data, length, items);
}

static struct pushed numbers(struct pusher *p) {
  pthread_mutex_lock(&p->lock);
  struct pushed now = p->done;
  pthread_mutex_unlock(&p->lock);
  return now;
}

/* -- its begin and end ----------------------------------------------------------------- */

static bool add_headers(struct pusher *p) {
  size_t length;
  char *type = print_string("Content-Type: %s", p->of->type);
  p->header = curl_slist_append(p->header, type);
  p->header = curl_slist_append(p->header, "Expect:");
  free(type);
  if (!p->options.headers)
    return true;
  char *text = read_text_file(p->options.headers, HEADERS_LIMIT, &length), *rest = text;
  if (!text) {
    complain("cannot read %s: %s", p->options.headers, open_fault(errno));
    return false;
  }
  for (char *line; (line = strtok_r(rest, "\r\n", &rest));)
    if (strchr(line, ':'))
      p->header = curl_slist_append(p->header, line);
  free(text);
  return true;
}

static void release(struct pusher *p) {
  curl_slist_free_all(p->header);
  curl_easy_cleanup(p->easy);
  curl_global_cleanup();
  free(p->url);
  free(p);
}

static struct pusher *open(const struct push_options *options, const struct format_push *of) {
  if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
    complain("libcurl does not start");
    return NULL;
  }
  struct pusher *p = allocate(1, sizeof *p);
  p->options = *options;
  p->of = of;
  p->last = &p->first;
  p->url = url_of(options, options->query, of);
  p->easy = curl_easy_init();
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->moved, NULL);
  srand((unsigned)clock_monotonic());
  if (!add_headers(p)) {
    release(p);
    return NULL;
  }
  curl_easy_setopt(p->easy, CURLOPT_POST, 1L);
  curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->header);
  curl_easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(p->easy, CURLOPT_WRITEDATA, p);
  curl_easy_setopt(p->easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(p->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT);
  curl_easy_setopt(p->easy, CURLOPT_TIMEOUT, (long)WHOLE);
  curl_easy_setopt(p->easy, CURLOPT_USERAGENT, "aprof/" APROF_VERSION);
  if (pthread_create(&p->sender, NULL, send_all, p)) {
    complain("no thread can be made to send by");
    release(p);
    return NULL;
  }
  return p;
}

static void abandon(struct pusher *p, unsigned ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += ms / 1000;
  pthread_mutex_lock(&p->lock);
  p->ending = true;
  pthread_cond_broadcast(&p->moved);
  while (p->first && !pthread_cond_timedwait(&p->moved, &p->lock, &until))
    continue;
  for (const struct body *b = p->first; b; b = b->next)
    p->done.dropped += b->items;
  pthread_mutex_unlock(&p->lock);
}

static struct pushed finish(struct pusher *p) {
  pthread_mutex_lock(&p->lock);
  p->ending = true;
  pthread_cond_broadcast(&p->moved);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->sender, NULL);
  struct pushed done = p->done;
  release(p);
  return done;
}

const struct push push_by_curl = {open, add, finish, add_for, numbers, abandon};

#else

static struct pusher *open_none(const struct push_options *options, const struct format_push *of) {
  (void)options, (void)of;
  complain("this aprof was built without libcurl, so it does not push: write a file (-o), and have "
           "curl send it");
  return NULL;
}

const struct push push_by_curl = {.open = open_none};
#endif
