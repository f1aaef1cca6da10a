/* SPDX-License-Identifier: MIT */
/* Lines about the functions of a program that nobody compiles; see lang.h. */
#include "lang.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex.h>
#include <set>

#include "file.h"
#include "pattern.h"
#include "precedence.h"
#include "signature.h"

using namespace aprof;

namespace {

struct Pattern {
  const Binding *line;
  std::string begin, end;
  regex_t regex;
};

typedef std::vector<const Binding *> Lines;

/* Lines about calls, and those about bodies. */
struct Table {
  std::unordered_map<std::string, Lines> by_name;
  std::vector<Pattern> patterns;
};

/* A file that was asked for: its lines, and its errors as C sees them. */
struct Named : lang_file {
  std::unique_ptr<std::string> path;
  bool by_path; /* no shipped one */
  File file;
  std::vector<lang_error> all_errors;
};

} // namespace

struct lang_set {
  std::string shipped;
  std::vector<std::unique_ptr<Library>> libraries;
  HeaderRules rules;
  std::set<const Library *> read; /* the program reads a header of it */
  std::vector<std::unique_ptr<File>> files;
  std::vector<std::unique_ptr<Named>> named;
  std::vector<std::unique_ptr<Binding>> attributes;
  std::map<std::string, const Binding *> attribute_of;
  Table calls, bodies;
  Lines types; /* type:, by typedef or signature */
  size_t users = 0;
};

static void add_to(Table *table, const Binding *b) {
  std::vector<std::string> names;
  if (!b->regex) {
    table->by_name[b->name].push_back(b);
  } else if (pattern_names(b->name, &names)) {
    for (const std::string &name : names)
      table->by_name[name].push_back(b);
  } else {
    Pattern pattern = {b, "", "", regex_t()};
    pattern_ends(b->name, &pattern.begin, &pattern.end);
    if (regcomp(&pattern.regex, b->name.c_str(), REG_EXTENDED | REG_NOSUB) == 0)
      table->patterns.push_back(pattern);
  }
}

static void add_lines(struct lang_set *set, File *file) {
  unsigned order = first_order(file->library, set->users);
  for (const auto &b : file->lines) {
    b->order = order++;
    if (b->place == Place::Call)
      add_to(&set->calls, b.get());
    else if (b->place == Place::Def)
      add_to(&set->bodies, b.get());
    else if (b->place == Place::Type)
      set->types.push_back(b.get());
  }
  set->users += file->library ? 0 : file->lines.size();
}

struct lang_set *lang_set_new(const char *shipped) {
  lang_set *set = new lang_set();
  set->shipped = shipped ? shipped : "";
  if (!shipped)
    return set;
  unsigned rank = 1;
  for (const std::string &path : paths_in(shipped)) {
    std::unique_ptr<Library> library(new Library{path, rank++, ""});
    if (file_read(path, &library->text) == 0)
      header_rules_add(&set->rules, library.get());
    set->libraries.push_back(std::move(library));
  }
  return set;
}

const struct lang_file *lang_set_add(struct lang_set *set, const char *name) {
  std::unique_ptr<Named> n(new Named());
  n->path.reset(new std::string(path_of(name, set->shipped)));
  n->file.path = n->path->c_str();
  n->by_path = is_path(name);
  n->file.library = nullptr;
  std::string text;
  if (int why = file_read(*n->path, &text)) {
    n->file.errors.emplace_back();
    n->file.errors.back().file = *n->path;
    n->file.errors.back().text = std::string("cannot be read: ") + strerror(why);
    if (!is_path(name))
      n->file.errors.back().remedy = "shipped are: " + names_in(set->shipped);
  } else {
    file_parse(&n->file, text);
    add_lines(set, &n->file);
  }
  for (const Error &e : n->file.errors)
    n->all_errors.push_back({e.file.c_str(), e.line, e.column, e.width, e.source.c_str(),
                             e.text.c_str(), e.remedy.c_str(), e.note});
  n->error = n->all_errors.data();
  n->errors = n->all_errors.size();
  set->named.push_back(std::move(n));
  return set->named.back().get();
}

