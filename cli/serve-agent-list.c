/* SPDX-License-Identifier: MIT */
/* Which other servers are asked; see serve-agent-list.h. */
#include "serve-agent-list.h"

#include "read/labels.h"
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

/* What all entries of a line share. */
struct line {
  const char *token, *labels, *place;
};

static void append(struct agent_list *list, char *name, char *url, char *connect,
                   const struct line *l) {
  list->entry = reallocate(list->entry, list->entries + 1, sizeof *list->entry);
  list->entry[list->entries++] =
      (struct agent_entry){.name = name,
                           .url = url,
                           .token = l->token ? print_string("%s", l->token) : NULL,
                           .labels = l->labels ? print_string("%s", l->labels) : NULL,
                           .connect = connect};
}

/* One for each address of its host. Certificates are of the host's name, so with TLS the URL stays
   as it is. Where there is no address, the URL says so when it is asked. */
static void add_addresses(struct agent_sources *s, struct agent_list *list, const char *prefix,
                          const char *url, const struct line *l) {
  const char *address = address_of(url);
  size_t whole = strcspn(address, "/"), count, host = strcspn(address, ":/");
  bool secure = !strncmp(url, "https://", 8);
  const char *port = host < whole ? address + host + 1 : secure ? "443" : "80";
  int digits = host < whole ? (int)(whole - host - 1) : (int)strlen(port);
  char *name = print_string("%.*s", (int)host, address);
  char **found = names_up_of(s->names, name, &count);
  for (size_t i = 0; i < count; i++) {
    char *called = *prefix ? print_string("%s-%s", prefix, found[i]) : print_string("%s", found[i]);
    if (is_known(list, called))
      free(called);
    else
      append(list, called,
             secure ? print_string("%s", url)
                    : print_string("http://%s:%.*s%s", found[i], digits, port, address + whole),
             secure ? print_string("%s:%.*s:%s:%.*s", name, digits, port, found[i], digits, port)
                    : NULL,
             l);
    free(found[i]);
  }
  if (!count && !is_known(list, name))
    append(list, print_string("%s", name), print_string("%s", url), NULL, l);
  free(found);
  free(name);
}

/* `text`: "URL", "NAME=URL". False after a message about what stands at `place`. */
static bool add(struct agent_sources *s, struct agent_list *list, const char *text,
                const struct line *l) {
  static const char all[] = "dns+";
  const char *equals = strchr(text, '='), *scheme = strstr(text, "://");
  const char *url = equals && scheme && equals < scheme ? equals + 1 : text;
  bool many = !strncmp(url, all, strlen(all));
  char *prefix = print_string("%.*s", url > text ? (int)(url - 1 - text) : 0, text);
  url += many ? strlen(all) : 0;
  const char *fault = url_fault(url);
  if (fault)
    complain("%s: %s", l->place, fault);
  char *name = fault || many ? NULL : *prefix ? print_string("%s", prefix) : name_of(url);
  size_t length = strlen(url);
  while (length && url[length - 1] == '/')
    length--;
  char *bare = print_string("%.*s", (int)length, url);
  bool good = !fault;
  if (name && (!*name || strlen(name) > NAME_MOST || is_known(list, name))) {
    complain(is_known(list, name) ? "%s: two are called %s: name them, as NAME=URL"
                                  : "%s: %s is no name of a host",
             l->place, name);
    good = false;
  }
  if (good && many)
    add_addresses(s, list, prefix, bare, l);
  else if (good)
    append(list, print_string("%s", name), print_string("%s", bare), NULL, l);
  free(bare);
  free(name);
  free(prefix);
  return good;
}

/* Behind a URL: the file of a token, and labels, which have no slash before their =. */
static bool add_words(char *words, char **rest, char **file, char **labels, const char *place) {
  static const char blanks[] = " \t\r";
  for (char *word = words; (word = strtok_r(NULL, blanks, rest));) {
    const char *equals = strchr(word, '=');
    bool is_label = equals && !memchr(word, '/', (size_t)(equals - word));
    const char *fault = is_label ? label_fault(word)
                        : *file  ? "a line is URL, the file of a token, "
                                   "and labels KEY=VALUE"
                                 : NULL;
    if (fault) {
      complain("%s: %s", place, fault);
      return false;
    }
    if (is_label)
      *labels = labels_add(*labels, word);
    else
      *file = word;
  }
  return true;
}

static bool add_line(struct agent_sources *s, struct agent_list *list, char *line,
                     const char *place) {
  char *rest = NULL, *url = strtok_r(line, " \t\r", &rest), *file = NULL, *labels = NULL;
  if (!url || *url == '#')
    return true;
  bool good = add_words(url, &rest, &file, &labels, place);
  char *own = good && file ? guard_read_token(file) : NULL;
  const struct line l = {own ? own : s->token, labels, place};
  good = good && (own || !file) && add(s, list, url, &l);
  free(own);
  free(labels);
  return good;
}

static bool add_file(struct agent_sources *s, struct agent_list *list, const char *path) {
  size_t length, number = 0;
  char *text = read_text_file(path, LIST_LIMIT, &length), *rest = text;
  bool good = text != NULL;
  if (!text)
    complain("--from %s: it is neither a URL, such as http://node7:9797, nor a list of them in a "
             "file: %s",
             path, errno == EFBIG ? "it is over 1 MB" : open_fault(errno));
  for (char *line; good && (line = strsep(&rest, "\n"));) {
    char *place = print_string("%s:%zu", path, ++number);
    good = add_line(s, list, line, place);
    free(place);
  }
  free(text);
  return good;
}

bool agent_token(const char *file, char **token) {
  static const char variable[] = "APROF_FROM_TOKEN";
  const char *given = getenv(variable);
  *token = file ? guard_read_token(file) : given ? guard_take_token(given, variable) : NULL;
  return *token || (!file && !given);
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
  return s->names && names_up_changes(s->names) != s->changes;
}

bool agent_list_read(struct agent_sources *s, struct agent_list *list) {
  *list = (struct agent_list){0};
  if (!s->known)
    s->known = allocate(s->froms, sizeof *s->known);
  for (size_t i = 0; i < s->froms; i++)
    s->known[i] = written(s->from[i]);
  if (!s->names)
    s->names = names_up_new();
  s->changes = names_up_changes(s->names);
  for (size_t i = 0; i < s->froms; i++)
    if (!(strstr(s->from[i], "://")
              ? add(s, list, s->from[i], &(struct line){s->token, NULL, "--from"})
              : add_file(s, list, s->from[i]))) {
      agent_list_release(list);
      return false;
    }
  names_up_start(s->names);
  return true;
}

void agent_list_release(struct agent_list *list) {
  for (size_t i = 0; i < list->entries; i++) {
    free(list->entry[i].name);
    free(list->entry[i].url);
    free(list->entry[i].token);
    free(list->entry[i].labels);
    free(list->entry[i].connect);
  }
  free(list->entry);
  *list = (struct agent_list){0};
}
