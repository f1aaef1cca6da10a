/* SPDX-License-Identifier: MIT */
/* Which other servers are asked; see serve-agent-list.h. */
#include "serve-agent-list.h"

#include "read/util.h"
#include "serve-guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PORT ":9797"
enum { LIST_LIMIT = 1 << 20, NAME_MOST = 200 };

static const char *address_of(const char *url) {
  const char *address = !strncmp(url, "http://", 7)    ? url + 7
                        : !strncmp(url, "https://", 8) ? url + 8
                                                       : NULL;
  return address && *address && *address != '/' ? address : NULL;
}

/* NULL, or what is wrong with it. What it says is said of the place, as it may hold a secret. */
static const char *url_fault(const char *url) {
  const char *address = address_of(url);
  for (const char *c = url; *c; c++)
    if (*c <= ' ' || *c > '~')
      return "a URL has no blanks, and no letters beyond ASCII";
  return !address ? "a URL of another aprof serve is http://HOST:PORT, or https://"
         : memchr(address, '@', strcspn(address, "/"))
             ? "a URL is no place for a password: --from-token-file FILE"
         : strpbrk(address, "?#") ? "a URL of another aprof serve has nothing behind its path"
                                  : NULL;
}

/* "node7" of http://node7:9797/, "node7:80/x" of http://node7:80/x */
static char *name_of(const char *url) {
  const char *address = address_of(url);
  size_t length = strlen(address), authority = strcspn(address, "/"), port = strlen(PORT);
  while (length > authority && address[length - 1] == '/')
    length--;
  bool usual =
      length == authority && authority > port && !memcmp(address + authority - port, PORT, port);
  return print_string("%.*s", (int)(usual ? length - port : length), address);
}

static bool is_known(const struct agent_list *list, const char *name) {
  for (size_t i = 0; i < list->entries; i++)
    if (!strcmp(list->entry[i].name, name))
      return true;
  return false;
}

/* `text`: "URL", "NAME=URL". False after a message about what stands at `place`. */
static bool add(struct agent_list *list, const char *text, const char *token, const char *place) {
  const char *equals = strchr(text, '='), *scheme = strstr(text, "://");
  const char *url = equals && scheme && equals < scheme ? equals + 1 : text;
  const char *fault = url_fault(url);
  if (fault) {
    complain("%s: %s", place, fault);
    return false;
  }
  char *name = url > text ? print_string("%.*s", (int)(url - 1 - text), text) : name_of(url);
  if (!*name || strlen(name) > NAME_MOST || is_known(list, name)) {
    complain(is_known(list, name) ? "%s: two are called %s: name them, as NAME=URL"
                                  : "%s: %s is no name of a host",
             place, name);
    free(name);
    return false;
  }
  size_t length = strlen(url);
  while (length && url[length - 1] == '/')
    length--;
  list->entry = reallocate(list->entry, list->entries + 1, sizeof *list->entry);
  list->entry[list->entries++] = (struct agent_entry){name, print_string("%.*s", (int)length, url),
                                                      token ? print_string("%s", token) : NULL};
  return true;
}

static bool add_line(struct agent_list *list, char *line, const char *token, const char *place) {
  static const char blanks[] = " \t\r";
  char *rest = NULL, *url = strtok_r(line, blanks, &rest);
  if (!url || *url == '#')
    return true;
  char *file = strtok_r(NULL, blanks, &rest);
  if (file && strtok_r(NULL, blanks, &rest)) {
    complain("%s: a line is URL, or URL and the file of a token", place);
    return false;
  }
  char *own = file ? guard_read_token(file) : NULL;
  bool added = (own || !file) && add(list, url, own ? own : token, place);
  free(own);
  return added;
}

static bool add_file(struct agent_list *list, const char *path, const char *token) {
  size_t length, number = 0;
  char *text = read_text_file(path, LIST_LIMIT, &length), *rest = text;
  bool good = text != NULL;
  if (!text)
    complain("--from %s: it is neither a URL, such as http://node7:9797, nor a list of them in a "
             "file: %s",
             path, errno == EFBIG ? "it is over 1 MB" : open_fault(errno));
  for (char *line; good && (line = strsep(&rest, "\n"));) {
    char *place = print_string("%s:%zu", path, ++number);
    good = add_line(list, line, token, place);
    free(place);
  }
  free(text);
  return good;
}

static struct timespec written(const char *from) {
  struct stat st;
  return !strstr(from, "://") && !stat(from, &st) ? st.st_ctim : (struct timespec){0};
}

static bool same_time(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool agent_list_changed(const struct agent_sources *s) {
  for (size_t i = 0; i < s->froms; i++)
    if (!same_time(s->known[i], written(s->from[i])))
      return true;
  return false;
}

bool agent_list_read(struct agent_sources *s, struct agent_list *list) {
  *list = (struct agent_list){0};
  if (!s->known)
    s->known = allocate(s->froms, sizeof *s->known);
  for (size_t i = 0; i < s->froms; i++)
    s->known[i] = written(s->from[i]);
  for (size_t i = 0; i < s->froms; i++)
    if (!(strstr(s->from[i], "://") ? add(list, s->from[i], s->token, "--from")
                                    : add_file(list, s->from[i], s->token))) {
      agent_list_release(list);
      return false;
    }
  return true;
}

void agent_list_release(struct agent_list *list) {
  for (size_t i = 0; i < list->entries; i++) {
    free(list->entry[i].name);
    free(list->entry[i].url);
    free(list->entry[i].token);
  }
  free(list->entry);
  *list = (struct agent_list){0};
}
