/*
 * A runtime that prints: each event as one line on stdout, in the order in
 * which it arrives. Linked into the test programs in place of libaprof, it makes
 * what the plugin inserts visible, on every way out of a function.
 *
 *     enter serve:12        token opened
 *       suspend wait_for:14
 *       resume wait_for
 *     leave serve DONE
 *
 * Keys are printed as the program's own names where they were registered with
 * trace_key, else as numbers, or "ADDR" if they look like addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aprof/abi.h>

static uint32_t on = 1;
static uint64_t next_token = 1;
static int quiet;
static unsigned long events;

static struct {
  const void *address;
  const char *name;
} keys[64];
static int key_count;

void trace_key(const void *address, const char *name);
void trace_on(int value);
void trace_quiet(void);
unsigned long trace_events(void);

void trace_key(const void *address, const char *name) {
  keys[key_count].address = address;
  keys[key_count++].name = name;
}

void trace_on(int value) {
  on = (uint32_t)value;
}
void trace_quiet(void) {
  quiet = 1;
}
unsigned long trace_events(void) {
  return events;
}

static const char *key_text(uint64_t key, char *buffer) {
  for (int i = 0; i < key_count; i++)
    if ((uint64_t)(uintptr_t)keys[i].address == key)
      return keys[i].name;
  if (key > 1000000 && key < (uint64_t)-1000000)
    return "ADDR";
  sprintf(buffer, "%lld", (long long)key);
  return buffer;
}

static const char *how_text(int how) {
  static const char *const names[] = {"DONE", "FAILED", "CANCELLED", "PENDING", "POLLED"};
  return how >= 0 && how < 5 ? names[how] : "?";
}

static const char *flags_text(const struct aprof_site *site, char *buffer) {
  static const char *const names[] = {"once",  "multi",      "ready",   "rearm",   "root",
                                      "names", "background", "worker",  "orphan",  "quiet",
                                      "",      "helper",     "polling", "keyless", "noreturn"};
  buffer[0] = '\0';
  if (site->kind == APROF_SITE_WAKE) /* there the bits mean something else */
    return site->flags & APROF_HAND ? " hand" : "";
  for (int i = 0; i < 15; i++)
    if ((site->flags & (1u << i)) && *names[i])
      sprintf(buffer + strlen(buffer), " %s", names[i]);
  return buffer;
}

/* The site behind each open token, so that closing events can name it. */
static struct aprof_site *site_of(struct aprof_token *token) {
  return (struct aprof_site *)(uintptr_t)token->word[1];
}

static void say(const char *event, const struct aprof_site *site, const char *rest) {
  char flags[128];
  events++;
  if (!quiet)
    printf("  %s %s:%u%s%s\n", event, site->name, site->line, flags_text(site, flags), rest);
}

static void say_end(const char *event, struct aprof_token *token, const char *rest) {
  events++;
  if (token->word[0] == 0 || token->word[2] != (token->word[0] ^ 0x5a5a))
    printf("  BAD TOKEN in %s\n", event);
  else if (!quiet)
    printf("  %s %s%s\n", event, site_of(token)->name, rest);
  token->word[2] = 0;
}

static void check_kind(const struct aprof_site *site, int kind) {
  if (site->kind != kind)
    printf("  BAD KIND %d of %s, should be %d\n", site->kind, site->name, kind);
  if ((uintptr_t)site % 8 != 0 || site->file == NULL || site->function == NULL)
    printf("  BAD SITE %s\n", site->name);
}

static void open_token(struct aprof_token *token, struct aprof_site *site) {
  if (token->word[0])
    printf("  TOKEN NOT ZERO at %s:%u\n", site->name, site->line);
  token->word[0] = next_token++;
  token->word[1] = (uintptr_t)site;
  token->word[2] = token->word[0] ^ 0x5a5a;
}

static void enter(struct aprof_site *f, struct aprof_token *token, const void *self) {
  check_kind(f, APROF_SITE_FUNCTION);
  open_token(token, f);
  say("enter", f, getenv("TRACE_SELF") ? (self ? " self" : " noself") : "");
}

static void leave(struct aprof_token *token, int how) {
  char rest[64];
  sprintf(rest, " %s", how_text(how));
  say_end("leave", token, rest);
}

