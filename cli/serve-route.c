/* SPDX-License-Identifier: MIT */
/* Requests; see serve-route.h. */
#include "serve-route.h"

#include "ask/value.h"
#include "read/util.h"
#include "serve-answer.h"
#include "show/served.h"

#include <stdlib.h>
#include <string.h>

/* A form with a token; nothing else has a body. */
enum { BODY_LIMIT = 1024 };

struct request {
  const struct refusal *refusal; /* found before all of it was there; or NULL */
  const struct route *route;
  struct feed_key key;
  bool has_pid, has_range, has_host, has_by, has_kind, has_where, has_function, posted;
  char function[FEED_KIND];
  int64_t since; /* monotonic ns */
  struct MHD_PostProcessor *form;
  char token[GUARD_TOKEN_MOST + 1];
  size_t length, body;
};

typedef enum MHD_Result answer_function(struct serve *, struct MHD_Connection *, struct request *);

struct route {
  const char *path;
  const char *methods; /* as an Allow header names them */
  bool public;         /* also for whoever has no token */
  bool about;          /* processes: it may be told which */
  bool by_kind;        /* and of which requests */
  bool of_one;         /* live process, which it has to be told */
  answer_function *answer;
  bool by_function; /* and of which function */
};

static const char *header_of(struct MHD_Connection *connection, const char *name) {
  return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* -- answers ------------------------------------------------------------------------------ */

static enum MHD_Result answer_metrics(struct serve *s, struct MHD_Connection *connection,
                                      struct request *request) {
  (void)request;
  const char *accept = header_of(connection, "Accept");
  bool open = accept && strstr(accept, "application/openmetrics-text");
  return answer_document(connection, MHD_HTTP_OK,
                         open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                              : "text/plain; version=0.0.4; charset=utf-8",
                         POLICY_NOTHING, source_metrics(&s->source, open));
}

static enum MHD_Result answer_processes(struct serve *s, struct MHD_Connection *connection,
                                        struct request *request) {
  (void)request;
  return answer_document(connection, MHD_HTTP_OK, MEDIA_JSON, POLICY_NOTHING,
                         source_processes(&s->source));
}

static const struct refusal no_process = {404, "no such process is profiled, or may be read; "
                                               "/api/processes lists them"};

static enum MHD_Result answer_shown(struct serve *s, struct MHD_Connection *connection,
                                    const struct request *request, enum shown_as as) {
  struct document *shown = source_shown(&s->source, as, &request->key);
  return shown ? answer_document(connection, MHD_HTTP_OK, MEDIA_JSON, POLICY_NOTHING, shown)
               : answer_sentence(connection, no_process.status, no_process.sentence, NULL);
}

static enum MHD_Result answer_totals(struct serve *s, struct MHD_Connection *connection,
                                     struct request *request) {
  return answer_shown(s, connection, request, SHOWN_TOTALS);
}

static enum MHD_Result answer_drawn(struct serve *s, struct MHD_Connection *connection,
                                    struct request *request) {
  return answer_shown(s, connection, request, SHOWN_PAGE);
}

static enum MHD_Result answer_events(struct serve *s, struct MHD_Connection *connection,
                                     struct request *request) {
  struct document *shown = source_shown(&s->source, SHOWN_TOTALS, &request->key);
  document_release(shown);
  if (!shown)
    return answer_sentence(connection, no_process.status, no_process.sentence, NULL);
  return answer_response(
      connection, MHD_HTTP_OK, "text/event-stream", POLICY_NOTHING,
      stream_open(&s->streams, connection, &request->key, answer_may_be_packed(connection)));
}

/* -- questions that need a recording --------------------------------------------------------- */

static enum MHD_Result answer_kept(struct serve *s, struct MHD_Connection *connection,
                                   struct request *request) {
  return answer_shown(s, connection, request, SHOWN_SLOW);
}

static enum MHD_Result begin_recording(struct serve *s, struct MHD_Connection *connection,
                                       const struct request *request, const struct asks_key *key) {
  return source_has_live(&s->source, &request->key.process)
             ? asks_begin(&s->asks, key, connection)
             : answer_sentence(connection, no_process.status, no_process.sentence, NULL);
}

static enum MHD_Result answer_recording(struct serve *s, struct MHD_Connection *connection,
                                        struct request *request) {
  const struct asks_key key = {.pid = request->key.process.pid};
  return request->posted ? begin_recording(s, connection, request, &key)
                         : asks_cost(&s->asks, key.pid, connection);
}

static enum MHD_Result answer_asked(struct serve *s, struct MHD_Connection *connection,
                                    struct request *request) {
  const char *name = request->route->path + strlen("/api/");
  const struct asks_key key = {request->key.process.pid,
                               strcmp(name, asks_probe.name) ? question_named(name) : &asks_probe,
                               request->key.kind, request->function};
  static const struct refusal no_function = {400, "function is the name of what is to be probed"};
  if (key.question == &asks_probe && !*key.function)
    return answer_sentence(connection, no_function.status, no_function.sentence, NULL);
  return request->posted ? begin_recording(s, connection, request, &key)
                         : asks_answer(&s->asks, &key, request->since, connection);
}

/* -- who has no token yet ---------------------------------------------------------------------- */

static bool write_form(void *wrong, FILE *out) {
  served_form(*(const bool *)wrong, out);
  return true;
}

static enum MHD_Result answer_form(struct MHD_Connection *connection, bool wrong) {
  struct document *form = document_make(write_form, &wrong);
  return form ? answer_document(connection, MHD_HTTP_UNAUTHORIZED, MEDIA_HTML, POLICY_FORM, form)
              : MHD_NO;
}

static enum MHD_Result answer_login(struct serve *s, struct MHD_Connection *connection,
                                    struct request *request) {
  request->token[request->length] = 0;
  if (!s->guard.token)
    return answer_sentence(connection, MHD_HTTP_NOT_FOUND, "no token is wanted here", NULL);
  if (!guard_is_token(&s->guard, request->token))
    return answer_form(connection, true);
  char *cookie =
      print_string("%s=%s; HttpOnly; SameSite=Strict; Path=/", s->guard.cookie, s->guard.session);
  enum MHD_Result result = answer_welcome(connection, cookie);
  free(cookie);
  return result;
}

static bool write_page(void *context, FILE *out) {
  (void)context;
  page_write(NULL, NULL, "'self'", out);
  return true;
}

static enum MHD_Result answer_page(struct serve *s, struct MHD_Connection *connection,
                                   struct request *request) {
  (void)s, (void)request;
  struct document *page = page_is_there() ? document_make(write_page, NULL) : NULL;
  return page ? answer_document(connection, MHD_HTTP_OK, MEDIA_HTML, POLICY_PAGE, page)
              : answer_sentence(
                    connection, MHD_HTTP_OK,
                    "this aprof was built without the page, for npm or a network was not there; "
                    "there are /metrics, /api/processes, /api/totals",
                    NULL);
}

static const struct route routes[] = {
    {"/", "GET, HEAD", false, false, false, false, answer_page, false},
    {"/login", "POST", true, false, false, false, answer_login, false},
    {"/metrics", "GET, HEAD", false, false, false, false, answer_metrics, false},
    {"/api/processes", "GET, HEAD", false, false, false, false, answer_processes, false},
    {"/api/page", "GET, HEAD", false, true, true, false, answer_drawn, false},
    {"/api/totals", "GET, HEAD", false, true, false, false, answer_totals, false},
    {"/api/events", "GET", false, true, true, false, answer_events, false},
    {"/api/slow", "GET, HEAD", false, true, true, false, answer_kept, false},
    {"/api/record", "GET, POST", false, true, false, true, answer_recording, false},
    {"/api/tail", "GET", false, true, true, true, answer_asked, false},
    {"/api/blame", "GET", false, true, true, true, answer_asked, false},
    {"/api/paths", "GET", false, true, true, true, answer_asked, false},
    {"/api/path", "GET", false, true, true, true, answer_asked, false},
    {"/api/cpu", "GET, POST", false, true, true, true, answer_asked, true},
    {"/api/probe", "GET, POST", false, true, false, true, answer_asked, true},
};

/* -- what is wrong -------------------------------------------------------------------------- */

static bool is_allowed(const char *methods, const char *method) {
  const char *at = strstr(methods, method);
  size_t length = strlen(method);
  return length && at && (at[length] == 0 || at[length] == ',');
}

static const struct refusal bad_pid = {400, "pid is the number of a process"},
                            bad_host = {400, "host is the name of one"},
                            bad_range = {400, "range is 10s, 1m, 10m, 30m, 3h, or start"},
                            bad_by = {400, "by is function or process"},
                            bad_kind = {400, "kind is the name of one"},
                            bad_function = {400, "function is the name of one"},
                            bad_where = {400, "where is KEY=VALUE: a label of hosts, or build=ID"},
                            no_pid = {400, "of which live process? pid=PID, of this machine"},
                            bad_argument = {400, "there is no such argument here, or it is given "
                                                 "twice"};

/* s; others would each be read for themselves. */
static const uint64_t ranges[] = {10, 60, 600, 1800, 10800};

static bool take_pid(struct request *request, const char *value) {
  uint64_t number = 0;
  if (!parse_number(value, &number) || !number || number > INT32_MAX)
    return false;
  request->key.process.pid = (int64_t)number;
  return true;
}

static bool take_host(struct request *request, const char *value) {
  struct process_name *name = &request->key.process;
  if (!*value || strlen(value) >= sizeof name->host)
    return false;
  strcpy(name->host, value);
  return true;
}

static bool take_range(struct request *request, const char *value) {
  uint64_t ns;
  bool is_time = value_time(value, 0, &ns);
  for (size_t i = 0; is_time && i < sizeof ranges / sizeof *ranges; i++)
    if (ns == ranges[i] * 1000000000)
      request->key.range = ns;
  return request->key.range || !strcmp(value, "start");
}

static bool take_by(struct request *request, const char *value) {
  request->key.apart = !strcmp(value, "process");
  return request->key.apart || !strcmp(value, "function");
}

static bool take_kind(struct request *request, const char *value) {
  if (!*value || strlen(value) >= FEED_KIND)
    return false;
  strcpy(request->key.kind, value);
  return true;
}

static bool take_function(struct request *request, const char *value) {
  if (!*value || strlen(value) >= FEED_KIND)
    return false;
  strcpy(request->function, value);
  return true;
}

static bool take_where(struct request *request, const char *value) {
  const char *equals = strchr(value, '=');
  if (!equals || equals == value || !equals[1] || strlen(value) >= FEED_KIND)
    return false;
  strcpy(request->key.where, value);
  return true;
}

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                     const char *value) {
  struct request *request = context;
  const struct {
    const char *name;
    bool *has;
    bool (*take)(struct request *, const char *);
    const struct refusal *bad;
  } arguments[] = {{"pid", &request->has_pid, take_pid, &bad_pid},
                   {"host", &request->has_host, take_host, &bad_host},
                   {"range", &request->has_range, take_range, &bad_range},
                   {"by", &request->has_by, take_by, &bad_by},
                   {"kind", &request->has_kind, take_kind, &bad_kind},
                   {"function", &request->has_function, take_function, &bad_function},
                   {"where", &request->has_where, take_where, &bad_where}};
  (void)kind;
  request->refusal = &bad_argument;
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
    if (!strcmp(key, arguments[i].name) && !*arguments[i].has) {
      *arguments[i].has = true;
      request->refusal = value && arguments[i].take(request, value) ? NULL : arguments[i].bad;
    }
  return request->refusal ? MHD_NO : MHD_YES;
}

