/* SPDX-License-Identifier: MIT */
/* The document that a page draws: show/page-json.c. In a browser: tests/web/page-test.sh. */
#include "show/page.h"

#include "read/json.h"
#include "read/util.h"
#include "shown.h"
#include "suite.h"

static char *document_of(struct view *v, bool here, bool in_page) {
  const struct page_options o = {.no_source = true, .here = here, .limits = ASK_DEFAULTS};
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  page_json(v, &o, in_page, out);
  fclose(out);
  return text;
}

static char *document(struct view *v, bool in_page) {
  return document_of(v, false, in_page);
}

static struct view *rich(void) {
  struct synthetic *s = synthetic_rich();
  struct view *v = shown_view(s, "exit", 0);
  free(s);
  return v;
}

static cJSON *read_document(const char *text) {
  char *fault = NULL;
  cJSON *page = json_parse(text, strlen(text), &fault);
  ck_assert_msg(page != NULL, "%s", fault);
  return page;
}

/* What its functions have is on its paths, and all of it what the view has. */
START_TEST(sums_are_the_views) {
  struct view *v = rich();
  char *text = document(v, false);
  cJSON *page = read_document(text);
  double exec = 0, paths = 0;
  for (size_t i = 0; i < v->functions; i++)
    exec += (double)v->function[i].exec;
  const cJSON *row, *rows = json_member(json_member(page, "paths"), "rows");
  const cJSON *columns = json_member(json_member(page, "paths"), "columns");
  ck_assert_str_eq(cJSON_GetArrayItem(columns, 5)->valuestring, "exec_ns");
  cJSON_ArrayForEach(row, rows) paths += cJSON_GetArrayItem(row, 5)->valuedouble;
  ck_assert_double_gt(exec, 0);
  ck_assert_double_eq(paths, exec);
  ck_assert_int_eq(cJSON_GetArraySize(json_member(page, "functions")), (int)v->functions);
  json_free(page);
  free(text);
  view_free(v);
}
END_TEST

/* A busy function whose longest run is so long; in a process of that number. */
static struct view *holds(uint32_t pid, uint64_t longest) {
  struct synthetic *s = synthetic_new();
  uint32_t hog = synthetic_site(s, APROF_SITE_FUNCTION, "hog", "hog.c", 10, 1);
  synthetic_block(s, 1);
  struct aprof_counters *c = synthetic_counters(s, 1, synthetic_node(s, 0, hog, 0));
  s->header->pid = pid;
  c->function.done = c->function.slices = 20;
  c->function.exec = 20 * longest;
  c->function.slice_max = longest;
  struct view *v = shown_view(s, "exit", 30 * longest);
  free(s);
  return v;
}

static char *next_of(bool here, bool apart) {
  struct view *v = holds(4711, 20000000), *other = holds(4712, 50000000);
  view_merge(v, other, apart);
  char *text = document_of(v, here, false), *next = NULL;
  cJSON *page = read_document(text);
  const cJSON *f, *findings = json_member(page, "findings");
  cJSON_ArrayForEach(f, findings) if (!next && cJSON_IsString(json_member(f, "next"))) next =
      print_string("%s", json_member(f, "next")->valuestring);
  ck_assert_ptr_nonnull(next);
  json_free(page);
  free(text);
  view_free(v);
  view_free(other);
  return next;
}

/* Of several processes of this machine the next command names the one that it is about. */
START_TEST(the_next_command_names_its_process) {
  char *apart = next_of(true, true), *together = next_of(true, false), *away = next_of(false, true);
  ck_assert_str_eq(apart, "aprof report 4712 -f hog");
  ck_assert_str_eq(together, "aprof report 4712 -f hog");
  ck_assert_str_eq(away, "aprof report TARGET -f hog");
  free(apart);
  free(together);
  free(away);
}
END_TEST

/* A path stands behind the one above it, as who draws it counts on. */
START_TEST(parents_come_first) {
  struct view *v = rich();
  char *text = document(v, false);
  cJSON *page = read_document(text);
  int at = 0;
  const cJSON *row, *rows = json_member(json_member(page, "paths"), "rows");
  cJSON_ArrayForEach(row, rows) {
    const cJSON *parent = cJSON_GetArrayItem(row, 0);
    ck_assert(cJSON_IsNull(parent) || parent->valuedouble < at);
    at++;
  }
  ck_assert_int_gt(at, 2);
  json_free(page);
  free(text);
  view_free(v);
}
END_TEST

/* In a page no text can end the element that the document stands in. */
START_TEST(no_text_ends_the_element) {
  struct view *v = rich();
  v->function[0].name = "</script><script>alert(1)</script>";
  v->process.name = "<!-- <script>";
  char *plain = document(v, false), *text = document(v, true);
  ck_assert_ptr_nonnull(strchr(plain, '<'));
  ck_assert_ptr_null(strchr(text, '<'));
  cJSON *page = read_document(text);
  const cJSON *first = cJSON_GetArrayItem(json_member(page, "functions"), 0);
  ck_assert_str_eq(json_get_text(first, "name"), v->function[0].name);
  json_free(page);
  free(plain);
  free(text);
  view_free(v);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("page");
  tcase_add_test(tests, sums_are_the_views);
  tcase_add_test(tests, the_next_command_names_its_process);
  tcase_add_test(tests, parents_come_first);
  tcase_add_test(tests, no_text_ends_the_element);
  return suite_run("cli page", tests);
}
