/* SPDX-License-Identifier: MIT */
/*
 * The page: one document with all that it draws, and the HTML that draws it.
 *
 * In: a view. Out: the document, aprof.page/1 (doc/aprof.page-1.schema.json); and one file of HTML
 * around it, which web/ is bundled to. The page formats, sorts and filters; all numbers, sentences
 * and commands are in the document.
 * Cost: that of a report, of totals and of reading sources. Locking: none.
 */
#ifndef APROF_SHOW_PAGE_H
#define APROF_SHOW_PAGE_H

#include "ask/ask.h"
#include "ask/requests.h"
#include "emit.h"
#include "read/moments.h"
#include "record/story.h"

struct page_options {
  const char *source; /* look for sources below it; NULL: where they were compiled */
  bool no_source;     /* leave their text out */
  const char *target; /* as the next command has to be given it; NULL: not known */
  bool here;          /* several processes are live ones of this machine, known by their numbers */
  struct ask_limits limits;
  /* NULL: all. Functions, paths, waits and what lives are of those alone; requests are all, and
     findings, loops and health the whole's. */
  const struct request_filter *requests;
  const struct moments *moments; /* NULL: not known */
  size_t left_out;               /* processes that are in none of its numbers */
  const struct story *story;     /* that the view is of; NULL: of none */
};

#define PAGE_SCHEMA "aprof.page/1"

/* The document. Shortens the names of files in the view, and narrows it. `in_page`: so that it may
 * stand in HTML.
 */
void page_json(struct view *, const struct page_options *, bool in_page, FILE *out);

/* False: this aprof was built without the page. */
bool page_is_there(void);
/* The page around the document; of no view it has none, and fetches it from where it comes.
   `connect`: what it may ask for, as in a Content-Security-Policy. page.c */
void page_write(struct view *, const struct page_options *, const char *connect, FILE *out);

/* page-source.c: "sources": each readable file that has marks, and its lines near these.
   `directory`: that was taken off the names of files. */
void page_emit_sources(struct emit *, const struct view *, const struct page_options *,
                       const char *directory);

/* page-history.c: "history": as time went on. */
void page_emit_history(struct emit *, const struct moments *);

/* page-asked.c: of a recording "recording", "answers" to each question, and "samples"; null of
   none. */
void page_emit_recording(struct emit *, const struct view *, const struct page_options *);

/* page-requests.c: "requests" by kind, "live_requests". */
void page_emit_requests(struct emit *, const struct view *);

#endif