/* A page may have them for itself. */
static const struct refusal *argument_fault(struct MHD_Connection *connection,
                                            struct request *request) {
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, request);
  const struct route *route = request->route;
  bool any = request->has_pid || request->has_host || request->has_range || request->has_by ||
             request->has_where;
  bool unwanted = (any && !route->about) || (request->has_kind && !route->by_kind) ||
                  (request->has_function && !route->by_function) ||
                  (route->of_one && (request->has_range || request->has_by || request->has_where));
  return request->refusal                             ? request->refusal
         : unwanted && route != routes                ? &bad_argument
         : route->of_one && !request->key.process.pid ? &no_pid
                                                      : NULL;
}

/* Of one that there is no memory for the library itself says so, as a page. */
enum { URL_LIMIT = 4096 };

static enum MHD_Result add_length(void *context, enum MHD_ValueKind kind, const char *key,
                                  const char *value) {
  (void)kind;
  *(size_t *)context += strlen(key) + (value ? strlen(value) : 0);
  return MHD_YES;
}

static bool is_too_long(struct MHD_Connection *connection, const char *path) {
  size_t length = strlen(path);
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_length, &length);
  return length > URL_LIMIT;
}

static const struct refusal *refusal_of(const struct serve *s, struct MHD_Connection *connection,
                                        struct request *request, const char *path,
                                        const char *method) {
  static const struct refusal too_long = {414, "the URL has over 4096 bytes"},
                              not_there = {404, "there is nothing at that path; see /"},
                              other_method = {405, "that path does not take this method"};
  const struct guard_request asked = {
      .host = header_of(connection, "Host"),
      .origin = header_of(connection, "Origin"),
      .authorization = header_of(connection, "Authorization"),
      .cookie = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, s->guard.cookie),
      .site = header_of(connection, "Sec-Fetch-Site"),
      /* A form that is sent is no link that is followed. */
      .mode = request->posted ? NULL : header_of(connection, "Sec-Fetch-Mode")};
  const struct route *route = request->route;
  const struct refusal *refusal = is_too_long(connection, path)
                                      ? &too_long
                                      : guard_check(&s->guard, &asked, route && route->public);
  if (refusal)
    return refusal;
  return !route                                ? &not_there
         : !is_allowed(route->methods, method) ? &other_method
                                               : argument_fault(connection, request);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, const struct request *request,
                              const struct refusal *refusal) {
  const char *accept = header_of(connection, "Accept");
  if (refusal->status == MHD_HTTP_UNAUTHORIZED && accept && strstr(accept, "text/html"))
    return answer_form(connection, false);
  return answer_sentence(connection, refusal->status, refusal->sentence,
                         refusal->status == MHD_HTTP_METHOD_NOT_ALLOWED ? request->route->methods
                                                                        : NULL);
}

