/* Totals tested: the equations; see verify.h. Types have been looked at before. */
#include "verify.h"

#include "json.h"
#include "util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t get(const cJSON *object, const char *name) {
  return json_get(object, name, 0);
}

/* Sums of numbers below 2^63 may pass 2^64. */
typedef unsigned __int128 sum_t;

/* "functions[3].wall_ns is 7, but REST is 9"; NULL where the two are equal. */
static char *compare(const char *where, const char *name, uint64_t value, const char *rest,
                     sum_t sum) {
  if (sum == value)
    return NULL;
  if (sum > INT64_MAX)
    return print_string("%s.%s is %" PRIu64 ", but %s is beyond 2^63", where, name, value, rest);
  return print_string("%s.%s is %" PRIu64 ", but %s is %" PRIu64, where, name, value, rest,
                      (uint64_t)sum);
}

static sum_t sum_over(const cJSON *array, const char *name) {
  const cJSON *item;
  sum_t sum = 0;
  cJSON_ArrayForEach(item, array) sum += get(item, name);
  return sum;
}

static char *check_created(const cJSON *object, const char *where) {
  sum_t created = (sum_t)get(object, "done") + get(object, "failed") + get(object, "cancelled") +
                  get(object, "detached") + get(object, "live");
  return compare(where, "created", get(object, "created"),
                 "done + failed + cancelled + detached + live", created);
}

static char *check_wall(const cJSON *object, const char *where) {
  sum_t wall = (sum_t)get(object, "queued_ns") + get(object, "exec_ns") + get(object, "waiting_ns");
  return compare(where, "wall_ns", get(object, "wall_ns"), "queued_ns + exec_ns + waiting_ns",
                 wall);
}

/* -- paths ------------------------------------------------------------------------ */

/* What the paths of a function have to add up to. */
enum { CREATED, LIVE, SLICES, EXEC, QUEUED, WAITING, SUMS };

static const char *const sum_names[] = {"created", "live",      "slices",
                                        "exec_ns", "queued_ns", "waiting_ns"};

struct paths {
  size_t functions, count;
  sum_t (*of)[SUMS];           /* by function */
  const cJSON **by_id;         /* in the order of the file: ids rise */
  sum_t *exec_beneath, *waits; /* by place in the file */
};

