/* Totals found, tested and read; see view.h. */
#include "cli.h"
#include "find.h"
#include "read/json.h"
#include "read/verify.h"
#include "read/view.h"
#include "show/totals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOTALS_LIMIT ((size_t)1 << 30)

static const char *schema_fault(const cJSON *json) {
  const char *schema = json_get_text(json, "schema");
  if (!cJSON_IsObject(json) || !schema || strncmp(schema, "aprof.totals/", 13))
    return "is JSON, but no totals of aprof";
  if (strcmp(schema, TOTALS_SCHEMA))
    return "was written by another version of aprof, in a format this one does not know";
  return NULL;
}

/* Totals may come from anywhere, and what they say goes to a terminal. */
static void clean_strings(cJSON *item) {
  for (; item; item = item->next) {
    if (cJSON_IsString(item))
      clean_text(item->valuestring);
    if (item->child)
      clean_strings(item->child);
  }
}

struct view *view_parse(const char *text, size_t length, const char *what) {
  char *fault = NULL;
  cJSON *json = json_parse(text, length, &fault);
  const char *other = json ? schema_fault(json) : NULL;
  if (!json)
    complain("%s is neither totals nor a profile: %s", what, fault);
  else if (other)
    complain("%s %s", what, other);
  else if ((fault = verify_totals(json)))
    complain("%s is damaged: %s", what, fault);
  if (!json || other || fault) {
    free(fault);
    cJSON_Delete(json);
    return NULL;
  }
  clean_strings(json->child);
  return view_new(json, what);
}

static struct view *load_profile(const char *target) {
  struct found found;
  if (!find_profile(target, false, &found))
    return NULL;
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  struct totals_request request = {
      .reason = found.state == PROFILE_LIVE ? "request" : "recovered",
      .path = found.path,
  };
  bool made = out && totals_make(found.fd, found.what, found.state, &request, out);
  struct view *v = NULL;
  if (out && fclose(out) == 0 && made)
    v = view_parse(text, length, found.what);
  free(text);
  found_release(&found);
  return v;
}

static bool is_profile(const char *path) {
  char magic[8] = "";
  int fd = open_regular(AT_FDCWD, path, O_RDONLY);
  if (fd < 0)
    return false;
  bool profile = pread(fd, magic, 8, 0) == 8 && !memcmp(magic, APROF_PROFILE_MAGIC, 8);
  close(fd);
  return profile;
}

struct view *view_load(const char *target) {
  uint64_t pid;
  if ((parse_number(target, &pid) && access(target, F_OK)) || is_profile(target))
    return load_profile(target);
  size_t length;
  char *text = read_text_file(target, TOTALS_LIMIT, &length);
  if (!text) {
    complain("cannot read %s: %s", target, open_fault(errno));
    return NULL;
  }
  struct view *v = view_parse(text, length, target);
  free(text);
  return v;
}
