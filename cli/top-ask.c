/* SPDX-License-Identifier: MIT */
/* Questions of `aprof top'; see top-ask.h. */
#include "top-ask.h"

#include "inquiry.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

#define SECOND ((uint64_t)1000000000) /* answers are so far apart, at least */

struct top_ask {
  struct inquiry *inquiry;
  bool over; /* there is nothing to record, while this page is open */
  uint64_t again;
  int question;          /* that `answer` is to, */
  char *kind, *function; /* that it is about; or NULL */
  bool is_old;           /* what was asked last is another question */
  char *text, *fault;
  struct top_answer answer;
};

struct top_ask *top_ask_new(void) {
  struct top_ask *a = allocate(1, sizeof *a);
  a->question = -1;
  return a;
}

static void forget(struct top_ask *a) {
  free(a->text);
  free(a->fault);
  a->text = a->fault = NULL;
}

static void end(struct top_ask *a) {
  inquiry_end(a->inquiry);
  a->inquiry = NULL;
  a->over = false;
}

void top_ask_free(struct top_ask *a) {
  end(a);
  forget(a);
  free(a->kind);
  free(a->function);
  free(a);
}

int top_ask_fd(const struct top_ask *a) {
  return a->inquiry && !a->over ? inquiry_fd(a->inquiry) : -1;
}

static bool is_same(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

/* What goes on for one question does for another. */
static bool goes_on_for(int question, int other) {
  return question == other || (question < QUESTION_CPU && other < QUESTION_CPU);
}

static char *copy_of(const char *text) {
  return text ? print_string("%s", text) : NULL;
}

/* Another question has another answer: at once. */
static void turn_to(struct top_ask *a, const struct top_look *look) {
  const char *kind = look->asked == QUESTION_PROBE ? NULL : look->asked_kind;
  const char *function = look->asked < QUESTION_CPU ? NULL
                         : look->asked == QUESTION_CPU && look->asked_whole_kind
                             ? NULL
                             : look->asked_function;
  if (a->question == look->asked && is_same(a->kind, kind) && is_same(a->function, function))
    return;
  if (!goes_on_for(a->question, look->asked) || look->asked == QUESTION_PROBE)
    end(a);
  forget(a);
  free(a->kind);
  free(a->function);
  a->kind = copy_of(kind);
  a->function = copy_of(function);
  a->question = look->asked;
  a->again = 0;
  a->is_old = a->inquiry && inquiry_is_asked(a->inquiry);
}

static void take(struct top_ask *a) {
  char *text;
  size_t length;
  enum inquiry_came came;
  while ((came = inquiry_take(a->inquiry, &text, &length)) != INQUIRY_NOTHING) {
    bool old = a->is_old && came != INQUIRY_OVER;
    a->is_old = false;
    if (old) {
      free(text);
      continue;
    }
    a->over |= came == INQUIRY_OVER;
    if (came == INQUIRY_ANSWER)
      forget(a);
    char **to = came == INQUIRY_ANSWER ? &a->text : &a->fault;
    free(*to);
    *to = text;
  }
}

static void go_on(struct top_ask *a, const struct top_process *of, uint64_t now) {
  bool probes = a->question == QUESTION_PROBE;
  const struct question_about about = {a->kind, a->function};
  if (probes && !a->function) {
    free(a->fault);
    a->fault = print_string("select a function: what is to be probed?");
    return;
  }
  if (!a->inquiry && !a->over) {
    const struct inquiry_way way = {.place = probes ? a->function : NULL,
                                    .samples = a->question == QUESTION_CPU};
    a->inquiry = inquiry_begin(of->seen, &way);
    a->over = !a->inquiry;
    a->again = 0;
  }
  if (!a->over)
    take(a);
  if (a->over || inquiry_is_asked(a->inquiry) || now < a->again)
    return;
  inquiry_ask(a->inquiry, probes ? NULL : &questions[a->question], &about, false);
  a->again = now + SECOND;
}

void top_ask_look(struct top_ask *a, struct top_look *look, const struct top_process *opened,
                  uint64_t now) {
  bool open = look->page == TOP_ASKED || (look->page == TOP_HELP && look->before == TOP_ASKED);
  if (open)
    turn_to(a, look);
  if (top_asks(look) && opened)
    go_on(a, opened, now);
  else
    end(a);
  if (!open)
    forget(a);
  bool on = a->inquiry && !a->over, probes = look->asked == QUESTION_PROBE;
  a->answer = (struct top_answer){.text = a->text,
                                  .fault = a->fault,
                                  .state = on && !probes ? inquiry_state(a->inquiry) : NULL,
                                  .watches = on && probes};
  look->answer = &a->answer;
}
