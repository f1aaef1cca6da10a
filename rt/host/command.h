/* SPDX-License-Identifier: MIT */
/* The `aprof` command, started beside the program; see command.c. Async-signal-safe. */
#ifndef APROF_RT_COMMAND_H
#define APROF_RT_COMMAND_H

#include "rt/rt.h"

/* In the command. */
#define PROFILE_FD 3
#define TELL_FD 4 /* where it says what it was asked to tell */

struct request {
  char *argv[16];
  char fd[12], sequence[24], tick[24], tell[12];
  bool wait;  /* until the command has ended */
  char *told; /* NULL, or room for what it says, a text; "" until then */
  size_t room;
  int teller; /* descriptor that it says it to */
  const char *failed;
  pid_t command;
};

void command_find_library(void); /* where this library lies; once, by the loader */
void command_find(void);         /* into rt.command: "" where there is none */
void command_forget(void);       /* in a child: those that its parent started, or was about to */

/* Has the program left its PID namespace, with no process in its new one yet? */
bool children_are_elsewhere(void);

/* Signals are blocked. -1: too many run already. What went wrong otherwise is in `failed`. */
int command_start(struct request *r);
/* The same for who waits for what the command tells, however many others run; the stack is the
   caller's, some 32 KB. */
void command_follow(struct request *r, char *stack_end);

#endif
