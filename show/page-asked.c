/* SPDX-License-Identifier: MIT */
/* What the document has of a recording: answers to each question, and what its samples say; see
   page.h. */
#include "asked.h"
#include "page.h"
#include "question.h"
#include "read/util.h"

#include <stdlib.h>

/* As its command writes it. What is text there is so here, too, in a page as well: no < is left. */
static void emit_answer(struct emit *e, const struct question *q, const struct page_options *o) {
  static const struct request_filter all = {0};
  char *text = NULL;
  size_t length = 0;
  FILE *whole = open_memstream(&text, &length);
  bool answered =
      whole && question_answer_of(q, o->story, o->requests ? o->requests : &all, true, whole) == 0;
  if (whole)
    fclose(whole);
  if (answered)
    emit_document(e, q->name, text);
  else
    emit_null(e, q->name);
  free(text);
}

static void emit_answers(struct emit *e, const struct page_options *o) {
  e->gap = "\n";
  emit_open(e, "answers", '{');
  complain_never(true); /* a recording without requests has none, which is no fault */
  for (size_t i = 0; i < QUESTIONS; i++)
    if (questions[i].of)
      emit_answer(e, &questions[i], o);
  complain_never(false);
  emit_close(e, '}');
}

void page_emit_recording(struct emit *e, const struct view *v, const struct page_options *o) {
  e->gap = "\n";
  if (!o->story) {
    emit_null(e, "recording");
    emit_null(e, "answers");
  } else {
    asked_emit_source(e, o->story);
    emit_answers(e, o);
  }
  e->gap = "\n";
  asked_emit_samples(e, &v->sampled);
}
