/* SPDX-License-Identifier: MIT */
/*
 * What a program says of its requests: labels, tokens, whose a run is.
 *
 * Each finds a future, and means the request that it is part of at that moment; of a future that is
 * part of none nothing is kept.
 */
#include "rt/request/request.h"
#include "begin.h"
#include "gates.h"
#include "rt/future/key.h"
#include "rt/request/kind.h"
#include "rt/request/member.h"
#include "rt/request/token.h"
#include "tokens.h"

/* -- values ------------------------------------------------------------------------- */

#define TEXT_MOST (APROF_LABEL_MOST + 1u)
_Static_assert(TRACEPARENT < TEXT_MOST, "a token is a value, too");

/* How much of a text is looked at. */
static size_t text_most(int type, uint64_t length) {
  return type == APROF_VALUE_COUNTED && length < APROF_LABEL_MOST ? (size_t)length
                                                                  : APROF_LABEL_MOST;
}

/* The value as text. False: it is NULL. */
static bool read_value(char *text, int type, uint64_t value, uint64_t length) {
  const char *from = (const char *)(uintptr_t)value;
  size_t most = text_most(type, length), n = 0;
  switch (type) {
  case APROF_VALUE_TEXT:
  case APROF_VALUE_COUNTED:
    if (from == NULL)
      return false;
    for (; n < most && from[n] != '\0'; n++)
      text[n] = from[n];
    text[n] = '\0';
    return true;
  case APROF_VALUE_SIGNED:
    if ((int64_t)value < 0) {
      *text++ = '-';
      value = 0 - value;
    }
    text_number(text, value);
    return true;
  case APROF_VALUE_UNSIGNED:
    text_number(text, value);
    return true;
  }
  return false;
}

/* -- of a request ----------------------------------------------------------------------- */

static struct aprof_request *request_of_future(const struct aprof_future *f) {
  uint32_t number = request_of(f);
  struct aprof_request *r = number != 0 ? request_at(number) : NULL;
  return r != NULL && request_lives(r) ? r : NULL;
}

/* f's request, which is going to be labelled. NULL: it has none, or labels are not wanted. */
static struct aprof_request *labelled(const struct aprof_future *f) {
  struct aprof_request *r = f != NULL ? request_of_future(f) : NULL;
  if (r == NULL || !rt.options.labels)
    return NULL;
  const struct aprof_future *first = future_at(r->first);
  if (r->first != 0 && first->id != 0 && request_of(first) == request_of(f))
    r->function = function_site(first); /* it may have its name since */
  return r;
}

static bool set_label(const struct aprof_future *f, int type, uint64_t value, uint64_t length) {
  struct aprof_request *r = labelled(f);
  if (r == NULL)
    return false;
  const char *from = NULL;
  uint32_t kind = 0;
  if (type == APROF_VALUE_TEXT || type == APROF_VALUE_COUNTED) {
    from = (const char *)(uintptr_t)value;
    kind = from != NULL ? kind_remembered(r, from, text_most(type, length)) : 0;
  }
  if (kind == 0) {
    char text[TEXT_MOST];
    if (!read_value(text, type, value, length))
      return false;
    kind = kind_labelled(r, text, from);
  }
  r->kind = (uint16_t)kind;
  __atomic_store_n(&r->no_label, 0, __ATOMIC_RELEASE);
  return true;
}

static bool label_current(int type, uint64_t value, uint64_t length) {
  struct thread *t = event_begin_light();
  if (unlikely(t == NULL))
    return false;
  bool set = set_label(t->cur, type, value, length);
  event_end(t);
  return set;
}

static bool set_token(const struct aprof_future *f, const char *text) {
  struct aprof_request *r = request_of_future(f);
  return r != NULL && token_read(r, text, strlen(text));
}

/* -- events -------------------------------------------------------------------------- */

void general_label(struct aprof_site *site, uint64_t key0, uint64_t key1, int type, uint64_t value,
                   uint64_t length) {
  struct thread *t = event_begin_light();
  if (unlikely(t == NULL))
    return;
  set_label(key_find(key0, key1, site->ns), type, value, length);
  event_end(t);
}

void general_label_current(struct aprof_site *site, int type, uint64_t value, uint64_t length) {
  (void)site;
  label_current(type, value, length);
}

void general_about(struct aprof_token *token, int what, int type, uint64_t value, uint64_t length) {
  struct thread *t = event_begin_light();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = bracket_future(token);
  char text[TEXT_MOST];
  if (token_current(t, token->word[0]) && f->id == token->word[0]) {
    if (what == APROF_ABOUT_LABEL)
      set_label(f, type, value, length);
    else if (what == APROF_ABOUT_TOKEN && read_value(text, type, value, length))
      set_token(f, text);
    else if (what == APROF_ABOUT_LEFT_OUT)
      request_leave_out(t, f);
  }
  event_end(t);
}

void general_run_for(struct aprof_token *token, uint64_t ns, uint64_t key0, uint64_t key1) {
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return;
  struct aprof_future *f = bracket_future(token);
  const struct aprof_future *root = key_find(key0, key1, (uint32_t)ns);
  uint32_t to = root != NULL ? request_of(root) : 0;
  if (to != 0 && token_current(t, token->word[0]) && f->id == token->word[0] && t->cur != NULL &&
      runs_here(t, f)) {
    uint64_t now = event_time(t);
    close_here(t, now);
    member_moves(t, innermost_own(f), to, now); /* with the bodies that it called */
  }
  event_end(t);
}

void general_token_out(char *buffer) {
  api_token(buffer);
}

/* -- by aprof.h -------------------------------------------------------------------------- */

int api_label(const char *text) {
  return label_current(APROF_VALUE_TEXT, (uintptr_t)text, 0) ? 0 : -1;
}

int api_token(char *buffer) {
  buffer[0] = '\0';
  struct thread *t = event_begin_light();
  if (unlikely(t == NULL))
    return -1;
  struct aprof_request *r = t->cur != NULL ? request_of_future(t->cur) : NULL;
  if (r != NULL)
    token_write(r, buffer);
  event_end(t);
  return r != NULL ? 0 : -1;
}

int api_token_set(const char *traceparent) {
  char copy[TEXT_MOST];
  struct thread *t = event_begin();
  if (unlikely(t == NULL))
    return -1;
  bool set = t->cur != NULL && read_value(copy, APROF_VALUE_TEXT, (uintptr_t)traceparent, 0) &&
             set_token(t->cur, copy);
  event_end(t);
  return set ? 0 : -1;
}