static void suspend(struct aprof_site *a, struct aprof_token *token) {
  check_kind(a, APROF_SITE_AWAIT);
  open_token(token, a);
  say("suspend", a, "");
}

static void resume(struct aprof_token *token) {
  say_end("resume", token, "");
}

static void at(struct aprof_site *call) {
  if (call == NULL) {
    events++;
    if (!quiet)
      printf("  at -\n");
    return;
  }
  if (call->kind != APROF_SITE_AWAIT) /* a line about the call */
    check_kind(call, APROF_SITE_CALL);
  say("at", call, "");
}

static void create_begin(struct aprof_site *c, struct aprof_token *token,
                         struct aprof_site *function, const void *fn) {
  char rest[256];
  check_kind(c, APROF_SITE_CREATE);
  open_token(token, c);
  sprintf(rest, " function=%s fn=%s%s%.99s", function ? function->name : "-", fn ? "yes" : "-",
          c->tier ? " tier=" : "", c->tier ? c->tier : "");
  say("create_begin", c, rest);
}

static const char *pair(uint64_t key0, uint64_t key1, char *buffer) {
  char a[32], b[32];
  sprintf(buffer, "(%s,%s)", key_text(key0, a), key_text(key1, b));
  return buffer;
}

static void create_key(struct aprof_token *token, uint64_t key0, uint64_t key1) {
  char key[128];
  events++;
  if (!quiet)
    printf("  create_key %s key=%s\n", site_of(token)->name, pair(key0, key1, key));
}

static void create_end(struct aprof_token *token, uint64_t key0, uint64_t key1, int ok) {
  char key[128], rest[192];
  sprintf(rest, " key=%s ok=%d", pair(key0, key1, key), ok);
  say_end("create_end", token, rest);
}

static void run_begin(struct aprof_site *run, struct aprof_token *token, uint64_t key0,
                      uint64_t key1, struct aprof_site *function, const void *self) {
  static const char *const models[] = {"none", "stack", "frame", "callback"};
  char key[128], rest[256];
  check_kind(run, APROF_SITE_RUN);
  if ((run->flags & APROF_QUIET) && strcmp(pair(key0, key1, key), "(nobody,0)") == 0) {
    say("run_begin", run, " nobody");
    return;
  }
  open_token(token, run);
  sprintf(rest, " key=%s ns=%s %s%s%s", pair(key0, key1, key), run->ns ? "named" : "none",
          function ? function->name : self ? "fn=" : "-", function ? " " : "",
          function ? models[function->model] : "");
  say("run_begin", run, rest);
}

static void run_end(struct aprof_token *token, int how, struct aprof_site *where) {
  char rest[64];
  if (where)
    check_kind(where, APROF_SITE_RETURN);
  sprintf(rest, " %s", how_text(how));
  if (where)
    sprintf(rest + strlen(rest), " at line %u", where->line);
  say_end("run_end", token, rest);
}

static void wake(struct aprof_site *w, uint64_t key0, uint64_t key1) {
  char key[128], rest[192];
  check_kind(w, APROF_SITE_WAKE);
  sprintf(rest, " key=%s%s", pair(key0, key1, key), w->ns == APROF_NS_ANY ? " any" : "");
  say("wake", w, rest);
}

static void end(struct aprof_site *e, uint64_t key0, uint64_t key1, int how) {
  char key[128], rest[192];
  check_kind(e, APROF_SITE_END);
  sprintf(rest, " key=%s%s %s", pair(key0, key1, key), e->ns == APROF_NS_ANY ? " any" : "",
          how_text(how));
  say("end", e, rest);
}

static void idle_begin(struct aprof_site *i, struct aprof_token *token) {
  check_kind(i, APROF_SITE_IDLE);
  open_token(token, i);
  say("idle_begin", i, "");
}

static void idle_end(struct aprof_token *token) {
  say_end("idle_end", token, "");
}

static void resync(struct aprof_token *token) {
  events++;
  if (!quiet)
    printf("  resync %s\n", site_of(token)->name);
}

static void here(struct aprof_token *token) {
  static struct aprof_site plain = {.name = "(no body)"};
  events++;
  if (!quiet)
    printf("  here\n");
  token->word[1] = token->word[2] = 0; /* all of it is written here, whatever was there */
  open_token(token, &plain);
}

static void wake_current(struct aprof_site *w) {
  say("wake_current", w, "");
}

