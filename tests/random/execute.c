/* SPDX-License-Identifier: MIT */
/* A program's events, as instrumented code sends them. */
#include "execute.h"
#include "reader.h"
#include "recorded.h"
#include "replay.h"
#include "rt/count/govern.h"
#include "rt/event/gates.h"
#include "rt/event/timed.h"
#include "rt/rt.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELL 64     /* bytes between tokens of one stack */
#define STACK 16384 /* bytes between stacks: no two look like one */

static struct aprof_gate gate = {.flag = &gate.closed, .abi = APROF_ABI, .size = sizeof gate};

static const struct program *program;
static uint32_t position;             /* of the next op */
static char *stacks[PROGRAM_STRANDS]; /* where each strand's outermost token lies */
static sem_t turns[PROGRAM_THREADS];
static int32_t tids[PROGRAM_THREADS];

static struct aprof_token *cell(uint32_t token) {
  /* Stacks grow down: what is called later lies lower. */
  return (struct aprof_token *)(stacks[token / PROGRAM_DEPTH] - CELL * (token % PROGRAM_DEPTH));
}

static void opening(const struct op *op, struct aprof_token *token) {
  switch (op->kind) {
  case OP_ENTER:
    gate.enter(op->site, token, op->self);
    break;
  case OP_SUSPEND:
    gate.suspend(op->site, token);
    break;
  case OP_CREATE_BEGIN:
    gate.create_begin(op->site, token, op->function, op->self);
    break;
  case OP_RUN_BEGIN:
    gate.run_begin(op->site, token, op->key0, op->key1, op->function, op->self);
    break;
  case OP_IDLE_BEGIN:
    gate.idle_begin(op->site, token);
    break;
  case OP_SPAN_BEGIN:
    gate.span_begin(op->site, token);
  }
}

/* The text `value` of a label, in the ways that there are. */
static int label_type(const char *label, uint64_t *value, uint64_t *length) {
  *value = (uintptr_t)label;
  *length = 0;
  if (label && label[0] >= '0' && label[0] <= '9') {
    *value = strtoull(label, NULL, 10);
    return APROF_VALUE_UNSIGNED;
  }
  if (label && label[0] == 'p') {
    *length = strlen(label);
    return APROF_VALUE_COUNTED;
  }
  return APROF_VALUE_TEXT;
}

static void closing(const struct op *op, struct aprof_token *token) {
  switch (op->kind) {
  case OP_LEAVE:
    gate.leave(token, op->how);
    break;
  case OP_RESUME:
    gate.resume(token);
    break;
  case OP_DUE:
    gate.due(token, op->key0);
    break;
  case OP_CREATE_KEY:
    gate.create_key(token, op->key0, op->key1);
    break;
  case OP_CREATE_END:
    gate.create_end(token, op->key0, op->key1, op->ok);
    break;
  case OP_RUN_END:
    gate.run_end(token, op->how, op->site);
    break;
  case OP_IDLE_END:
    gate.idle_end(token);
    break;
  case OP_RESYNC:
    gate.resync(token);
    break;
  case OP_SPAN_END:
    gate.span_end(token);
    break;
  case OP_ABOUT: {
    uint64_t value, length;
    int type = label_type(op->label, &value, &length);
    gate.about(token, APROF_ABOUT_LABEL, type, value, length);
    break;
  }
  case OP_RUN_FOR:
    gate.run_for(token, op->site->ns, op->key0, op->key1);
  }
}

static void single(const struct op *op) {
  uint64_t value, length;
  int type = label_type(op->label, &value, &length);
  switch (op->kind) {
  case OP_LABEL:
    gate.label(op->site, op->key0, op->key1, type, value, length);
    break;
  case OP_LABEL_CURRENT:
    gate.label_current(op->site, type, value, length);
    break;
  case OP_AT:
    gate.at(op->site);
    break;
  case OP_WAKE:
    gate.wake(op->site, op->key0, op->key1);
    break;
  case OP_END:
    gate.end(op->site, op->key0, op->key1, op->how);
    break;
  case OP_WAKE_CURRENT:
    gate.wake_current(op->site);
    break;
  case OP_END_CURRENT:
    gate.end_current(op->site, op->how);
  }
}

static void event(const struct op *op) {
  gate.api_clock_advance(op->dt);
  if (program->general)
    rt.usual_epoch = &epoch_never; /* also where profiling has gone on anew */
  if (op->dropped ? false : op->kind == OP_OFF || op->kind == OP_ON) {
    gate.api_enable(op->kind == OP_ON);
    return;
  }
  if (op->kind == OP_RESET && !op->dropped) {
    gate.api_reset();
    return;
  }
  if (op_opens(op->kind)) {
    struct aprof_token *token = cell(op->token);
    *token = (struct aprof_token){0};
    if (*gate.flag && !op->dropped)
      opening(op, token);
  } else if (op->dropped) {
    return;
  } else if (op_closes(op->kind)) {
    if (cell(op->token)->word[0])
      closing(op, cell(op->token));
  } else if (*gate.flag) {
    single(op);
  }
}

