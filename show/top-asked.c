/* SPDX-License-Identifier: MIT */
/* The answer to a question about requests, as its command prints it, and what it costs to have it;
   see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <string.h>

/* The first line says it all. */
static void add_text(struct sheet *s, const char *text) {
  for (bool first = true; *text; first = false) {
    size_t length = strcspn(text, "\n");
    sheet_row(s, print_string("%s%.*s", first ? SHEET_TITLE : "", (int)length, text), NULL);
    text += length + (text[length] == '\n');
  }
}

static char *title_of(const struct sheet *s, const struct top_look *look) {
  const struct question *q = &questions[look->asked % QUESTIONS];
  if (look->asked == QUESTION_PROBE)
    return print_string("PROBE  %s: how often it is reached, and from where",
                        look->asked_function ? cut_middle(look->asked_function, s->width / 2)
                                             : "no function is selected");
  if (look->asked == QUESTION_CPU && look->asked_function && !look->asked_whole_kind)
    return print_string("%s  %s%s%s: %s", q->title, look->asked_kind ? look->asked_kind : "",
                        look->asked_kind ? ", " : "", look->asked_function, q->about);
  return print_string(
      "%s  %s: %s", q->title,
      cut_middle(look->asked_kind ? look->asked_kind : "all requests", s->width / 2), q->about);
}

void top_asked_page(struct sheet *s, const struct top_look *look, const struct top_process *of) {
  const struct top_answer *a = look->answer;
  top_head_line(s, look, of);
  if (a && a->state)
    sheet_head(s, print_string(SHEET_KEY "%s", cut_right(question_cost(a->state), s->width)));
  if (a && a->watches)
    sheet_head(s, print_string(SHEET_KEY "watching: each hit takes its thread some microseconds; "
                                         "10k/s end it"));
  s->title = title_of(s, look);
  if (a && a->fault)
    sheet_wrapped(s, "! ", a->fault, NULL);
  if (a && a->text)
    add_text(s, a->text);
  else if (!a || !a->fault)
    sheet_row(s,
              print_string("%s", look->frozen ? "it is frozen, and nothing is switched on"
                                              : "the first answer comes in a second"),
              NULL);
}
