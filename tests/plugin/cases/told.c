/* What is told of requests: which text or number arrives where, and when nothing is told. */
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
void trace_key(const void *address, const char *name);

enum METHODS { GET, PUT = 7, DELETE = -2, POST = PUT };
typedef enum METHODS methods;

struct thing {
  const char *name;
  unsigned length;
  enum METHODS method;
  struct thing *owner;
  char token[8];
  char reply[64];
};

struct operations {
  void (*call)(int);
  struct thing *owner;
  unsigned char name[8];
};

static struct thing first = {"first", 3, GET, NULL, "tokens", ""},
                    second = {"second", 2, PUT, &first, "more", ""},
                    third = {NULL, 0, (enum METHODS)5, &second, "", ""};

const char *identify(int x) { return x > 1 ? "many" : x == 1 ? "one" : NULL; }

NOINLINE struct thing *request_new(const char *name, const char *token) {
  return strcmp(name, "second") == 0 && token ? &second : &first;
}
NOINLINE void on_request(struct thing *t) { printf("on %s\n", t->name); }
NOINLINE void counted_new(struct thing *t) { t->length = 4; }
NOINLINE int numbered(struct thing *t) { return (int)t->length - 4; }
NOINLINE int co_main(struct thing *t, const char *token) { return t && token; }
NOINLINE int handle(struct thing *t) { return (int)t->length; }
NOINLINE void handle_big(unsigned long x) { printf("%lu\n", x); }
NOINLINE void handle_small(signed char x) { printf("%d\n", x); }
NOINLINE void on_timer(struct thing *t) { printf("timer %u\n", t->length); }
NOINLINE void step(struct thing *t) { printf("step %u\n", t->length); }
NOINLINE struct thing *route(struct thing *t) { return t->owner; }
NOINLINE int fill(struct thing *t, const char *name) {
  t->name = name;
  return name == NULL;
}
NOINLINE void plain(int x) { printf("plain %d\n", x); }
NOINLINE void named(struct thing *t) { printf("named %d\n", t != NULL); }
NOINLINE int of_type(struct thing t) { return (int)t.length; }
NOINLINE void send(int x, char *header) { printf("send %d %.5s\n", x, header); }
NOINLINE void ask(struct thing *t) { printf("ask %.5s\n", t->reply); }
NOINLINE void pass(struct thing *t) { printf("pass %u\n", t->length); }
static void does(int x) { printf("does %d\n", x); }

static struct operations operations = {does, &second, "op"};
NOINLINE static struct operations *find(void) { return &operations; }

int main(void) {
  char header[56] = "";
  trace_key(&first, "first");
  trace_key(&second, "second");
  trace_key(&third, "third");
  on_request(request_new("second", "00-aa"));
  on_request(request_new("longer than what is kept of a text, which is sixty-three bytes of it", NULL));
  counted_new(&first);
  numbered(&first);
  numbered(&second);
  co_main(&first, "00-bb");
  co_main(NULL, NULL);
  handle(&first);
  handle(&second);
  handle(&third);
  handle_big(~0ul);
  handle_small(-1);
  on_timer(&second);
  on_timer(&third);
  on_timer(&first);
  step(&first);
  route(&third);
  route(&first);
  fill(&third, "third");
  fill(&third, NULL);
  plain(0);
  plain(1);
  plain(2);
  named(&second);
  named(NULL);
  of_type(second);
  find()->call(3);
  first.method = (enum METHODS)(find()->owner == &second ? DELETE : GET);
  send(1, header);
  send(2, header);
  ask(&first);
  pass(&second);
  return 0;
}
/* SPDX-License-Identifier: MIT */
