/* SPDX-License-Identifier: MIT */
/*
 * The expressions of the binding grammar: keys, values, conditions, constants.
 * Split from binding.h for its readers only: nobody but the line parser and
 * its tests needs it.
 */
#ifndef APROF_LANG_EXPRESSION_H
#define APROF_LANG_EXPRESSION_H

#include "binding.h"

namespace aprof {

/* A stretch of a line that is being read, and the first mistake found in it. */
struct Reader {
  const std::string &text;
  size_t at, end;
  Mistake *mistake;
  bool failed = false;
  int parts = 0; /* of values, so far */

  Reader(const std::string &t, size_t begin, size_t e, Mistake *m)
      : text(t), at(begin), end(e), mistake(m) {}

  char peek(size_t ahead = 0) const { return at + ahead < end ? text[at + ahead] : '\0'; }
  bool done() const { return at >= end; }
  void blanks();
  bool accept(const char *token);
  std::string identifier();
  /* Reports [begin, at) or, where that is empty, the character there. */
  void fail(size_t begin, const std::string &what, const std::string &remedy = "");
};

bool is_identifier_start(char);
bool is_identifier_part(char);

/* Each reads one value, or constant, from where the Reader is; null, or false, after a mistake. */
std::unique_ptr<Value> new_value(Value::Kind);
std::unique_ptr<Value> read_value(Reader &);
std::unique_ptr<Value> read_primary(Reader &);
bool read_constant(Reader &, int64_t *constant);

/* Each reads all of the Reader's stretch or fails. */
bool read_keys(Reader &, Key *first, std::vector<Key> *more);
bool read_functions(Reader &, std::vector<std::unique_ptr<Value>> *);
bool read_condition(Reader &, Condition *);
bool read_told(Reader &, Told *);
bool read_traceparent(Reader &, Told *);
bool read_one_value(Reader &, std::unique_ptr<Value> *);
bool read_constants(Reader &, std::vector<int64_t> *);
bool read_constant_or_name(Reader &, std::unique_ptr<Value> *);
/* Values and their units, as in a2:ms or a1->tv_sec:s+a1->tv_usec:us-now():ns. */
bool read_durations(Reader &, std::vector<Duration> *);

} // namespace aprof

#endif
