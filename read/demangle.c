/* SPDX-License-Identifier: MIT */
/* Symbols to names; see demangle.h. */
#include "demangle.h"

#include "util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* libstdc++'s; declared here because <cxxabi.h> is for C++. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Each reference back may print all before it again: 32 of them at most 10^5 times, so
   that no symbol takes long or much memory. */
enum { LONGEST = 1000, MOST_REFERENCES = 32 };

static bool is_harmless(const char *symbol) {
  size_t references = 0;
  for (const char *s = symbol; *s; s++)
    references += (*s == 'S' || *s == 'T') && (s[1] == '_' || isalnum((unsigned char)s[1]));
  return strlen(symbol) <= LONGEST && references <= MOST_REFERENCES;
}

/* Behind the bracket that closes the one at `s`; the end where none does. */
static const char *skip_group(const char *s) {
  int depth = 0;
  for (; *s; s++) {
    if (s[0] == '-' && s[1] == '>')
      s++;
    else if (strchr("<({[", *s))
      depth++;
    else if (strchr(">)}]", *s) && --depth == 0)
      return s + 1;
  }
  return s;
}

/* A name as it grows. */
struct name {
  char *text;
  size_t length;
};

static void add(struct name *name, const char *text, size_t length) {
  memcpy(name->text + name->length, text, length);
  name->length += length;
}

static bool ends_with_scope(const struct name *name) {
  return name->length == 0 ||
         (name->length >= 2 && !memcmp(name->text + name->length - 2, "::", 2));
}

/* "operator<<", "operator()", "operator int": returns what is behind it. */
static const char *add_operator(struct name *name, const char *s) {
  static const char *const symbols[] = {"->*", "<<=", ">>=", "<=>", "()", "[]", "->", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=",  "&&", "||", "++", "--", "+=",
                                        "-=",  "*=",  "/=",  "%=",  "^=", "&=", "|=", NULL};
  const char *end = s + strlen("operator");
  size_t i = 0;
  while (symbols[i] && strncmp(end, symbols[i], strlen(symbols[i])))
    i++;
  if (*end == ' ')
    end += strcspn(end, "(<"); /* a conversion, new, delete */
  else
    end += symbols[i] ? strlen(symbols[i]) : *end && *end != '(';
  add(name, s, (size_t)(end - s));
  return !strncmp(end, " <", 2) ? skip_group(end + 1) : end;
}

static bool is_operator(const struct name *name, const char *s) {
  return ends_with_scope(name) && !strncmp(s, "operator", 8) && !isalnum((unsigned char)s[8]) &&
         s[8] != '_';
}

char *demangle_shorten(const char *text) {
  struct name name = {.text = allocate(strlen(text) + 1, 1)};
  for (const char *s = text; *s;) {
    size_t rest = strcspn(s, " <({[:");
    if (is_operator(&name, s))
      s = add_operator(&name, s);
    else if (!strncmp(s, "(anonymous namespace)::", 23))
      s += 23;
    else if (*s == '{') { /* {lambda(int)#1}, {unnamed type#1} */
      add(&name, "lambda", 6);
      s = skip_group(s);
    } else if (*s == '<' || *s == '[')
      s = skip_group(s);
    else if (*s == '(') {
      const char *behind = skip_group(s);
      const char *inner = !strncmp(behind, " const::", 8) ? behind + 6 : behind;
      if (strncmp(inner, "::", 2) && strncmp(inner, " ", 1))
        break; /* the parameters */
      if (*inner == ' ' && strncmp(inner, " (", 2) && strchr(inner, '('))
        name.length = 0; /* of decltype(...), before the name */
      else if (*inner == ' ')
        break; /* const, &, [clone] */
      s = inner;
    } else if (*s == ' ') { /* a return type it was */
      name.length = 0;
      s++;
    } else if (*s == ':') {
      add(&name, s, 1);
      s++;
    } else {
      add(&name, s, rest);
      s += rest;
    }
  }
  if (name.length > 6 && !memcmp(name.text + name.length - 6, "::_FUN", 6))
    name.length -= 6; /* a lambda as a pointer */
  name.text[name.length] = 0;
  return name.text;
}

/* NULL: it is none of C++'s. */
static char *demangled(const char *symbol) {
  int status = 0;
  bool mangled = !strncmp(symbol, "_Z", 2) && is_harmless(symbol);
  return mangled ? __cxa_demangle(symbol, NULL, NULL, &status) : NULL;
}

char *demangle(const char *symbol) {
  size_t plain = strcspn(symbol, "."); /* foo.isra.0 is a copy of foo */
  char *own = print_string("%.*s", plain ? (int)plain : (int)strlen(symbol), symbol);
  char *text = demangled(symbol); /* with a dot inside: the type of a coroutine's frame */
  text = text ? text : demangled(own);
  if (!text)
    return own;
  char *name = demangle_shorten(text);
  free(text);
  if (*name) {
    free(own);
    return name;
  }
  free(name);
  return own;
}

/* -- which one is meant ---------------------------------------------------------------- */

static char *without_blanks(const char *text) {
  char *to = allocate(strlen(text) + 1, 1);
  size_t length = 0;
  for (; *text; text++)
    if (*text != ' ')
      to[length++] = *text;
  to[length] = '\0';
  return to;
}

/* Behind a return type, which stands there of templates. */
static const char *name_in(const char *text) {
  const char *name = text;
  for (const char *s = text; *s && *s != '(';)
    if (*s == '<') {
      s = skip_group(s);
    } else {
      name = *s == ' ' ? s + 1 : name;
      s++;
    }
  return name;
}

static bool whole_is(const char *symbol, const char *asked) {
  char *text = demangled(symbol);
  if (!text)
    return false;
  char *name = without_blanks(name_in(text)), *wanted = without_blanks(asked);
  size_t length = strlen(wanted);
  bool is = false;
  for (const char *at = name; (at = strstr(at, wanted)) != NULL && !is; at++) {
    const char *end = at + length;
    bool begins = at == name || (at - name >= 2 && at[-1] == ':');
    is = begins && (!*end || *end == '(' || !strcmp(end, "const"));
  }
  free(name);
  free(wanted);
  free(text);
  return is;
}

bool demangle_is(const char *symbol, const char *asked) {
  if (!strcmp(symbol, asked))
    return true;
  if (strncmp(symbol, "_Z", 2) != 0)
    return false;
  if (strpbrk(asked, "(<"))
    return whole_is(symbol, asked);
  char *name = demangle(symbol);
  size_t length = strlen(name), end = strlen(asked);
  bool is = !strcmp(name, asked) || (length > end + 2 && !strcmp(name + length - end, asked) &&
                                     !strncmp(name + length - end - 2, "::", 2));
  free(name);
  return is;
}