/* -- bodies -------------------------------------------------------------------------------- */

static enum MHD_Result take_field(void *context, enum MHD_ValueKind kind, const char *key,
                                  const char *filename, const char *type, const char *encoding,
                                  const char *data, uint64_t offset, size_t size) {
  struct request *request = context;
  (void)kind, (void)filename, (void)type, (void)encoding;
  if (!key || strcmp(key, "token") != 0)
    return MHD_YES;
  if (offset > GUARD_TOKEN_MOST || size > GUARD_TOKEN_MOST - offset)
    return MHD_NO;
  memcpy(request->token + offset, data, size);
  request->length = offset + size;
  return MHD_YES;
}

static void take_body(struct request *request, const char *data, size_t size) {
  static const struct refusal too_long = {413, "the body is too long"},
                              unwanted = {400, "a body was sent where none is taken"};
  request->body += size;
  if (request->refusal)
    return;
  if (request->body > BODY_LIMIT)
    request->refusal = &too_long;
  else if (!request->form)
    request->refusal = &unwanted;
  else
    MHD_post_process(request->form, data, size);
}

/* -- the whole ------------------------------------------------------------------------------- */

static struct request *begin(struct serve *s, struct MHD_Connection *connection, const char *path,
                             const char *method) {
  struct request *request = allocate(1, sizeof *request);
  request->since = monotonic_now();
  request->posted = !strcmp(method, "POST");
  for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
    if (!strcmp(path, routes[i].path))
      request->route = &routes[i];
  request->refusal = refusal_of(s, connection, request, path, method);
  if (!request->refusal && request->posted)
    request->form = MHD_create_post_processor(connection, BODY_LIMIT, take_field, request);
  return request;
}

/* What is announced as too long is not waited for. */
static bool announces_much(struct MHD_Connection *connection) {
  const char *length = header_of(connection, "Content-Length");
  uint64_t bytes;
  return length && (!parse_number(length, &bytes) || bytes > BODY_LIMIT);
}

enum MHD_Result route_request(void *serve, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context) {
  struct serve *s = serve;
  struct request *request = *context;
  (void)version;
  if (!request) {
    static const struct refusal too_long = {413, "the body is too long"};
    *context = request = begin(s, connection, path, method);
    if (!announces_much(connection))
      return MHD_YES;
    request->refusal = &too_long;
  } else if (*size) {
    take_body(request, data, *size);
    *size = 0;
    return request->body > 64 * BODY_LIMIT ? MHD_NO : MHD_YES;
  }
  client_becomes(client_of(connection), CLIENT_TAKES);
  return request->refusal ? refuse(connection, request, request->refusal)
                          : request->route->answer(s, connection, request);
}

void route_completed(void *serve, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode how) {
  struct request *request = *context;
  (void)serve, (void)how;
  if (!request)
    return;
  if (request->form)
    MHD_destroy_post_processor(request->form);
  free(request);
  *context = NULL;
  client_becomes(client_of(connection), CLIENT_IDLE);
}
