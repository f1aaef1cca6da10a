/* SPDX-License-Identifier: MIT */
/* Questions of clients; see serve-ask.h. */
#include "serve-ask.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

#define SECOND ((int64_t)1000000000) /* answers of one question are so far apart, at least */
#define LEASE (4 * SECOND)           /* so long nobody has to ask, and it is over */
enum { WANTED = 16 };                /* questions about one process at a time */

struct wanted {
  const struct question *question; /* NULL: a free place */
  char kind[FEED_KIND], function[FEED_KIND];
  int64_t asked, made;     /* by a client; the answer; monotonic ns */
  struct document *answer; /* NULL: */
  char *none;              /* why there is none; or NULL */
  struct MHD_Connection **waiting;
  size_t waits;
};

struct recorded {
  struct recorded *next;
  int64_t pid, asked;
  char *place;     /* it is probed there; NULL: it is recorded */
  bool samples;    /* with samples, which somebody asked for */
  int64_t sampled; /* then; monotonic ns */
  struct inquiry *inquiry;
  char *over;
  struct wanted wanted[WANTED];
  size_t current; /* the question that the inquiry has, or had */
};

/* What asks_answer is asked of a probe. */
const struct question asks_probe = {.name = "probe"};

static bool is_of(const struct recorded *r, const struct asks_key *key) {
  bool probed = key->question == &asks_probe;
  return r->pid == key->pid &&
         (probed ? r->place && !strcmp(r->place, key->function) : r->place == NULL);
}

static struct recorded *find(const struct asks *all, const struct asks_key *key) {
  struct recorded *r = all->first;
  while (r && !is_of(r, key))
    r = r->next;
  return r;
}

/* -- who waits -------------------------------------------------------------------------------- */

static void wait_for(struct wanted *w, struct MHD_Connection *connection) {
  w->waiting = reallocate(w->waiting, w->waits + 1, sizeof *w->waiting);
  w->waiting[w->waits++] = connection;
  MHD_suspend_connection(connection);
}

static void wake(struct wanted *w) {
  for (size_t i = 0; i < w->waits; i++)
    MHD_resume_connection(w->waiting[i]);
  w->waits = 0;
}

static void forget(struct wanted *w) {
  document_release(w->answer);
  free(w->none);
  w->answer = NULL;
  w->none = NULL;
}

static void drop(struct asks *all, struct recorded *r) {
  struct recorded **at = &all->first;
  while (*at != r)
    at = &(*at)->next;
  *at = r->next;
  all->count--;
  inquiry_end(r->inquiry);
  for (size_t i = 0; i < WANTED; i++) {
    wake(&r->wanted[i]);
    forget(&r->wanted[i]);
    free(r->wanted[i].waiting);
  }
  free(r->over);
  free(r->place);
  free(r);
}

/* -- asking ------------------------------------------------------------------------------------ */

static void begin_inquiry(struct recorded *r) {
  const struct inquiry_way way = {.place = r->place, .samples = r->samples};
  r->inquiry = inquiry_begin((long)r->pid, &way);
  if (!r->inquiry)
    r->over = print_string("there is no memory for a recording, or no process");
}

static struct recorded *begin(struct asks *all, const struct asks_key *key) {
  struct recorded *r = allocate(1, sizeof *r);
  bool probed = key->question == &asks_probe;
  *r = (struct recorded){.next = all->first,
                         .pid = key->pid,
                         .place = probed ? print_string("%s", key->function) : NULL,
                         .samples = asks_samples(key)};
  begin_inquiry(r);
  all->count++;
  return all->first = r;
}

/* Who waits is answered by what begins then. */
static void turn_samples(struct recorded *r, bool on) {
  inquiry_end(r->inquiry);
  r->samples = on;
  begin_inquiry(r);
  for (size_t i = 0; r->over && i < WANTED; i++)
    wake(&r->wanted[i]);
}

enum MHD_Result asks_begin(struct asks *all, const struct asks_key *key,
                           struct MHD_Connection *connection) {
  struct recorded *r = find(all, key);
  if (r && r->over) {
    drop(all, r);
    r = NULL;
  }
  if (!r && all->count == ASKS_MOST)
    return answer_sentence(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "as many processes are recorded as there may be; try again", NULL);
  r = r ? r : begin(all, key);
  if (asks_samples(key) && !r->samples)
    turn_samples(r, true);
  r->asked = monotonic_now();
  r->sampled = asks_samples(key) ? r->asked : r->sampled;
  return answer_sentence(connection, MHD_HTTP_ACCEPTED,
                         r->place ? "watching, while somebody asks what reaches it"
                                  : "recording, while somebody asks what it tells",
                         NULL);
}

enum MHD_Result asks_cost(const struct asks *all, int64_t pid, struct MHD_Connection *connection) {
  const struct recorded *r = find(all, &(struct asks_key){.pid = pid});
  return r && !r->over
             ? answer_sentence(connection, MHD_HTTP_OK, question_cost(inquiry_state(r->inquiry)),
                               NULL)
             : answer_sentence(connection, MHD_HTTP_NOT_FOUND, "nobody has it recorded here", NULL);
}