static size_t find_path(const struct paths *p, uint64_t id) {
  size_t low = 0, high = p->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (get(p->by_id[middle], "id") < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < p->count && get(p->by_id[low], "id") == id ? low : SIZE_MAX;
}

/* Ids rise, parents come first and are functions, functions are there. */
static char *check_path(struct paths *p, const cJSON *item) {
  uint64_t id = get(item, "id"), parent = get(item, "parent");
  const cJSON *function = json_member(item, "function");
  size_t index = p->count, above = parent ? find_path(p, parent) : SIZE_MAX;
  if (!id || (index && id <= get(p->by_id[index - 1], "id")))
    return print_string("tree[%zu].id is %" PRIu64 ", not above that of the path before", index,
                        id);
  if (parent && (above == SIZE_MAX || !json_member(p->by_id[above], "function")))
    return print_string("tree[%zu].parent is %" PRIu64 ", which is no function's path before it",
                        index, parent);
  if (!function && !parent)
    return print_string("tree[%zu].parent is null, but it is an await's path", index);
  if (get(item, "function_index") >= p->functions)
    return print_string("tree[%zu].function_index is %" PRIu64 ", but there are %zu functions",
                        index, get(item, "function_index"), p->functions);
  p->by_id[p->count++] = item;
  if (!function)
    p->waits[above] += get(item, "waiting_ns");
  else
    for (int i = 0; i < SUMS; i++)
      p->of[get(item, "function_index")][i] += get(item, sum_names[i]);
  return NULL;
}

static char *check_sums(const struct paths *p, size_t index) {
  const cJSON *item = p->by_id[index];
  char where[64];
  snprintf(where, sizeof where, "tree[%zu]", index);
  if (!json_member(item, "function"))
    return NULL;
  char *fault = check_created(item, where);
  if (!fault)
    fault = check_wall(item, where);
  if (!fault)
    fault = compare(where, "waiting_ns", get(item, "waiting_ns"), "the sum over its awaits",
                    p->waits[index]);
  return fault ? fault
               : compare(where, "children_exec_ns", get(item, "children_exec_ns"),
                         "the exec_ns beneath it", p->exec_beneath[index]);
}

static void add_exec(struct paths *p) {
  for (size_t i = p->count; i-- > 0;) {
    size_t above = find_path(p, get(p->by_id[i], "parent"));
    if (above != SIZE_MAX && json_member(p->by_id[i], "function"))
      p->exec_beneath[above] += p->exec_beneath[i] + get(p->by_id[i], "exec_ns");
  }
}

static char *check_tree(const cJSON *json, struct paths *p) {
  const cJSON *item;
  char *fault = NULL;
  cJSON_ArrayForEach(item,
                     json_member(json, "tree")) if ((fault = check_path(p, item))) return fault;
  add_exec(p);
  for (size_t i = 0; i < p->count && !fault; i++)
    fault = check_sums(p, i);
  return fault;
}

/* -- functions ----------------------------------------------------------------------- */

static char *check_function(const cJSON *f, const char *where, const sum_t *paths) {
  const cJSON *awaits = json_member(f, "awaits");
  char *fault = check_created(f, where);
  if (!fault)
    fault = check_wall(f, where);
  if (!fault)
    fault = compare(where, "waiting_ns", get(f, "waiting_ns"), "the sum over its awaits",
                    sum_over(awaits, "waiting_ns"));
  for (int i = 0; i < SUMS && !fault; i++)
    fault = compare(where, sum_names[i], get(f, sum_names[i]), "the sum over its paths in the tree",
                    paths[i]);
  return fault;
}

static char *check_functions(const cJSON *json, const struct paths *p) {
  const cJSON *item;
  size_t index = 0;
  char *fault = NULL;
  cJSON_ArrayForEach(item, json_member(json, "functions")) {
    char *name = print_string("functions[%zu]", index);
    fault = check_function(item, name, p->of[index++]);
    free(name);
    if (fault)
      break;
  }
  return fault;
}

/* -- threads, loops, what lives ------------------------------------------------------ */

static char *check_threads(const cJSON *json) {
  const cJSON *item;
  char *fault = NULL;
  size_t index = 0;
  cJSON_ArrayForEach(item, json_member(json, "threads")) {
    char where[64];
    sum_t elapsed = (sum_t)get(item, "exec_ns") + get(item, "idle_ns") + get(item, "other_ns");
    snprintf(where, sizeof where, "threads[%zu]", index++);
    fault = compare(where, "elapsed_ns", get(item, "elapsed_ns"), "exec_ns + idle_ns + other_ns",
                    elapsed);
    if (fault)
      break;
  }
  return fault;
}

static char *check_loops(const cJSON *json) {
  const cJSON *item;
  size_t index = 0;
  cJSON_ArrayForEach(item, json_member(json, "loop")) {
    if (get(item, "busy_ns") > get(item, "elapsed_ns"))
      return print_string("loop[%zu].busy_ns is %" PRIu64 ", more than its elapsed_ns", index,
                          get(item, "busy_ns"));
    index++;
  }
  return NULL;
}

static char *check_live(const cJSON *json, size_t functions) {
  const cJSON *item, *live = json_member(json, "live");
  size_t index = 0;
  cJSON_ArrayForEach(item, live) {
    if (get(item, "function_index") >= functions)
      return print_string("live[%zu].function_index is %" PRIu64 ", but there are %zu functions",
                          index, get(item, "function_index"), functions);
    index++;
  }
  sum_t listed = sum_over(live, "count"),
        counted = sum_over(json_member(json, "functions"), "live");
  if (listed != counted)
    return print_string("the functions have %" PRIu64 " live futures, but live[] lists %" PRIu64,
                        (uint64_t)counted, (uint64_t)listed);
  return NULL;
}

/* -- the whole ------------------------------------------------------------------------ */

static size_t length_of(const cJSON *json, const char *name) {
  return (size_t)cJSON_GetArraySize(json_member(json, name));
}

char *verify_totals(const cJSON *json) {
  char *fault = verify_fields(json);
  if (fault)
    return fault;
  struct paths p = {.functions = length_of(json, "functions")};
  size_t paths = length_of(json, "tree");
  p.of = allocate(p.functions, sizeof *p.of);
  p.by_id = allocate(paths, sizeof *p.by_id);
  p.exec_beneath = allocate(paths, sizeof *p.exec_beneath);
  p.waits = allocate(paths, sizeof *p.waits);
  fault = check_threads(json);
  if (!fault)
    fault = check_loops(json);
  if (!fault)
    fault = check_tree(json, &p);
  if (!fault)
    fault = check_functions(json, &p);
  if (!fault)
    fault = check_live(json, p.functions);
  free(p.of);
  free(p.by_id);
  free(p.exec_beneath);
  free(p.waits);
  return fault;
}