void lang_set_reads(struct lang_set *set, const char *file) {
  for (const Header &header : header_rules_of(set->rules, file)) {
    if (header.beside || !set->read.insert(header.library).second)
      continue;
    std::unique_ptr<File> f(new File());
    f->path = header.library->path.c_str();
    f->library = header.library;
    file_parse(f.get(), header.library->text);
    add_lines(set, f.get());
    set->files.push_back(std::move(f));
  }
}

/* -- which lines mean a function ------------------------------------------------------- */

/* A shipped line means what its headers declare. */
static bool declared_where(const struct lang_set *set, const Binding *b,
                           const struct lang_function *f) {
  if (!b->library)
    return true;
  for (size_t i = 0; i < f->files; i++)
    for (const Header &header : header_rules_of(set->rules, f->file[i]))
      if (header.library == b->library)
        return true;
  return false;
}

static bool is_bare(const Binding *b) {
  return b->name.find("::") == std::string::npos && b->name.find("_Z") == std::string::npos;
}

static bool fits(const Pattern &p, const char *name) {
  size_t length = strlen(name);
  return length >= p.begin.size() && length >= p.end.size() &&
         memcmp(name, p.begin.data(), p.begin.size()) == 0 &&
         memcmp(name + length - p.end.size(), p.end.data(), p.end.size()) == 0 &&
         regexec(&p.regex, name, 0, nullptr, 0) == 0;
}

static Lines lines_of(const struct lang_set *set, const Table &table,
                      const struct lang_function *f) {
  Lines lines;
  auto add = [&](const Binding *b) {
    if (declared_where(set, b, f) && !(f->namesake && is_bare(b)) &&
        std::find(lines.begin(), lines.end(), b) == lines.end())
      lines.push_back(b);
  };
  for (const char *name : {f->name, f->qualified, f->symbol}) {
    if (!name)
      continue;
    auto found = table.by_name.find(name);
    if (found != table.by_name.end())
      for (const Binding *b : found->second)
        add(b);
    for (const Pattern &pattern : table.patterns)
      if (fits(pattern, name))
        add(pattern.line);
  }
  return lines;
}

static void add_types(const struct lang_set *set, const struct lang_function *f, Lines *lines) {
  for (const Binding *b : set->types) {
    bool meant = b->quoted && f->signature && signature_matches(b->name, f->signature);
    for (size_t i = 0; i < f->types; i++)
      meant |= !b->quoted && b->name == f->type[i];
    if (meant)
      lines->push_back(b);
  }
}

/* -- what a line says ------------------------------------------------------------------- */

static struct lang_argument argument_of(const Value *v) {
  struct lang_argument a = {lang_argument::LANG_OTHER, 0, nullptr};
  if (!v)
    return a;
  if (v->kind == Value::Cast)
    return argument_of(v->of.get());
  if (v->kind == Value::Arg)
    a = {lang_argument::LANG_ARGUMENT, (int)v->number, nullptr};
  else if (v->kind == Value::Ret)
    a.kind = lang_argument::LANG_RESULT;
  else if (v->kind == Value::Cur)
    a.kind = lang_argument::LANG_CURRENT;
  else if (v->kind == Value::Deref && v->of->kind == Value::Arg)
    a = {lang_argument::LANG_POINTEE, (int)v->of->number, nullptr};
  else if (v->kind == Value::Field && v->of->kind == Value::Arg)
    a = {lang_argument::LANG_MEMBER, (int)v->of->number, v->name.c_str()};
  return a;
}

static const char *base_name(const Library *library) {
  return library ? strrchr(library->path.c_str(), '/') + 1 : nullptr;
}

/* One more than the highest index of an argument in the line. */
static int arguments_of(const Binding *b) {
  int most = 0;
  binding_visit(*b, [&](const Value *value) {
    value_visit(value, [&](const Value &v) {
      if (v.kind == Value::Arg)
        most = std::max(most, (int)(v.number < 0 ? -v.number : v.number + 1));
    });
  });
  return most;
}

