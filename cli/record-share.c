/* SPDX-License-Identifier: MIT */
/* Shares of requests; see record-share.h. */
#include "record-share.h"

#include "ask/value.h"
#include "read/util.h"
#include "record/switch.h"
#include "show/format.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1e9
#define WINDOW 1000000000u /* ns, between two measurements of a rate, */
#define SOON 20000000u     /* or where it has become far too much */
#define EFFECT 200000000u  /* ns, until it shows that a share was halved */
#define RESUME 10000000000u
enum { HALVED_MOST = 6 }; /* 1/64 of what was asked for */

/* -- the wish ------------------------------------------------------------------------------- */

/* A number, and where it ends; 0: it is none that is greater than 0. */
static double number_of(const char *text, const char **end) {
  char *behind;
  double number = *text >= '0' && *text <= '9' ? strtod(text, &behind) : 0;
  *end = number > 0 ? behind : text;
  return number < 1e9 ? number : 0;
}

char *share_take(struct share_wish *w, const char *text) {
  const char *end, *last = "";
  double number = number_of(text, &end), of = *end == '/' ? number_of(end + 1, &last) : 0;
  w->share = w->rate = 0;
  if (number > 0 && !strcmp(end, "/s"))
    w->rate = number;
  else if (of > 0 && !*last)
    w->share = number / of;
  else if (number > 0 && (!*end || !strcmp(end, "%")))
    w->share = *end ? number / 100 : number;
  if (w->share > 1 || w->share * 0x1p32 < 1)
    w->share = 0;
  return share_is_wished(w)
             ? NULL
             : print_string("that is no share of the requests, as 1/100, and no rate, as 200/s");
}

/* -- the process ------------------------------------------------------------------------------ */

static uint64_t begun_in(const struct aprof_header *h) {
  return __atomic_load_n(&h->begun_requests, __ATOMIC_RELAXED);
}

void share_begin(struct share *s, const struct share_wish *w, const struct aprof_header *h,
                 uint64_t now) {
  *s = (struct share){
      .wish = w, .now = w->share > 0 ? w->share : 1, .begun = begun_in(h), .at = now};
}

/* Near enough to what was asked for, or else what would be. */
static double share_for(const struct share *s, double rate) {
  double wanted = rate > s->wish->rate ? s->wish->rate / rate : 1;
  double ratio = wanted / s->now;
  return ratio > 0.9 && ratio < 1.1 ? s->now : wanted;
}

static void follow_rate(struct share *s, const struct aprof_header *h, uint64_t now) {
  uint64_t begun = begun_in(h), passed = now - s->at;
  double number = (double)(begun - s->begun), rate = number * SECOND / (double)passed;
  bool far = rate * s->now > 2 * s->wish->rate && number * s->now > 0.1 * s->wish->rate;
  if (passed < WINDOW && !(passed > SOON && far))
    return;
  s->now = share_for(s, rate);
  s->begun = begun;
  s->at = now;
}

/* -- overload --------------------------------------------------------------------------------- */

double share_kept(const struct share *s) {
  return s->stopped ? 0 : s->now / (double)(1u << s->halved);
}

static void get_less(struct share *s, uint64_t now) {
  s->stopped = s->halved == HALVED_MOST;
  s->stops += s->stopped;
  s->halves += !s->stopped;
  s->halved += !s->stopped;
  s->changed = s->calm = now;
}

static void get_more(struct share *s, uint64_t now) {
  if (s->stopped)
    s->stopped_for += now - s->changed;
  else
    s->halved--;
  s->stopped = false;
  s->changed = s->calm = now;
}

/* Down at once, up when it has been calm for long: so it does not swing. */
static void follow_lag(struct share *s, uint64_t now, uint64_t lag) {
  uint64_t most = s->wish->max_lag;
  uint64_t resume = s->wish->resume_after ? s->wish->resume_after : RESUME;
  if (lag > most / 2)
    s->calm = now;
  if (lag > most) {
    s->behind |= lag == UINT64_MAX;
    s->lag = lag != UINT64_MAX && lag > s->lag ? lag : s->lag;
  }
  if (lag > most && !s->stopped && now - s->changed >= EFFECT)
    get_less(s, now);
  else if ((s->halved || s->stopped) && now - s->calm >= resume)
    get_more(s, now);
}

static char *late_text(const struct share *s) {
  char *late = s->lag ? print_string("what was ready waited %s", shown_time(s->lag)) : NULL;
  char *text = print_string("%s%s%s", late ? late : "", late && s->behind ? ", and " : "",
                            s->behind ? "this command fell behind" : "");
  free(late);
  return text;
}

char *share_says(const struct share *s, uint64_t now) {
  if (!s->halves)
    return NULL;
  uint64_t stopped = s->stopped_for + (s->stopped ? now - s->changed : 0);
  char *late = late_text(s);
  char *stops = s->stops ? print_string(", recording was stopped %s for %s in all",
                                        s->stops > 1 ? turn_text("%u times", s->stops) : "once",
                                        shown_time(stopped))
                         : NULL;
  char *text = print_string("%s: the share was halved %s%s, and is %s now", late,
                            s->halves > 1 ? turn_text("%u times", s->halves) : "once",
                            stops ? stops : "", s->stopped ? "none" : shown_part(share_kept(s)));
  free(stops);
  free(late);
  return text;
}

void share_look(struct share *s, struct aprof_header *h, uint64_t now, uint64_t lag) {
  double before = share_kept(s);
  if (s->wish->rate > 0)
    follow_rate(s, h, now);
  if (s->wish->max_lag)
    follow_lag(s, now, lag);
  if (share_kept(s) < before || share_kept(s) > before)
    switch_share(h, share_kept(s));
}