/* Of the profile that is there since this thread's first event. */
static void trace_begins(void) {
  struct aprof_header *h = rt.header;
  h->trace_size = 1u << 20;
  h->trace_share = program->traced == TRACE_SOME ? 1u << 31 : UINT32_MAX;
  h->mode |= APROF_TRACE_RECORD | (program->traced == TRACE_SOME ? APROF_TRACE_SHARED : 0);
  h->trace_until = UINT64_MAX;
  aprof_trace_switch(h, 1);
}

static void prime(unsigned thread) {
  tids[thread] = gettid();
  struct aprof_token token = {0};
  gate.enter(&places.primer, &token, NULL);
  if (token.word[0])
    gate.leave(&token, APROF_DONE);
  if (thread == 0 && program->traced)
    trace_begins();
  if (program->shed) {
    aprof_self->shed = program->shed;
    aprof_self->stood = clock_read();
    aprof_self->check_at = UINT64_MAX;
  }
}

/* As with a ceiling, which would have been an option: whatever is shed, by one's own choice. */
static void take_governed_gate(void) {
  fast_all(&gate, APROF_CLOCK_VIRTUAL | CLOCK_GOVERNED);
  fast_traced(&traced_usual, APROF_CLOCK_VIRTUAL | CLOCK_GOVERNED);
  fast_some(&some_usual, APROF_CLOCK_VIRTUAL | CLOCK_GOVERNED);
}

/* Every thread goes through the program and waits where an op is another's. */
static void take_part(unsigned me) {
  char cells[CELL * (PROGRAM_DEPTH + 1)] __attribute__((aligned(16)));
  stacks[me] = cells + CELL * PROGRAM_DEPTH;
  prime(me);
  if (me + 1 < program->threads)
    sem_post(&turns[me + 1]);
  else
    sem_post(&turns[program->ops[0].thread]);
  sem_wait(&turns[me]);
  for (uint32_t all = program->count * program->rounds; position < all;) {
    const struct op *op = &program->ops[position % program->count];
    if (op->tidies && position >= all - program->count) {
      position++;
      continue;
    }
    if (op->thread != me) {
      sem_post(&turns[op->thread]);
      sem_wait(&turns[me]);
      continue;
    }
    if (op->record == RECORD_BEGINS) {
      replay_begin(rt.header);
      recorded_begin();
    } else if (op->record == RECORD_ROTATES)
      recorded_rotate();
    event(op);
    replay_follow();
    position++;
  }
  if (me) {
    sem_post(&turns[0]);
    for (;;)
      pause(); /* its stack and its block stay as they are */
  }
}

static void *other_thread(void *number) {
  unsigned me = (unsigned)(uintptr_t)number;
  sem_wait(&turns[me]);
  take_part(me);
  return NULL;
}

static int thread_number(int32_t tid) {
  for (unsigned i = 0; i < PROGRAM_THREADS; i++)
    if (tids[i] == tid)
      return (int)i;
  return -1;
}

static const char *address_name(const void *address) {
  struct aprof_site *site = place_of_address(address);
  return site ? site->name : NULL;
}

bool execute(const struct program *what, struct rows *rows) {
  program = what;
  position = 0;
  if (__aprof_attach(&gate) != 0) {
    fprintf(stderr, "random: the runtime did not take the gate\n");
    return false;
  }
  if (program->shed)
    take_governed_gate();
  char *region = malloc(PROGRAM_STRANDS * STACK);
  for (unsigned i = 0; i < PROGRAM_STRANDS; i++)
    stacks[i] = region + (size_t)i * STACK + STACK - CELL;
  gate.api_clock_advance(1000);
  for (unsigned i = 0; i < program->threads; i++)
    sem_init(&turns[i], 0, 0);
  for (unsigned i = 1; i < program->threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, other_thread, (void *)(uintptr_t)i) != 0)
      abort();
  }
  take_part(0);
  const struct aprof_header *header = reader_find();
  if (!header || header->clock_source != APROF_CLOCK_VIRTUAL) {
    fprintf(stderr, "random: no profile on the virtual clock\n");
    return false;
  }
  reader_address_name = address_name;
  reader_thread_number = thread_number;
  reader_rows(header, header->virtual_now, rows);
  reader_request_rows(header, rows);
  free(region);
  return true;
}
