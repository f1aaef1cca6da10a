/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines about bodies; see body-lines.h. */
#include "body-lines.h"

#include <algorithm>

#include "attribute.h"
#include "headers.h"
#include "lang/precedence.h"
#include "likely.h"
#include "match.h"
#include "scan.h"
#include "types.h"

namespace aprof {

static std::unordered_map<unsigned, BodyLines> bodies; /* by DECL_UID */

static void add_body_line(BodyLines *body, const Binding *b, bool quiet, bool named = false) {
  if (b->is_async() && !body->async)
    body->async = b;
  if (b->verb == Verb::Span && (!body->span || (body->span->library && !b->library)))
    body->span = b;
  if (b->verb == Verb::Switch)
    body->switches.push_back(b);
  if (b->verb == Verb::Wake || b->verb == Verb::End || b->verb == Verb::Label)
    body->instants.push_back(b);
  if (b->verb != Verb::Run)
    return;
  for (RunLine &known : body->runs)
    if (same_run(known.line, b)) {
      known.quiet &= quiet;
      known.named |= named;
      known.own &= b->own;
      return;
    }
  body->runs.push_back({b, quiet, named, b->own});
}

static void add_likely_runs(BodyLines *body, tree function) {
  for (const Binding *b : likely_runs(function)) {
    size_t known = body->runs.size();
    add_body_line(body, b, true);
    if (body->runs.size() > known)
      body->runs.back().likely = true;
  }
}

static bool is_body_line(const Binding *b) {
  return b->place == Place::Def || b->place == Place::Type;
}

static void add_attribute_lines(BodyLines *body, const Lines &lines) {
  for (const Binding *b : lines)
    if (is_body_line(b))
      add_body_line(body, b, false);
}

static bool type_line_holds(const Binding *b, tree function) {
  if (b->quoted) /* no header declares what has a signature: that it was read is enough */
    return signature_matches(b->name, function);
  for (const Use &use : uses_of(function)) {
    if (!use.as)
      continue;
    if (b->name == identifier_text(DECL_NAME(use.as)) && declared_where(b, use.as))
      return true;
  }
  for (tree name : typedefs_of(TREE_TYPE(function)))
    if (b->name == identifier_text(DECL_NAME(name)) && declared_where(b, name))
      return true;
  return false;
}

/* A library's own callbacks run inside it, for its own ends. */
static void drop_own_lines(BodyLines *body, tree function) {
  auto own = [&](const RunLine &run) { return is_library_itself(run.line, function); };
  auto own_line = [&](const Binding *b) { return is_library_itself(b, function); };
  auto &instants = body->instants;
  instants.erase(std::remove_if(instants.begin(), instants.end(), own_line), instants.end());
  body->runs.erase(std::remove_if(body->runs.begin(), body->runs.end(), own), body->runs.end());
  if (body->async && is_library_itself(body->async, function))
    body->async = nullptr;
  if (body->span && is_library_itself(body->span, function))
    body->span = nullptr;
}

/* Where all functions are spans, futures are told apart already, and what the compiler or the
   system has made is none of the program's. */
static bool is_passed_over(const BodyLines &body, tree function) {
  bool future = body.async || std::any_of(body.runs.begin(), body.runs.end(),
                                          [](const RunLine &run) { return !run.likely; });
  return future || DECL_ARTIFICIAL(function) || is_of_platform(function);
}

const BodyLines &body_lines(tree function) {
  auto known = bodies.find(DECL_UID(function));
  if (known != bodies.end())
    return known->second;
  BodyLines body;
  Lines lines;
  attribute_lines_of(function, &lines);
  for (const Use &use : uses_of(function))
    attribute_lines(use.attributes, &lines);
  add_attribute_lines(&body, lines);
  for (const Binding *b : def_lines(function))
    add_body_line(&body, b, b->is_silent());
  for (const Binding *b : type_lines())
    if (type_line_holds(b, function))
      add_body_line(&body, b, b->is_silent());
  for (const Reach &reach : reaches(function)) {
    const Binding *run = reach.create->run_of_functions();
    add_body_line(&body, run, true, is_passed_as_is(function, run));
  }
  for (const Use &use : uses_of(function))
    if (use.as)
      for (const Binding *b : runs_of_typedef(use.as))
        add_body_line(&body, b, true);
  for (tree name : typedefs_of(TREE_TYPE(function)))
    for (const Binding *b : runs_of_typedef(name))
      add_body_line(&body, b, true);
  add_likely_runs(&body, function);
  users_win(&body.runs, same_namespace);
  drop_own_lines(&body, function);
  in_order(&body.runs);
  if (body.span && body.span->everywhere && is_passed_over(body, function))
    body.span = nullptr;
  return bodies[DECL_UID(function)] = body;
}

bool run_has_bodies(const Binding *run) {
  cgraph_node *node;
  FOR_EACH_DEFINED_FUNCTION(node)
  for (const RunLine &line : body_lines(node->decl).runs)
    if (!line.likely && line.line->words == run->words)
      return true;
  return false;
}

bool enters_future(tree function, tree function_type) {
  if (function) {
    const BodyLines &body = body_lines(function);
    return body.async || std::any_of(body.runs.begin(), body.runs.end(),
                                     [](const RunLine &run) { return !run.quiet; });
  }
  Lines lines;
  attribute_lines(TYPE_ATTRIBUTES(function_type), &lines);
  return std::any_of(lines.begin(), lines.end(), [](const Binding *b) {
    return b->is_async() || (b->verb == Verb::Run && is_body_line(b));
  });
}

} // namespace aprof
