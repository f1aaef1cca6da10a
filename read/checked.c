/* SPDX-License-Identifier: MIT */
/* What a check has found; see checked.h. */
#include "checked.h"

#include "json.h"
#include "names.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

static char *text_of(const cJSON *object, const char *name) {
  const char *text = json_get_text(object, name);
  char *copy = print_string("%s", text ? text : "");
  clean_text(copy); /* it goes to terminals */
  return copy;
}

static void add(struct checked *c, const cJSON *item) {
  uint64_t line = json_value(json_member(item, "line"), 0);
  if (!line || !json_get_text(item, "file") || !json_get_text(item, "text"))
    return;
  c->finding[c->findings++] = (struct checked_finding){.file = text_of(item, "file"),
                                                       .line = line,
                                                       .rule = text_of(item, "rule"),
                                                       .text = text_of(item, "text"),
                                                       .mend = text_of(item, "mend")};
}

struct checked *checked_read(const char *path) {
  size_t length;
  char *text = read_text_file(path, MOST_BYTES, &length), *fault = NULL;
  if (!text) {
    complain("cannot read %s: %s", path, strerror(errno));
    return NULL;
  }
  cJSON *json = json_parse(text, length, &fault);
  const char *schema = json ? json_get_text(json, "schema") : NULL;
  const cJSON *list = json ? json_member(json, "findings") : NULL, *item;
  struct checked *c = NULL;
  if (!json)
    complain("%s is %s; `aprof check --json -o FILE' writes what belongs here", path, fault);
  else if (!schema || strcmp(schema, "aprof.check/1") || !cJSON_IsArray(list))
    complain("%s is not what a check found; `aprof check --json -o FILE' writes that", path);
  else {
    c = allocate(1, sizeof *c);
    c->finding = allocate((size_t)cJSON_GetArraySize(list) + 1, sizeof *c->finding);
    cJSON_ArrayForEach(item, list) add(c, item);
  }
  json_free(json);
  free(fault);
  free(text);
  return c;
}

void checked_free(struct checked *c) {
  for (size_t i = 0; c && i < c->findings; i++) {
    free((char *)c->finding[i].file);
    free((char *)c->finding[i].rule);
    free((char *)c->finding[i].text);
    free((char *)c->finding[i].mend);
  }
  if (c)
    free(c->finding);
  free(c);
}