static struct lang_about about_of(const Binding *b) {
  struct lang_about about = {};
  about.verb = b->is_async() ? LANG_ASYNC : (enum lang_verb)b->verb; /* `request` is another one */
  about.text = b->text.c_str();
  about.file = b->file;
  about.line = b->line;
  about.library = base_name(b->library);
  about.space = b->key.space.c_str();
  about.has_key = (bool)b->key.first;
  about.key = argument_of(b->key.first.get());
  if (b->key.second) /* a pair is found by its second half: the argument of the callback */
    about.key = argument_of(b->key.second.get());
  for (size_t i = 0; i < b->functions.size() && i < LANG_FUNCTIONS; i++)
    about.function[about.functions++] = argument_of(b->functions[i].get());
  about.has_when = (bool)b->when;
  about.of_body = b->place == Place::Def || b->place == Place::Type ||
                  (b->place == Place::None && (b->verb == Verb::Async || b->verb == Verb::Run));
  about.names_function =
      (b->place == Place::Call || b->place == Place::Def) && !b->regex && !b->listed;
  about.name = b->name.c_str();
  about.inert = b->is_spawn() && !b->ready && !b->then_run && !b->background;
  about.arguments = arguments_of(b);
  about.worker = b->worker;
  about.names = b->names;
  about.noreturn = b->noreturn;
  about.own_runs = b->ready || !b->is_spawn();
  about.run_worker = b->then_run && b->then_run->worker;
  for (int64_t value : b->pending_values)
    if (about.pendings < LANG_PENDING)
      about.pending[about.pendings++] = value;
  about.binding = b;
  return about;
}

static size_t say(Lines *lines, struct lang_about *about, size_t room) {
  in_order(lines);
  users_win(lines);
  size_t count = std::min(lines->size(), room);
  for (size_t i = 0; i < count; i++)
    about[i] = about_of((*lines)[i]);
  return count;
}

size_t lang_calls(struct lang_set *set, const struct lang_function *f, struct lang_about *about,
                  size_t room) {
  Lines lines = lines_of(set, set->calls, f);
  return say(&lines, about, room);
}

size_t lang_bodies(struct lang_set *set, const struct lang_function *f, struct lang_about *about,
                   size_t room) {
  struct lang_function anywhere = *f;
  Lines lines = lines_of(set, set->bodies, &anywhere);
  add_types(set, f, &lines);
  return say(&lines, about, room);
}

bool lang_attribute(struct lang_set *set, const char *text, struct lang_about *about) {
  const Binding *&known = set->attribute_of[text];
  if (!known) {
    std::unique_ptr<Binding> b(new Binding());
    Mistake mistake;
    if (!binding_parse(text, true, b.get(), &mistake))
      return false;
    known = b.get();
    set->attributes.push_back(std::move(b));
  }
  *about = about_of(known);
  return true;
}

size_t lang_user_lines(struct lang_set *set, struct lang_about *about, size_t room) {
  size_t count = 0;
  for (const auto &n : set->named)
    for (const auto &b : n->file.lines)
      if (n->by_path && count < room)
        about[count++] = about_of(b.get());
  return count;
}

/* -- when= -------------------------------------------------------------------------------- */

static bool constant_of(const Value *v, lang_constant *ask, const void *call, int64_t *value) {
  *value = v ? v->number : 0;
  if (!v || v->kind == Value::Number)
    return true;
  if (v->kind == Value::Arg)
    return ask(call, (int)v->number, value);
  if (v->kind != Value::Mask || !constant_of(v->of.get(), ask, call, value))
    return false;
  *value &= v->number;
  return true;
}

static bool compare(int64_t a, Compare how, int64_t b) {
  switch (how) {
  case Compare::Equal:
    return a == b;
  case Compare::Less:
    return a < b;
  case Compare::LessEqual:
    return a <= b;
  case Compare::Greater:
    return a > b;
  case Compare::GreaterEqual:
    return a >= b;
  default:
    return a != b;
  }
}

static enum lang_truth truth_of(const Condition &c, lang_constant *ask, const void *call) {
  if (!c)
    return LANG_YES;
  int64_t a, b;
  bool known = constant_of(c.what.get(), ask, call, &a) && constant_of(c.with.get(), ask, call, &b);
  enum lang_truth all = !known ? LANG_UNKNOWN : compare(a, c.compare, b) ? LANG_YES : LANG_NO;
  for (const Condition &other : c.also) {
    enum lang_truth one = truth_of(other, ask, call);
    if (one == LANG_NO || all == LANG_YES)
      all = all == LANG_NO ? LANG_NO : one;
  }
  return all;
}

enum lang_truth lang_when(const struct lang_about *about, lang_constant *ask, const void *call) {
  return truth_of(static_cast<const Binding *>(about->binding)->when, ask, call);
}
