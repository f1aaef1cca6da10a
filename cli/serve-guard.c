/* SPDX-License-Identifier: MIT */
/* Who is answered; see serve-guard.h. */
#include "serve-guard.h"

#include "read/util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- secrets ------------------------------------------------------------------------------ */

static bool make_secret(char text[GUARD_SECRET + 1]) {
  unsigned char bytes[GUARD_SECRET / 2];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
    complain("the kernel gives no random numbers: %s", strerror(errno));
    return false;
  }
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

/* How long it takes says how long `given` is, and nothing else. */
static bool is_same(const char *secret, const char *given) {
  size_t length = strlen(secret), others = strlen(given);
  unsigned char differs = length != others;
  for (size_t i = 0; i < others; i++)
    differs |= (unsigned char)(given[i] ^ secret[length ? i % length : 0]);
  return !differs;
}

/* NULL, or why that is no token. */
static const char *token_fault(const char *token) {
  size_t length = strlen(token);
  for (const char *c = token; *c; c++)
    if (*c <= ' ' || *c > '~')
      return "its first line has to be letters, digits and signs without blanks";
  return length < GUARD_TOKEN_LEAST  ? "a token has 16 characters at least: openssl rand -hex 16"
         : length > GUARD_TOKEN_MOST ? "a token has 256 characters at most"
                                     : NULL;
}

char *guard_take_token(const char *text, const char *what) {
  const char *fault = token_fault(text);
  if (fault)
    complain("the token in %s is none: %s", what, fault);
  return fault ? NULL : print_string("%s", text);
}

char *guard_read_token(const char *file) {
  struct stat st;
  size_t length;
  char *text = read_text_file(file, 4096, &length);
  if (!text) {
    complain("cannot read the token in %s: %s", file,
             errno == EFBIG ? "a token is one line" : open_fault(errno));
    return NULL;
  }
  text[strcspn(text, "\r\n")] = 0;
  const char *fault = stat(file, &st) == 0 && (st.st_mode & S_IROTH)
                          ? "everybody on this machine can read it: chmod o= it"
                          : token_fault(text);
  if (!fault)
    return text;
  complain("the token in %s is none: %s", file, fault);
  free(text);
  return NULL;
}

bool guard_open(struct guard *g, const char *file, bool wanted, unsigned port) {
  snprintf(g->cookie, sizeof g->cookie, "aprof-%u", port);
  if (!make_secret(g->session))
    return false;
  if (!file && !wanted)
    return true;
  char made[GUARD_SECRET + 1];
  g->made = !file;
  if (g->made && !make_secret(made))
    return false;
  g->token = g->made ? print_string("%s", made) : guard_read_token(file);
  return g->token != NULL;
}

void guard_close(struct guard *g) {
  free(g->token);
  free(g->name);
}

bool guard_is_token(const struct guard *g, const char *text) {
  return g->token && is_same(g->token, text);
}

/* -- Host and Origin -------------------------------------------------------------------------- */

/* "name", "name:port", "[::1]:port" without the port; false: it is none. */
static bool host_of(const char *text, char name[256]) {
  const char *end = *text == '[' ? strchr(text, ']') : text + strcspn(text, ":");
  if (!end)
    return false;
  const char *begin = text + (*text == '[');
  size_t length = (size_t)(end - begin);
  end += *text == '[';
  if (length == 0 || length > 255 || (*end && *end != ':') ||
      (*end && strspn(end + 1, "0123456789") != strlen(end + 1)))
    return false;
  memcpy(name, begin, length);
  name[length] = 0;
  return true;
}

static bool is_given(const struct guard *g, const char *name) {
  for (size_t i = 0; i < g->names; i++)
    if (!strcasecmp(g->name[i], name))
      return true;
  return false;
}

/* A number is what it says; a name is whatever somebody lets it mean. */
static bool is_ours(const struct guard *g, const char *name) {
  struct in6_addr address;
  static const char local[] = ".localhost";
  size_t length = strlen(name), end = sizeof local - 1;
  return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1 ||
         !strcasecmp(name, local + 1) ||
         (length > end && !strcasecmp(name + length - end, local)) || is_given(g, name);
}

/* The place of the page that asks: ours, or one that stands before us under a name of ours. */
static bool is_from_here(const struct guard *g, const struct guard_request *r) {
  char name[256];
  const char *at = strstr(r->origin, "://");
  return at && (!strcasecmp(at + 3, r->host) || (host_of(at + 3, name) && is_given(g, name)));
}

/* What a browser says of a page elsewhere that asks; to follow a link is no harm, it shows. */
static bool is_elsewhere(const struct guard *g, const struct guard_request *r) {
  if (r->origin)
    return !is_from_here(g, r);
  bool link = r->mode && !strcmp(r->mode, "navigate");
  return r->site && strcmp(r->site, "same-origin") != 0 && strcmp(r->site, "none") != 0 && !link;
}

/* -- the whole --------------------------------------------------------------------------------- */

static const char *bearer(const char *authorization) {
  static const char scheme[] = "Bearer ";
  if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
    return NULL;
  authorization += sizeof scheme - 1;
  return authorization + strspn(authorization, " ");
}

const struct refusal *guard_check(const struct guard *g, const struct guard_request *r,
                                  bool public) {
  static const struct refusal
      no_host = {400, "the request has no Host, or one that is no name"},
      other_host = {421, "this server is not known by that name; --host NAME tells it one"},
      elsewhere = {403, "a page of another server asked for this; open this server's own page"},
      no_token = {401, "a token is wanted: send it as \"Authorization: Bearer TOKEN\""};
  char name[256];
  const char *given = bearer(r->authorization);
  /* Who has the token may call us by any name; no page elsewhere is to have it. */
  if (g->token && given && guard_is_token(g, given))
    return r->origin && (!r->host || !is_from_here(g, r)) ? &elsewhere : NULL;
  if (!r->host || !host_of(r->host, name))
    return &no_host;
  if (!is_ours(g, name))
    return &other_host;
  if (is_elsewhere(g, r))
    return &elsewhere;
  if (!g->token || public || (!given && r->cookie && is_same(g->session, r->cookie)))
    return NULL;
  return &no_token;
}