static void end_current(struct aprof_site *e, int how) {
  char rest[64];
  sprintf(rest, " %s", how_text(how));
  say("end_current", e, rest);
}

static void switch_to(struct aprof_site *s, struct aprof_token *token, uint64_t key0,
                      uint64_t key1) {
  char key[128], rest[192];
  check_kind(s, APROF_SITE_SWITCH);
  open_token(token, s);
  sprintf(rest, " key=%s", pair(key0, key1, key));
  say("switch_to", s, rest);
}

static void due(struct aprof_token *token, uint64_t ns) {
  events++;
  if (!quiet)
    printf("  due %s in %llu ns\n", site_of(token)->name, (unsigned long long)ns);
}

static void blocking_begin(struct aprof_site *b, struct aprof_token *token) {
  check_kind(b, APROF_SITE_BLOCKING);
  open_token(token, b);
  say("blocking_begin", b, "");
}

static void blocking_end(struct aprof_token *token) {
  say_end("blocking_end", token, "");
}

static void span_begin(struct aprof_site *s, struct aprof_token *token) {
  char rest[128];
  if (s->kind != APROF_SITE_SPAN && s->kind != APROF_SITE_TIER)
    printf("  BAD KIND\n");
  open_token(token, s);
  sprintf(rest, "%s%.100s", s->tier ? " tier=" : "", s->tier ? s->tier : "");
  say(s->kind == APROF_SITE_SPAN ? "span_begin" : "tier_begin", s, rest);
}

static void span_end(struct aprof_token *token) {
  say_end("span_end", token, "");
}

static const char *value_text(int type, uint64_t value, uint64_t length, char *buffer) {
  const char *text = (const char *)(uintptr_t)value;
  switch (type) {
  case APROF_VALUE_TEXT: sprintf(buffer, " \"%.63s\"", text ? text : "(null)"); break;
  case APROF_VALUE_COUNTED:
    sprintf(buffer, " \"%.*s\"", (int)(length < 63 ? length : 63), text ? text : "(null)");
    break;
  case APROF_VALUE_SIGNED: sprintf(buffer, " %lld", (long long)value); break;
  case APROF_VALUE_UNSIGNED: sprintf(buffer, " %llu", (unsigned long long)value); break;
  default: sprintf(buffer, " BAD TYPE %d", type);
  }
  return buffer;
}

static void label(struct aprof_site *l, uint64_t key0, uint64_t key1, int type, uint64_t value,
                  uint64_t length) {
  char key[128], text[96], rest[256];
  check_kind(l, APROF_SITE_LABEL);
  sprintf(rest, " key=%s%s", pair(key0, key1, key), value_text(type, value, length, text));
  say("label", l, rest);
}

static void label_current(struct aprof_site *l, int type, uint64_t value, uint64_t length) {
  char text[96];
  check_kind(l, APROF_SITE_LABEL);
  say("label_current", l, value_text(type, value, length, text));
}

static void about(struct aprof_token *token, int what, int type, uint64_t value, uint64_t length) {
  char text[96];
  events++;
  if (!quiet)
    printf("  about %s %s%s\n", site_of(token)->name,
           what == APROF_ABOUT_LABEL      ? "label"
           : what == APROF_ABOUT_TOKEN    ? "token"
           : what == APROF_ABOUT_LEFT_OUT ? "left out"
                                          : "BAD",
           value_text(type, value, length, text));
}

static void run_for(struct aprof_token *token, uint64_t ns, uint64_t key0, uint64_t key1) {
  char key[128];
  events++;
  if (!quiet)
    printf("  run_for %s ns=%llu key=%s\n", site_of(token)->name, (unsigned long long)ns,
           pair(key0, key1, key));
}

static void token_out(char *buffer) {
  events++;
  if (!quiet)
    printf("  token_out\n");
  strcpy(buffer, "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01");
}

int __aprof_attach(struct aprof_gate *gate) {
  if (gate->abi != APROF_ABI || gate->size != sizeof *gate || gate->flag != &gate->closed || gate->closed != 0)
    printf("  BAD GATE\n");
  if (getenv("TRACE_OFF"))
    on = 0;
#define FILL(with, role, name, parameters, arguments) gate->name = name;
  APROF_GATE_EVENTS(FILL, 0)
  gate->flag = &on;
  return 0;
}
/* SPDX-License-Identifier: MIT */
