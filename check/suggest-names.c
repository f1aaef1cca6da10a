/* SPDX-License-Identifier: MIT */
/* Words in names; see suggest-names.h. */
#include "suggest-names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const words_at_once[] = {
    "alloc",   "malloc", "realloc", "free",   "destroy",   "destructor", "compare",  "cmp",
    "hash",    "equal",  "log",     "logger", "walk",      "foreach",    "each",     "copy",
    "fatal",   "print",  "printf",  "sort",   "iterate",   "iter",       "visit",    "visitor",
    "filter",  "lock",   "unlock",  "func1",  "translate", "marshal",    "cleanup",  "dup",
    "replace", "notify", "ref",     "random", "unref",     "transform",  "traverse", "setup",
    "dispose", "exec",   "parse",   "hook",   "progress",  NULL};
const char *const words_visit[] = {
    "walk",     "foreach", "each",     "sort",  "sorted",    "search", "free",    "log",
    "traverse", "atexit",  "register", "alloc", "allocator", "sync",   "thread",  "extend",
    "key",      "find",    "copy",     "hook",  "option",    "test",   "marshal", "print",
    "printerr", "impl",    "regex",    "clear", "tree",      NULL};
const char *const words_first[] = {"once", NULL};
const char *const words_once[] = {"async",  "ready",    "done", "complete", "completed",
                                  "finish", "finished", "once", "reply",    NULL};
const char *const words_async[] = {"async", NULL};
const char *const words_get[] = {"get", "is", "has", "set", NULL};
const char *const words_often[] = {
    "start",   "listen", "recv", "watch", "subscribe", "connect", "signal", "poll",
    "monitor", "on",     "set",  "setcb", "listener",  "add",     "accept", "async",
    "prepare", "check",  "idle", "event", "repeat",    "timeout", NULL};
const char *const words_end[] = {"stop",   "close", "free",   "destroy", "del",        "delete",
                                 "remove", "end",   "finish", "unwatch", "disconnect", NULL};
const char *const words_cancel[] = {"cancel", "abort", "stop", "del", "remove", NULL};
const char *const words_wake[] = {"wake",   "wakeup", "send", "notify", "trigger",
                                  "active", "resume", "feed", "signal", NULL};
const char *const words_wait[] = {"wait", "sleep", "join", "msleep", "usleep", NULL};

/* A word begins at an underscore or a capital, and ends before the next one. */
static bool is_at(const char *name, const char *at, size_t length) {
  bool begins = at == name || at[-1] == '_' ||
                (isupper((unsigned char)*at) && !isupper((unsigned char)at[-1]));
  char next = at[length];
  return begins &&
         (!next || next == '_' || isupper((unsigned char)next) || isdigit((unsigned char)next));
}

bool ends_in_word(const char *name, const char *const *words) {
  for (size_t all = strlen(name); *words; words++) {
    size_t length = strlen(*words);
    if (all > length && !strcasecmp(name + all - length, *words) &&
        is_at(name, name + all - length, length))
      return true;
  }
  return false;
}

bool has_word(const char *name, const char *const *words) {
  for (; *words; words++) {
    size_t length = strlen(*words);
    for (const char *at = name; *at; at++)
      if (!strncasecmp(at, *words, length) && is_at(name, at, length))
        return true;
  }
  return false;
}
