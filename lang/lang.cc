/* SPDX-License-Identifier: MIT */
/* The seam to C; see lang.h. */
#include "lang.h"

#include <algorithm>
#include <cstring>

#include "grammar.h"
#include "meaning.h"

using namespace aprof;

namespace {

/* A line of the file and its sentence, in `texts`. */
struct Said {
  unsigned line;
  std::string text, meaning;
};

struct Read : lang_file {
  std::string path;
  File file;
  std::vector<Said> said;
  std::vector<lang_line> all_lines;
  std::vector<lang_error> all_errors;
};

} // namespace

/* Counts a line of many names as one, and one with its `| run` as one. */
static void say_lines(Read *r) {
  unsigned last = 0;
  for (const HeaderPath &h : r->file.headers)
    r->said.push_back({h.line, (h.beside ? "beside " : "header ") + h.path, meaning_of(h)});
  for (const auto &b : r->file.lines)
    if (b->line != last) {
      last = b->line;
      r->said.push_back({b->line, b->text, meaning_of(*b)});
    }
  std::stable_sort(r->said.begin(), r->said.end(),
                   [](const Said &a, const Said &b) { return a.line < b.line; });
}

struct lang_file *lang_file_read(const char *path) {
  Read *r = new Read();
  std::string text;
  r->path = path;
  r->file.path = r->path.c_str();
  if (int why = file_read(path, &text)) {
    r->file.errors.emplace_back();
    r->file.errors.back().file = path;
    r->file.errors.back().text = std::string("cannot be read: ") + strerror(why);
  } else {
    file_parse(&r->file, text);
  }
  say_lines(r);
  for (const Said &s : r->said)
    r->all_lines.push_back({s.line, s.text.c_str(), s.meaning.c_str()});
  for (const Error &e : r->file.errors)
    r->all_errors.push_back({e.file.c_str(), e.line, e.column, e.width, e.source.c_str(),
                             e.text.c_str(), e.remedy.c_str(), e.note});
  r->line = r->all_lines.data();
  r->lines = r->all_lines.size();
  r->error = r->all_errors.data();
  r->errors = r->all_errors.size();
  return r;
}

void lang_file_free(struct lang_file *file) {
  delete static_cast<Read *>(file);
}

static std::string verbs_of(unsigned mask) {
  std::string names;
  for (const VerbRow &row : verbs())
    if (mask & bit(row.verb))
      names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

static std::string places_of(unsigned mask) {
  std::string names;
  for (const PlaceRow &row : places())
    if (mask & bit(row.place))
      names += (names.empty() ? "" : " ") + std::string(row.name);
  return names;
}

template <typename Row>
static const Row *row_of(const Rows<Row> &rows, size_t *row) {
  size_t count = (size_t)(rows.end() - rows.begin());
  if (*row < count)
    return rows.begin() + *row;
  *row -= count;
  return nullptr;
}

const struct lang_word *lang_word(size_t row) {
  static struct lang_word word;
  static std::string with;
  if (const VerbRow *v = row_of(verbs(), &row)) {
    with = places_of(v->places);
    word = {"verb", v->name, nullptr, with.c_str(), v->text, true};
  } else if (const PlaceRow *p = row_of(places(), &row)) {
    word = {"place", p->name, p->form, nullptr, p->text, false};
  } else if (const WordRow *w = row_of(words(), &row)) {
    with = verbs_of(w->verbs);
    word = {"word", w->name, w->form, with.c_str(), w->text, w->takes != Takes::Something};
  } else {
    return nullptr;
  }
  return &word;
}