/* Its place, or the one that nobody has asked about for longest; NULL: all are waited for. */
static struct wanted *place_of(struct recorded *r, const struct asks_key *key) {
  struct wanted *oldest = NULL;
  for (struct wanted *w = r->wanted; w < r->wanted + WANTED; w++) {
    if (w->question == key->question && !strcmp(w->kind, key->kind) &&
        !strcmp(w->function, key->function))
      return w;
    bool idle = !w->waits && (w != &r->wanted[r->current] || !inquiry_is_asked(r->inquiry));
    if (idle && (!oldest || w->asked < oldest->asked))
      oldest = w;
  }
  if (!oldest)
    return NULL;
  forget(oldest);
  oldest->made = 0;
  oldest->question = key->question;
  strcpy(oldest->kind, key->kind);
  strcpy(oldest->function, key->function);
  return oldest;
}

enum MHD_Result asks_answer(struct asks *all, const struct asks_key *key, int64_t since,
                            struct MHD_Connection *connection) {
  struct recorded *r = find(all, key);
  bool probed = key->question == &asks_probe;
  if (!r || r->over || (asks_samples(key) && !r->samples))
    return answer_sentence(connection, MHD_HTTP_CONFLICT,
                           r && r->over ? r->over
                           : probed     ? "it is not probed: POST to the same has it probed"
                           : asks_samples(key)
                               ? "it is not sampled: POST /api/cpu?pid=PID has it sampled"
                               : "it is not recorded: POST /api/record?pid=PID has it recorded",
                           NULL);
  struct wanted *w = place_of(r, key);
  if (!w)
    return answer_sentence(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "too many other questions are asked of that process", NULL);
  w->asked = r->asked = monotonic_now();
  r->sampled = asks_samples(key) ? r->asked : r->sampled;
  if (!w->made || w->made < since - SECOND) {
    wait_for(w, connection);
    return MHD_YES;
  }
  return w->answer ? answer_document(connection, MHD_HTTP_OK, probed ? MEDIA_TEXT : MEDIA_JSON,
                                     POLICY_NOTHING, document_hold(w->answer))
                   : answer_sentence(connection, MHD_HTTP_ACCEPTED, w->none, NULL);
}

/* -- as time goes on -----------------------------------------------------------------------------
 */

struct came {
  const char *text;
  size_t length;
};

static bool write_came(void *context, FILE *out) {
  const struct came *came = context;
  fwrite(came->text, 1, came->length, out);
  return true;
}

static void take(struct recorded *r) {
  char *text;
  size_t length;
  enum inquiry_came what;
  while ((what = inquiry_take(r->inquiry, &text, &length)) != INQUIRY_NOTHING) {
    struct wanted *w = &r->wanted[r->current];
    forget(w);
    w->made = monotonic_now();
    if (what == INQUIRY_ANSWER) {
      w->answer = document_make(write_came, &(struct came){text, length});
      free(text);
    } else if (what == INQUIRY_REFUSED)
      w->none = text;
    else
      r->over = text;
    for (size_t i = 0; i < WANTED; i++)
      if (r->over || &r->wanted[i] == w)
        wake(&r->wanted[i]);
  }
}

/* The next question that somebody waits for. */
static void ask(struct recorded *r) {
  for (size_t i = 1; i <= WANTED && !inquiry_is_asked(r->inquiry); i++) {
    struct wanted *w = &r->wanted[(r->current + i) % WANTED];
    if (!w->waits)
      continue;
    r->current = (size_t)(w - r->wanted);
    const struct question_about about = {*w->kind ? w->kind : NULL,
                                         *w->function ? w->function : NULL};
    inquiry_ask(r->inquiry, r->place ? NULL : w->question, &about, true);
    return;
  }
}

static bool is_wanted(struct recorded *r, int64_t now) {
  for (size_t i = 0; i < WANTED; i++)
    if (r->wanted[i].waits) {
      r->asked = now;
      if (r->wanted[i].question == &questions[QUESTION_CPU])
        r->sampled = now;
    }
  return now - r->asked < LEASE;
}

void asks_tick(struct asks *all) {
  int64_t now = all->first ? monotonic_now() : 0;
  for (struct recorded *r = all->first, *next; r; r = next) {
    next = r->next;
    if (!r->over)
      take(r);
    if (!r->over)
      ask(r);
    if (!is_wanted(r, now))
      drop(all, r);
    else if (!r->over && r->samples && now - r->sampled >= LEASE)
      turn_samples(r, false);
  }
}

size_t asks_fds(const struct asks *all, struct pollfd *fd) {
  size_t count = 0;
  for (const struct recorded *r = all->first; r; r = r->next)
    if (!r->over)
      fd[count++] = (struct pollfd){.fd = inquiry_fd(r->inquiry), .events = POLLIN};
  return count;
}

void asks_end(struct asks *all) {
  while (all->first)
    drop(all, all->first);
}
