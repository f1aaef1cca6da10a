/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of functions' addresses; see flow.h. */
#include "flow.h"

#include <algorithm>

#include "plugin/keep.h"

namespace aprof {

/* A variable or field, a parameter or the result of a function: by DECL_UID, and
   which of them. Parameters go by their number, since declarations of one function
   have different ones. */
typedef uint64_t Spot;
enum { ITSELF = 0, RESULT = 1, FIRST_PARAMETER = 2 };

struct Source {
  unsigned function; /* DECL_UID */
  location_t where;

  /* The first place is told. */
  bool operator==(const Source &other) const { return function == other.function; }
};

struct Sources {
  std::vector<Source> functions;
  std::vector<Spot> spots;
};

struct Sink {
  Spot spot;
  const Binding *create;
  tree callee;
};

static std::unordered_map<Spot, Sources> flows;
static std::vector<Sink> sinks;
static std::unordered_map<unsigned, std::vector<Reach>> reached; /* by DECL_UID */
static bool followed;

template <typename T>
static void add_once(std::vector<T> *to, const T &what) {
  if (std::find(to->begin(), to->end(), what) == to->end())
    to->push_back(what);
}

/* -- what an expression may be ----------------------------------------------------------------- */

/* What functions return that return functions: a captureless lambda becomes a
   pointer by a call of such a one. */
static std::unordered_map<unsigned, std::vector<tree>> returned; /* by DECL_UID */

const std::vector<tree> &returned_by(tree function) {
  return returned[DECL_UID(function)];
}

static Spot spot_of(tree declaration, unsigned which) {
  return (Spot)DECL_UID(declaration) << 32 | which;
}

static bool parameter_spot(tree parameter, Spot *spot) {
  tree function = DECL_CONTEXT(parameter);
  unsigned index = 0;
  if (!function || TREE_CODE(function) != FUNCTION_DECL)
    return false;
  for (tree p = DECL_ARGUMENTS(function); p; p = DECL_CHAIN(p), index++)
    if (p == parameter) {
      *spot = spot_of(function, FIRST_PARAMETER + index);
      return true;
    }
  return false;
}

/* The place that holds the value, if it has a name. */
static bool named_spot(tree e, Spot *spot) {
  switch (TREE_CODE(e)) {
  case COMPONENT_REF:
    e = TREE_OPERAND(e, 1);
    *spot = spot_of(e, ITSELF);
    return true;
  case VAR_DECL:
  case FIELD_DECL:
    *spot = spot_of(e, ITSELF);
    return true;
  case PARM_DECL:
    return parameter_spot(e, spot);
  default:
    return false;
  }
}

/* `functions` and the spots that `e` may get its value from. */
static void sources_of(tree e, std::vector<tree> *functions, std::vector<Spot> *spots) {
  Spot spot;
  while (e) {
    if (named_spot(e, &spot)) {
      spots->push_back(spot);
      return;
    }
    switch (TREE_CODE(e)) {
    CASE_CONVERT:
    case NON_LVALUE_EXPR:
    case VIEW_CONVERT_EXPR:
    case SAVE_EXPR:
    case ADDR_EXPR:
    case ARRAY_REF:
      e = TREE_OPERAND(e, 0);
      continue;
    case COMPOUND_EXPR:
    case TARGET_EXPR:
      e = TREE_OPERAND(e, 1);
      continue;
    case COND_EXPR:
      if (TREE_OPERAND(e, 1))
        sources_of(TREE_OPERAND(e, 1), functions, spots);
      e = TREE_OPERAND(e, 2);
      continue;
    case CALL_EXPR:
      if (tree callee = get_callee_fndecl(e)) {
        for (tree function : returned_by(callee))
          functions->push_back(function);
        spots->push_back(spot_of(callee, RESULT));
      }
      return;
    case FUNCTION_DECL:
      functions->push_back(e);
      return;
    default:
      return;
    }
  }
}

void functions_in(tree value, std::vector<tree> *functions) {
  std::vector<Spot> spots;
  sources_of(value, functions, &spots);
}

/* -- while parsing
 * --------------------------------------------------------------------------------- */

static void into(Spot spot, tree value, location_t where) {
  std::vector<tree> functions;
  std::vector<Spot> spots;
  sources_of(value, &functions, &spots);
  if (functions.empty() && spots.empty())
    return;
  Sources &sources = flows[spot];
  for (tree function : functions)
    add_once(&sources.functions, Source{DECL_UID(function), where});
  for (Spot from : spots)
    if (from != spot)
      add_once(&sources.spots, from);
}

/* Pointers to functions, and those that have no type. */
static bool may_hold_function(tree value) {
  tree type = TREE_TYPE(value);
  type = type && POINTER_TYPE_P(type) ? TREE_TYPE(type) : type;
  return type && (VOID_TYPE_P(type) || FUNC_OR_METHOD_TYPE_P(type));
}

void flow_into(tree place, tree value, location_t where) {
  Spot spot;
  while (TREE_CODE(place) == ARRAY_REF)
    place = TREE_OPERAND(place, 0);
  if (may_hold_function(value) && named_spot(place, &spot))
    into(spot, value, where);
}

void flow_into_argument(tree callee, int index, tree value, location_t where) {
  if (callee && may_hold_function(value))
    into(spot_of(callee, FIRST_PARAMETER + (unsigned)index), value, where);
}

void flow_out_of(tree function, tree value, location_t where) {
  std::vector<tree> functions;
  if (!may_hold_function(value))
    return;
  functions_in(value, &functions);
  for (tree f : functions)
    add_once(&returned[DECL_UID(function)], keep(f));
  into(spot_of(function, RESULT), value, where);
}

static void add_reach(unsigned function, const Reach &reach) {
  add_once(&reached[function], reach);
}

void flow_reaches(tree place, const Binding *create, tree callee, location_t where) {
  std::vector<tree> functions;
  std::vector<Spot> spots;
  sources_of(place, &functions, &spots);
  if (callee && !(functions.empty() && spots.empty()))
    keep(callee);
  for (tree function : functions)
    add_reach(DECL_UID(function), {create, callee, where});
  for (Spot spot : spots)
    sinks.push_back({spot, create, callee});
}

/* -- once the unit is parsed
 * ------------------------------------------------------------------------ */

/* From a sink back to all functions that may end there. */
static void follow(const Sink &sink) {
  std::unordered_set<Spot> seen = {sink.spot};
  std::vector<Spot> open = {sink.spot};
  while (!open.empty()) {
    auto found = flows.find(open.back());
    open.pop_back();
    if (found == flows.end())
      continue;
    for (const Source &source : found->second.functions)
      add_reach(source.function, {sink.create, sink.callee, source.where});
    for (Spot spot : found->second.spots)
      if (seen.insert(spot).second)
        open.push_back(spot);
  }
}

/* Before the compiler has analyzed it, an alias knows the declaration behind it only. */
static tree behind_alias(cgraph_node *node) {
  if (node->analyzed)
    return node->ultimate_alias_target()->decl;
  return node->alias_target && TREE_CODE(node->alias_target) == FUNCTION_DECL ? node->alias_target
                                                                              : NULL_TREE;
}

/* The body of an alias is that of the function behind it. */
static void resolve_aliases() {
  cgraph_node *node;
  FOR_EACH_FUNCTION(node) {
    tree body = node->alias ? behind_alias(node) : NULL_TREE;
    auto known = reached.find(DECL_UID(node->decl));
    if (!body || known == reached.end())
      continue;
    std::vector<Reach> reaches = known->second;
    for (const Reach &reach : reaches)
      add_reach(DECL_UID(body), reach);
  }
}

static void follow_all() {
  std::vector<Sink> distinct;
  for (const Sink &sink : sinks) {
    auto same = [&](const Sink &s) { return s.spot == sink.spot && s.create == sink.create; };
    if (std::none_of(distinct.begin(), distinct.end(), same))
      distinct.push_back(sink);
  }
  for (const Sink &sink : distinct)
    follow(sink);
  if (!reached.empty())
    resolve_aliases();
}

const std::vector<Reach> &reaches_of(tree function) {
  if (!followed) {
    followed = true;
    follow_all();
  }
  return reached[DECL_UID(function)];
}

} // namespace aprof
