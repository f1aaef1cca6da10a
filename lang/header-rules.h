/* SPDX-License-Identifier: MIT */
/*
 * Which shipped file holds for which header: `header PATH` and `beside PATH`.
 *
 * Purpose: from the name of a source file to the libraries whose header it is. Only the
 * lines that say so are read here; who includes no such header pays for nothing else.
 * Cost: one look-up of a name's last part.
 * Locking: none.
 */
#ifndef APROF_LANG_HEADER_RULES_H
#define APROF_LANG_HEADER_RULES_H

#include <string>
#include <unordered_map>
#include <vector>

namespace aprof {

/* A shipped file. */
struct Library {
  std::string path;
  unsigned rank;    /* among the shipped files, from 1 */
  std::string text; /* empty once it has been parsed */
};

struct HeaderPath {
  std::string path;
  bool beside;       /* by itself it brings no line */
  unsigned line = 0; /* of the file */
};

struct Header {
  std::string path;
  Library *library;
  bool beside;
};
typedef std::unordered_map<std::string, std::vector<Header>> HeaderRules; /* by last part */

/* The text without its comment ('#' at its start or after a blank, outside quotes) and the
   blanks around it, of which there are `indent` in front. */
std::string strip_comment(const std::string &line, size_t *indent);

/* "header PATH" or "beside PATH": 1, with the path; 0 for another line; -1 where no path, or
   more than one, is there. */
int read_header(const std::string &line, HeaderPath *);

/* Enters what the library's text says about headers. */
void header_rules_add(HeaderRules *, Library *);

/* What `file`, a path, is a header of; each library once. */
std::vector<Header> header_rules_of(const HeaderRules &, const char *file);

} // namespace aprof

#endif
