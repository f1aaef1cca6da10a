/* SPDX-License-Identifier: MIT */
/* What a call tells its callee of values; see flow.h. */
#include "flow.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* Facts live as long as the run: their texts are kept once each. */
static const char *lasting(const char *text) {
  static char **kept;
  static size_t count, room;
  size_t at = 5381;
  if (count * 2 >= room) {
    char **old = kept;
    size_t before = room;
    room = room ? room * 2 : 1024;
    kept = allocate(room, sizeof *kept);
    count = 0;
    for (size_t i = 0; i < before; i++)
      if (old[i])
        lasting(old[i]);
    free(old);
  }
  for (const char *c = text; *c; c++)
    at = at * 33 + (unsigned char)*c;
  for (at %= room; kept[at]; at = (at + 1) % room)
    if (!strcmp(kept[at], text))
      return kept[at];
  count++;
  return kept[at] = print_string("%s", text);
}

static bool has_object(const struct ir_function *callee) {
  return callee->flags & IR_MEMBER && !(callee->flags & IR_MAKES);
}

/* The callee's name for its argument: parameters are its first variables. */
static void name_argument(char *name, size_t size, const struct ir_function *callee, size_t at) {
  bool member = has_object(callee);
  if (member && at == 0)
    snprintf(name, size, "this");
  else
    snprintf(name, size, "$%zu", at - member);
}

static bool is_parameter(const struct ir_function *callee, size_t at) {
  bool member = has_object(callee);
  return (member && at == 0) || (at - member < callee->body->variables &&
                                 callee->body->variable[at - member].flags & IR_PARAMETER);
}

/* A fact about the argument itself, or what stands behind it. */
static void pass_fact(const struct fact *f, const char *argument, const char *name,
                      struct facts *entry) {
  bool address = *argument == '&';
  const char *base = argument + address;
  size_t length = strlen(base);
  if (f->kind > FACT_IS_NOT || f->length < length || strncmp(f->of, base, length))
    return;
  const char *rest = f->of + length;
  size_t more = f->length - length;
  char text[128];
  if (!more && !address)
    snprintf(text, sizeof text, "%s", name);
  else if (address && more > 1 && *rest == '.')
    snprintf(text, sizeof text, "%s->%.*s", name, (int)more - 1, rest + 1);
  else if (!address && more > 2 && rest[0] == '-')
    snprintf(text, sizeof text, "%s%.*s", name, (int)more, rest);
  else
    return;
  facts_add(entry, fact_of(lasting(text), f->kind, f->number));
}

/* A flag is what it is; of other numbers, whether they are 0: another caller has another one. */
static struct fact flag_of(const char *name, int64_t number) {
  bool flag = number == 0 || number == 1;
  return fact_of(name, flag ? FACT_IS : FACT_IS_NOT, flag ? number : 0);
}

void flow_pass(const struct facts *known, const struct ir_step *call,
               const struct ir_function *callee, struct facts *entry) {
  entry->count = 0;
  for (size_t i = 0; i < call->argument.count && is_parameter(callee, i); i++) {
    const char *argument = call->argument.text[i];
    char name[32];
    name_argument(name, sizeof name, callee, i);
    if (argument[0] == '#' && !strchr(argument, ' '))
      facts_add(entry, flag_of(lasting(name), strtoll(argument + 1, NULL, 10)));
    else if ((argument[0] == '&' || argument[0] == '%' || argument[0] == '"') &&
             !strpbrk(argument, "? "))
      facts_add(entry, fact_of(lasting(name), FACT_IS_NOT, 0));
    for (size_t k = 0; k < known->count && !strpbrk(argument, "? #%"); k++)
      pass_fact(&known->fact[k], argument, name, entry);
  }
}
