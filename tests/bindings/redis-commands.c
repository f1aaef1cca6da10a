/* SPDX-License-Identifier: MIT */
/* A table of commands as redis 7 has one, and who calls through it: a client, a transaction that
   calls what it has queued for the same client, a script that calls for a client of its own. */
#include <stdio.h>
#include <string.h>

#include "count.h"

typedef struct client client;
typedef void redisCommandProc(client *c);
struct redisCommand {
  redisCommandProc *proc;
  char *fullname;
};
struct client {
  struct redisCommand *cmd;
};

static struct count set = {.name = "setCommand"}, get = {.name = "getCommand"},
                    exec = {.name = "execCommand"}, eval = {.name = "evalCommand"};
static client script;

static void setCommand(client *c), getCommand(client *c), execCommand(client *c),
    evalCommand(client *c);
static struct redisCommand table[] = {{setCommand, (char[]){"set"}},
                                      {getCommand, (char[]){"config|get"}},
                                      {execCommand, (char[]){"exec"}},
                                      {evalCommand, (char[]){"eval"}}};

static void call(client *c, const char *name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].fullname, name) == 0)
      c->cmd = &table[i];
  c->cmd->proc(c);
}

static void count(struct count *of) {
  of->created++;
  of->done++;
}

static void setCommand(client *c) {
  (void)c;
  count(&set);
}

static void getCommand(client *c) {
  (void)c;
  count(&get);
}

static void execCommand(client *c) {
  struct redisCommand *own = c->cmd;
  count(&exec);
  for (int i = 0; i < 3; i++)
    call(c, "set");
  call(c, "config|get");
  exec.waits += 4;
  c->cmd = own;
}

static void evalCommand(client *c) {
  (void)c;
  count(&eval);
  call(&script, "set");
  eval.waits++;
}

int main(void) {
  client one = {NULL}, other = {NULL};
  for (int i = 0; i < 10; i++) {
    call(&one, "set");
    call(&other, i % 2 ? "config|get" : "exec");
    call(&one, "eval");
  }
  count_print(&set);
  count_print(&get);
  count_print(&exec);
  count_print(&eval);
  return 0;
}
