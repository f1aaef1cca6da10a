/* SPDX-License-Identifier: MIT */
/* Shares of requests; see record-share.h. */
#include "record-share.h"

#include "ask/value.h"
#include "read/util.h"
#include "record/switch.h"

#include <stdlib.h>
#include <string.h>

#define SECOND 1e9
#define WINDOW 1000000000u /* ns, between two measurements of a rate, */
#define SOON 20000000u     /* or where it has become far too much */

/* -- the wish ------------------------------------------------------------------------------- */

/* A number, and where it ends; 0: it is none that is greater than 0. */
static double number_of(const char *text, const char **end) {
  char *behind;
  double number = *text >= '0' && *text <= '9' ? strtod(text, &behind) : 0;
  *end = number > 0 ? behind : text;
  return number < 1e9 ? number : 0;
}

char *share_take(struct share_wish *w, const char *text) {
  const char *end, *last;
  double number = number_of(text, &end), of = *end == '/' ? number_of(end + 1, &last) : 0;
  *w = (struct share_wish){0};
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

void share_look(struct share *s, struct aprof_header *h, uint64_t now) {
  double before = s->now;
  if (s->wish->rate > 0)
    follow_rate(s, h, now);
  if (s->now < before || s->now > before)
    switch_share(h, s->now);
}
