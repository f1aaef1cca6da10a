/* SPDX-License-Identifier: MIT */
/*
 * Bindings files: NAME.aprof, one line of the grammar per line.
 *
 *     # comment
 *     header uv.h          the lines hold for names declared in such a file
 *     create call:uv_write key=w:a0 fn=a4 | run key=w:a0 once
 *     async def:@FILE      as many lines as FILE has names
 *
 * Purpose: a text comes in; its lines go out, and what is wrong with it, as data.
 * Who reads says it: the compiler as its diagnostics, the command on its own.
 * Cost: a line is parsed in some 10 us.
 * Locking: none.
 */
#ifndef APROF_LANG_FILE_H
#define APROF_LANG_FILE_H

#include "binding.h"
#include "header-rules.h"

namespace aprof {

/* What is wrong, where, and what would be right. */
struct Error {
  std::string file;
  unsigned line = 0, column = 0; /* from 1; 0: the file as a whole */
  unsigned width = 1;
  std::string source; /* that line */
  std::string text, remedy;
  bool note = false; /* tells more about the error before it */
};

struct File {
  const char *path;       /* outlives the lines */
  const Library *library; /* null: a user's */
  std::vector<std::unique_ptr<Binding>> lines;
  std::vector<HeaderPath> headers;
  std::vector<std::string> lists; /* files of names that were read */
  std::vector<Error> errors;
};

/* Adds what the text of the file says. */
void file_parse(File *, const std::string &text);

/* 0, or why it cannot be read (errno). */
int file_read(const std::string &path, std::string *text);

/* Bindings that are asked for by VALUE: with a slash or .aprof a file, else the name of one that
   is shipped. */
bool is_path(const std::string &value);
std::string path_of(const std::string &value, const std::string &shipped);

/* The files of the folder, sorted, and their names. */
std::vector<std::string> paths_in(const std::string &shipped);
std::string names_in(const std::string &shipped);

} // namespace aprof

#endif
