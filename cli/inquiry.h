/* SPDX-License-Identifier: MIT */
/*
 * A live process that is recorded while somebody looks at what that tells.
 *
 * Purpose: a process of its own records it, by lease, and answers, each time about the last
 * seconds. Who shows the answers waits for nothing; when that one ends, however it does, so does
 * the recording. Cost: that of the recording, and of a story for each answer. Locking: none.
 */
#ifndef APROF_CLI_INQUIRY_H
#define APROF_CLI_INQUIRY_H

#include "show/question.h"

#include <sys/types.h>

struct inquiry;

enum inquiry_came {
  INQUIRY_NOTHING,
  INQUIRY_ANSWER,
  INQUIRY_REFUSED, /* there is no answer, the text says why */
  INQUIRY_OVER,    /* it cannot be recorded, or no more: the text says why */
};

/* What goes on for it. */
struct inquiry_way {
  const char *place; /* it is probed there, and not recorded; or NULL */
  bool samples; /* all is recorded, with samples; else a share of its requests, if it has any */
};
/* Of the process that has this number. NULL after a message. */
struct inquiry *inquiry_begin(long pid, const struct inquiry_way *);
/* The recording, or the probe, goes off. Takes NULL, too. */
void inquiry_end(struct inquiry *);

/* One question at a time: the next one when its answer has come. Of a probe there is one question
   only: `what` NULL. */
void inquiry_ask(struct inquiry *, const struct question *what, const struct question_about *,
                 bool json);
bool inquiry_is_asked(const struct inquiry *);
/* Can be read when something comes. */
int inquiry_fd(const struct inquiry *);
/* What has come, without waiting; `text` is then the caller's to free. */
enum inquiry_came inquiry_take(struct inquiry *, char **text, size_t *length);
/* Of a recording, as it is now, for as long as the inquiry goes on. */
const struct question_state *inquiry_state(const struct inquiry *);

/* -- between the two processes (inquiry-talk.c, -recorder.c, -probe.c) ------------------------- */

enum { INQUIRY_KIND = 256 };
struct inquiry_asked {
  uint32_t question; /* number of it */
  bool json, of_kind, of_function;
  char kind[INQUIRY_KIND], function[INQUIRY_KIND];
};
struct inquiry_answer { /* `length` bytes are behind it */
  uint64_t length;
  bool refused;
};

/* Reads a question; false: there is nobody any more who asks. */
bool inquiry_read(int socket, struct inquiry_asked *);
/* Sends an answer, or why there is none; ends the process where nobody takes it. */
void inquiry_send(int socket, bool refused, const char *text, size_t length);
/* Watches that place, and answers as inquiry_record does. */
_Noreturn void inquiry_probe(long pid, int socket, const char *place);
/* Records, and answers what comes by `socket`, until that is closed; never returns. Messages go to
   standard error. */
_Noreturn void inquiry_record(long pid, int socket, bool samples, struct question_state *);

#endif
