/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is seen while parsing; see scan.h. */
#include "scan.h"

#include <algorithm>
#include <dlfcn.h>

#include <aprof/abi.h>

#include "attribute.h"
#include "bindings.h"
#include "flow.h"
#include "function-names.h"
#include "headers.h"
#include "likely.h"
#include "match.h"
#include "plugin/keep.h"
#include "types.h"
#include "wanted.h"

namespace aprof {

static std::unordered_map<unsigned, std::vector<Use>> uses; /* by DECL_UID */
static std::unordered_map<unsigned, std::vector<const Binding *>> plain_runs;
static std::unordered_map<std::string, std::vector<const Binding *>> typedef_runs;
static tree gate_decl;
static std::unordered_set<unsigned> announced; /* DECL_UIDs of functions */

const std::vector<Use> &uses_of(tree function) {
  return uses[DECL_UID(function)];
}

bool is_passed_as_is(tree function, const Binding *run) {
  const auto &known = plain_runs[DECL_UID(function)];
  return std::find(known.begin(), known.end(), run) != known.end();
}

static std::unordered_map<const Binding *, tree> run_types;

static void note_run_type(const Binding *run, tree type) {
  tree function_type = type ? function_type_of(type) : NULL_TREE;
  if (function_type && !run_types.count(run))
    run_types[run] = keep(function_type);
}

tree called_as(tree function, const Binding *run) {
  auto known = run_types.find(run);
  if (known != run_types.end())
    return known->second;
  for (const Use &use : uses_of(function))
    if (run->place == Place::Type && use.as && run->name == identifier_text(DECL_NAME(use.as)))
      return function_type_of(TREE_TYPE(use.as));
  return NULL_TREE;
}

const std::vector<const Binding *> &runs_of_typedef(tree type_decl) {
  return typedef_runs[identifier_text(DECL_NAME(type_decl))];
}

tree user_gate() {
  return gate_decl;
}

template <typename T>
static void add_once(std::vector<T> *to, const T &what) {
  if (std::find(to->begin(), to->end(), what) == to->end())
    to->push_back(what);
}

/* -- fn= that is a field ------------------------------------------------------------------ */

/* fn=a0->handler: whose declaration of a0 is `function`, or its type. The struct
   may not have been defined yet. */
struct FieldFunction {
  const Binding *line;
  const Value *value;
  tree function, type;
};
static std::vector<FieldFunction> field_functions;

static void fields_reached(const Binding *b, const Value *value, tree function, tree type) {
  if (value->kind != Value::Field)
    return;
  for (const FieldFunction &f : field_functions)
    if (f.value == value && f.function == function)
      return;
  field_functions.push_back(
      {b, value, function ? keep(function) : NULL_TREE, type ? keep(type) : NULL_TREE});
}

static void reach_field(const FieldFunction &f, tree object) {
  tree record = type_of_value(f.value->of.get(), f.function, f.type, object);
  if (record && POINTER_TYPE_P(record))
    record = TREE_TYPE(record);
  std::vector<tree> path = record ? find_field(record, f.value->name) : std::vector<tree>();
  if (path.empty())
    return;
  note_run_type(f.line->run_of_functions(), TREE_TYPE(path.back()));
  flow_reaches(path.back(), f.line, f.function, UNKNOWN_LOCATION);
}

/* Once the unit is parsed, and its structs are known. */
static void reach_fields() {
  static bool done;
  if (done)
    return;
  done = true;
  for (const FieldFunction &f : field_functions) {
    bool of_field = f.line->place == Place::Icall || f.line->place == Place::Store;
    reach_field(f, of_field ? wanted_struct(f.line->name) : NULL_TREE);
  }
  for (const auto &b : bindings())
    for (const auto &value : b->functions)
      if (b->place == Place::Store && b->run_of_functions() && value->kind == Value::Field)
        if (tree object = wanted_struct(b->name))
          reach_field({b.get(), value.get(), NULL_TREE, NULL_TREE}, object);
}

const std::vector<Reach> &reaches(tree function) {
  reach_fields();
  return reaches_of(function);
}

static bool scan_wanted() {
  return libraries_present() || match_needs_scan() || attributes_need_scan();
}

/* -- functions that are passed or assigned ------------------------------------------------- */

static tree scanned;          /* the function that is being walked */
static location_t scanned_at; /* the declaration or assignment */

static void note_use(tree e, tree type) {
  tree function_type = type ? function_type_of(type) : NULL_TREE;
  if (!function_type)
    return;
  std::vector<tree> found;
  functions_in(e, &found);
  if (found.empty())
    return;
  std::vector<tree> names = typedefs_of(type);
  if (names.empty())
    names.push_back(NULL_TREE);
  for (tree function : found)
    for (tree name : names) {
      auto &known = uses[DECL_UID(function)];
      bool again = false;
      for (const Use &use : known)
        again |= use.as == name && use.attributes == TYPE_ATTRIBUTES(function_type);
      if (again)
        continue;
      if (name)
        keep(name);
      if (TYPE_ATTRIBUTES(function_type))
        keep(TYPE_ATTRIBUTES(function_type));
      known.push_back({name, TYPE_ATTRIBUTES(function_type)});
    }
}

/* `place` is an expression or declaration, or null. */
static void note_initializer(tree place, tree e, tree type) {
  if (!e || e == error_mark_node)
    return;
  if (TREE_CODE(e) == COMPOUND_LITERAL_EXPR)
    e = DECL_INITIAL(COMPOUND_LITERAL_EXPR_DECL(e));
  if (!e)
    return;
  if (TREE_CODE(e) != CONSTRUCTOR) {
    note_use(e, type);
    if (place)
      flow_into(place, e, scanned_at);
    return;
  }
  unsigned HOST_WIDE_INT i;
  tree index, value;
  FOR_EACH_CONSTRUCTOR_ELT(CONSTRUCTOR_ELTS(e), i, index, value) {
    if (index && TREE_CODE(index) == FIELD_DECL)
      note_initializer(index, value, TREE_TYPE(index));
    else if (TREE_CODE(TREE_TYPE(e)) == ARRAY_TYPE)
      note_initializer(place, value, TREE_TYPE(TREE_TYPE(e)));
    else
      note_initializer(NULL_TREE, value, NULL_TREE);
  }
}

static void announce_definition(tree function);

/* Is it passed as a function of type `wanted`, but has other arguments, or a result where that one
   has none, or none where it has one? */
static bool is_cast(tree function, tree wanted) {
  if (!wanted || parameter_count(wanted) < 0)
    return false;
  tree type = TREE_TYPE(function);
  return parameter_count(wanted) != parameter_count(type) ||
         VOID_TYPE_P(TREE_TYPE(wanted)) != VOID_TYPE_P(TREE_TYPE(type));
}

/* The functions that this may be, an argument or named by the line, get the line's `| run`. */
static void note_run_value(const Binding *b, tree argument, tree call, tree callee, tree wanted) {
  const Binding *run = b->run_of_functions();
  flow_reaches(argument, b, callee, EXPR_LOCATION(call));
  std::vector<tree> found;
  functions_in(argument, &found);
  note_run_type(run, wanted);
  wanted = wanted ? function_type_of(wanted) : NULL_TREE;
  for (tree function : found) {
    if (!b->regex && !is_cast(function, wanted))
      add_once(&plain_runs[DECL_UID(function)], run);
  }
}

static void note_run(const Binding *b, tree callee, tree type, tree call) {
  if (!b->run_of_functions())
    return;
  int count = call_expr_nargs(call);
  for (const auto &value : b->functions) {
    int index = (int)(value->number < 0 ? count + value->number : value->number);
    if (value->kind == Value::Arg && index >= 0 && index < count)
      note_run_value(b, CALL_EXPR_ARG(call, index), call, callee,
                     parameter_type(callee, type, index));
    else if (value->kind == Value::Name && wanted_function(value->name))
      note_run_value(b, wanted_function(value->name), call, callee, NULL_TREE);
    else
      fields_reached(b, value.get(), callee, type);
  }
}

static void note_call(tree call) {
  if (!CALL_EXPR_FN(call))
    return;
  tree callee = get_callee_fndecl(call);
  if (callee && !DECL_IS_UNDECLARED_BUILTIN(callee))
    announce_definition(callee);
  tree type = function_type_of(TREE_TYPE(CALL_EXPR_FN(call)));
  int count = call_expr_nargs(call);
  for (int i = 0; i < count; i++) {
    note_use(CALL_EXPR_ARG(call, i), parameter_type(callee, type, i));
    flow_into_argument(callee, i, CALL_EXPR_ARG(call, i), EXPR_LOCATION(call));
  }
  for (const Binding *b : call_lines(callee, type))
    note_run(b, callee, type, call);
  tree pointer = CALL_EXPR_FN(call);
  STRIP_NOPS(pointer);
  if (TREE_CODE(pointer) == COMPONENT_REF && fields_matter(Place::Icall))
    for (const FieldLine &found : field_lines(Place::Icall, pointer))
      note_run(found.line, NULL_TREE, type, call);
}

/* store: lines whose fn= is what is stored. */
static void note_store(tree place, tree value) {
  if (TREE_CODE(place) != COMPONENT_REF || !fields_matter(Place::Store))
    return;
  for (const FieldLine &found : field_lines(Place::Store, place)) {
    bool runs = found.line->run_of_functions() != nullptr;
    for (const auto &fn : found.line->functions)
      if (runs && fn->kind == Value::Arg && fn->number == 0)
        flow_reaches(value, found.line, NULL_TREE, scanned_at);
  }
}

static void note_assignment(tree place, tree value) {
  if (TREE_CODE(place) == RESULT_DECL)
    flow_out_of(scanned, value, scanned_at);
  note_store(place, value);
  note_initializer(place, value, TREE_TYPE(place));
}

static void note_variable(tree declaration) {
  scanned_at = DECL_SOURCE_LOCATION(declaration);
  note_initializer(declaration, DECL_INITIAL(declaration), TREE_TYPE(declaration));
}

static tree scan_tree(tree *where, int *, void *);

static void scan_body(tree function) {
  tree outer = scanned;
  scanned = function;
  if (DECL_SAVED_TREE(function))
    walk_tree_without_duplicates(&DECL_SAVED_TREE(function), scan_tree, nullptr);
  scanned = outer;
}

static tree scan_tree(tree *where, int *, void *) {
  tree t = *where;
  switch (TREE_CODE(t)) {
  case CALL_EXPR:
    note_call(t);
    break;
  case MODIFY_EXPR:
  case INIT_EXPR:
    scanned_at = EXPR_LOCATION(t);
    note_assignment(TREE_OPERAND(t, 0), TREE_OPERAND(t, 1));
    break;
  case COMPOUND_LITERAL_EXPR:
    scanned_at = EXPR_LOCATION(t);
    note_initializer(NULL_TREE, t, TREE_TYPE(t));
    break;
  case DECL_EXPR: {
    tree declaration = DECL_EXPR_DECL(t);
    if (TREE_CODE(declaration) == FUNCTION_DECL)
      scan_body(declaration); /* nested functions are not announced */
    else if (VAR_P(declaration))
      note_variable(declaration);
    break;
  }
  default:
    break;
  }
  return NULL_TREE;
}

static void keep_up();

void scan_function(void *function, void *) {
  keep_up();
  if (!gate_decl) {
    tree found = identifier_global_value(get_identifier(APROF_GATE_SYMBOL));
    if (found && VAR_P(found))
      gate_decl = keep(found);
  }
  wanted_look_up();
  if (!scan_wanted())
    return;
  announce_definition((tree)function);
  scan_body((tree)function);
}

/* -- declarations ---------------------------------------------------------------------------- */

/* `| run` holds for whatever is passed, anywhere, as the type of fn=. */
static void note_create_lines(tree function) {
  for (const Binding *b : call_lines(function, TREE_TYPE(function))) {
    if (!b->run_of_functions())
      continue;
    for (const auto &value : b->functions) {
      fields_reached(b, value.get(), function, TREE_TYPE(function));
      tree type = type_of_value(value.get(), function, TREE_TYPE(function));
      likely_type(type, b);
      note_run_type(b->run_of_functions(), type);
      for (tree name : typedefs_of(type))
        add_once(&typedef_runs[identifier_text(DECL_NAME(name))], b->run_of_functions());
    }
  }
}

static void announce(tree function) {
  announced.insert(DECL_UID(function));
  note_create_lines(function);
}

/* GCC announces no definitions. One in a header is what others have, too; to one in the
   unit's own file nothing is passed that was not seen. */
static void announce_definition(tree function) {
  if (announced.count(DECL_UID(function)))
    return;
  if (is_in_header(function))
    announce(function);
  else
    announced.insert(DECL_UID(function));
}

/* What came out of a precompiled header was not announced: look for it. */
static int announce_identifier(cpp_reader *, cpp_hashnode *node, void *) {
  tree found = identifier_global_value(HT_IDENT_TO_GCC_IDENT(HT_NODE(node)));
  if (found && TREE_CODE(found) == FUNCTION_DECL && !announced.count(DECL_UID(found)))
    announce(found);
  return 1;
}

/* With the files that have been entered since, and what they are headers of. */
static void keep_up() {
  if (!libraries_watch())
    return;
  match_forget_identifiers();
  attributes_expect();
  if (void *reader = scan_wanted() ? dlsym(RTLD_DEFAULT, "parse_in") : nullptr)
    cpp_forall_identifiers(*(cpp_reader **)reader, announce_identifier, nullptr);
}

void scan_declaration(void *data, void *) {
  static const bool cxx = lang_GNU_CXX(); /* compares strings each time */
  tree declaration = (tree)data;
  keep_up();
  if (cxx && TREE_CODE(declaration) == FUNCTION_DECL && !match_nothing())
    remember_overload(declaration);
  if (!scan_wanted() || declaration == error_mark_node || !DECL_NAME(declaration))
    return;
  if (VAR_P(declaration)) {
    if (is_global_var(declaration))
      note_variable(declaration);
  } else if (TREE_CODE(declaration) == TYPE_DECL) {
    if (libraries_present())
      remember_header(declaration);
  } else if (TREE_CODE(declaration) == FUNCTION_DECL) {
    announce(declaration);
  }
}

} // namespace aprof
