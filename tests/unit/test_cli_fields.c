/* SPDX-License-Identifier: MIT */
/* The table of fields, the schema of totals and aprof-totals(5) name the same members, of the
   same types: read/fields.c. */
#include "read/fields.h"
#include "read/json.h"
#include "read/util.h"
#include "suite.h"

#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static cJSON *schema;
static char *page;

static char *read_doc(const char *name, size_t *length) {
  const char *top = getenv("top_srcdir");
  char *path = print_string("%s/doc/%s", top ? top : ".", name);
  char *text = read_text_file(path, 1 << 24, length);
  ck_assert_msg(text != NULL, "%s", path);
  free(path);
  return text;
}

static void setup(void) {
  size_t length;
  char *fault = NULL, *text = read_doc("aprof.totals-2.schema.json", &length);
  schema = json_parse(text, length, &fault);
  ck_assert_ptr_nonnull(schema);
  free(text);
  page = read_doc("aprof-totals.5", &length);
}

static void teardown(void) {
  json_free(schema);
  free(page);
}

/* What a reference means; of what may be null, the other. `null` is set where it may be. */
static const cJSON *resolve(const cJSON *node, bool *null) {
  const char *to = json_get_text(node, "$ref");
  if (to && !strncmp(to, "#/definitions/", 14))
    return resolve(json_member(json_member(schema, "definitions"), to + 14), null);
  if (to && !strncmp(to, "#/properties/", 13))
    return resolve(json_member(json_member(schema, "properties"), to + 13), null);
  const cJSON *first = cJSON_GetArrayItem(json_member(node, "oneOf"), 0);
  const char *type = json_get_text(first, "type");
  if (type && !strcmp(type, "null")) {
    *null = true;
    return resolve(cJSON_GetArrayItem(json_member(node, "oneOf"), 1), null);
  }
  return node;
}

static bool has_text(const cJSON *array, const char *text) {
  const cJSON *item;
  cJSON_ArrayForEach(item, array) if (cJSON_IsString(item) &&
                                      !strcmp(item->valuestring, text)) return true;
  return false;
}

/* The type of a node without "null"; an enumeration is of strings. */
static const char *type_of(const cJSON *node, bool *null) {
  const cJSON *type = json_member(node, "type"), *item, *words = json_member(node, "enum");
  cJSON_ArrayForEach(item, words) *null |= cJSON_IsNull(item);
  if (words || json_member(node, "const"))
    return "string";
  if (cJSON_IsString(type))
    return type->valuestring;
  *null |= has_text(type, "null");
  cJSON_ArrayForEach(item, type) if (strcmp(item->valuestring, "null")) return item->valuestring;
  return "nothing";
}

static const struct {
  const char *type;
  bool null;
} in_schema[] = {[FIELD_COUNT] = {"integer", false},   [FIELD_MAYBE] = {"integer", true},
                 [FIELD_NONZERO] = {"integer", true},  [FIELD_INDEX] = {"integer", true},
                 [FIELD_ID] = {"integer", true},       [FIELD_SIGNED] = {"integer", false},
                 [FIELD_TID] = {"integer", true},      [FIELD_SHARE] = {"number", true},
                 [FIELD_TEXT] = {"string", false},     [FIELD_MAYBE_TEXT] = {"string", true},
                 [FIELD_FLAG] = {"boolean", false},    [FIELD_MAYBE_FLAG] = {"boolean", true},
                 [FIELD_HISTOGRAM] = {"object", true}, [FIELD_PAIR] = {"array", true},
                 [FIELD_SHED] = {"array", false},      [FIELD_LIST] = {"array", false},
                 [FIELD_STEPS] = {"array", false},     [FIELD_OBJECT] = {"object", false}};

/* As a word of its own, "-" escaped. */
static bool is_described(const char *name) {
  for (const char *at = page; (at = strstr(at, name)) != NULL; at++) {
    char before = at == page ? ' ' : at[-1], behind = at[strlen(name)];
    if (!isalnum(before) && before != '_' && !isalnum(behind) && behind != '_')
      return true;
  }
  return false;
}

static void compare(const struct layout *layout, const cJSON *node, const char *where);

static void compare_field(const struct field *field, const cJSON *node, const char *where) {
  bool null = false;
  const cJSON *meant = resolve(node, &null);
  const char *type = type_of(meant, &null);
  ck_assert_msg(!strcmp(type, in_schema[field->type].type), "%s.%s is a %s", where, field->name,
                type);
  bool may = in_schema[field->type].null || field->is;
  /* The sum of a ceiling is asked for, so it is there. */
  ck_assert_msg(null == may || field->type == FIELD_SHARE, "%s.%s: null", where, field->name);
  ck_assert_msg(is_described(field->name), "aprof-totals(5) has no %s", field->name);
  ck_assert_msg(field->says && *field->says, "%s.%s says nothing", where, field->name);
  if (field->type == FIELD_OBJECT)
    compare(field->of, meant, field->name);
  if (field->type == FIELD_LIST || field->type == FIELD_STEPS)
    compare(field->of, json_member(meant, "items"), field->name);
}

static void compare(const struct layout *layout, const cJSON *node, const char *where) {
  bool null = false;
  size_t count = 0;
  const cJSON *one = cJSON_GetArrayItem(json_member(node, "oneOf"), 0);
  const cJSON *other = cJSON_GetArrayItem(json_member(node, "oneOf"), 1);
  if (layout->other) {
    compare(layout->other, other, where);
    node = one;
  }
  node = resolve(node, &null);
  const cJSON *properties = json_member(node, "properties");
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    if (!field->name)
      continue;
    const cJSON *property = json_member(properties, field->name);
    ck_assert_msg(property != NULL, "the schema has no %s.%s", where, field->name);
    ck_assert_msg(has_text(json_member(node, "required"), field->name), "%s.%s is not required",
                  where, field->name);
    compare_field(field, property, where);
    count++;
  }
  /* These two are no numbers of the view. */
  count += layout == &layout_totals ? 2 : 0;
  ck_assert_msg((size_t)cJSON_GetArraySize(properties) == count, "the schema has more in %s",
                where);
}

START_TEST(schema_and_page_have_the_table) {
  compare(&layout_totals, schema, "totals");
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("fields");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, schema_and_page_have_the_table);
  return suite_run("cli fields", tests);
}
