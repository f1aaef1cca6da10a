/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The walk over one function; see pass.h. */
#include "pass.h"

#include "gcc.h"
#include "plugin/emit/body.h"
#include "plugin/emit/call.h"
#include "plugin/emit/constructor.h"
#include "plugin/emit/coverage.h"
#include "plugin/emit/gate.h"
#include "plugin/match/match.h"
#include "plugin/match/scan.h"

namespace aprof {

struct Walk {
  BodyWork body;
  Caller caller;
  bool uses_gate = false;
  bool changed = false;
  Announced announced;
};

static tree visit_statement(gimple_stmt_iterator *, bool *, walk_stmt_info *);
static tree visit_operand(tree *, int *, void *);

static void walk_sequence(gimple_seq *sequence, Walk *walk) {
  walk_stmt_info info;
  memset(&info, 0, sizeof info);
  info.info = walk;
  walk_gimple_seq_mod(sequence, visit_statement, user_gate() ? visit_operand : nullptr, &info);
}

/* Becomes a function of its own, maybe on another thread: the tokens of the body
   are not there. */
static void walk_outlined(gimple *region, Walk *walk) {
  std::vector<tree> tokens;
  bool outlined = walk->caller.outlined;
  tokens.swap(walk->caller.tokens);
  walk->caller.outlined = true;
  walk_sequence(gimple_omp_body_ptr(region), walk);
  walk->caller.outlined = outlined;
  tokens.swap(walk->caller.tokens);
}

/* APROF_REQUEST of <aprof.h>: what is called from here on may be called in a future. */
static void note_block(tree callee, Walk *walk) {
  const char *name = callee && user_gate() ? identifier_text(DECL_NAME(callee)) : nullptr;
  if (!name || strcmp(name, "aprof_request_begin_") != 0)
    return;
  if (!walk->caller.is_body && !walk->caller.has_block)
    coverage_function(walk->caller.decl, false);
  walk->caller.has_block = true;
}

static tree visit_statement(gimple_stmt_iterator *gsi, bool *handled, walk_stmt_info *info) {
  Walk *walk = static_cast<Walk *>(info->info);
  switch (gimple_code(gsi_stmt(*gsi))) {
  case GIMPLE_CALL:
    note_block(gimple_call_fndecl(gsi_stmt(*gsi)), walk);
    /* What was put around the call is not to be walked again. */
    *handled = instrument_call(gsi, walk->caller);
    walk->changed |= *handled;
    break;
  case GIMPLE_ASSIGN:
    *handled = instrument_store(gsi, walk->caller);
    walk->changed |= *handled;
    break;
  case GIMPLE_RETURN:
    instrument_return(&walk->body, gsi);
    break;
  case GIMPLE_OMP_PARALLEL:
  case GIMPLE_OMP_TASK:
  case GIMPLE_OMP_TEAMS:
    walk_outlined(gsi_stmt(*gsi), walk);
    *handled = true;
    break;
  case GIMPLE_TRANSACTION: /* calls through pointers are not safe inside */
  case GIMPLE_OMP_TARGET:  /* may run where there is no gate */
    *handled = true;
    break;
  default:
    break;
  }
  return NULL_TREE;
}

/* <aprof.h> calls through the gate: then this unit has to have one. */
static tree visit_operand(tree *operand, int *, void *data) {
  walk_stmt_info *info = static_cast<walk_stmt_info *>(data);
  static_cast<Walk *>(info->info)->uses_gate |= refers_to_user_gate(*operand);
  return NULL_TREE;
}

/* C++20: the outlined body of a coroutine, whose exits GCC still has to make.
   Its frame's first member is the resume function. */
static bool is_coroutine_part(tree function) {
  tree parameter = DECL_ARGUMENTS(function);
  if (!parameter || !POINTER_TYPE_P(TREE_TYPE(parameter)))
    return false;
  tree frame = TREE_TYPE(TREE_TYPE(parameter));
  if (TREE_CODE(frame) != RECORD_TYPE || !TYPE_FIELDS(frame))
    return false;
  const char *name = identifier_text(DECL_NAME(TYPE_FIELDS(frame)));
  return name && (strcmp(name, "_Coro_resume_fn") == 0 || strcmp(name, "__coro_resume_fn") == 0);
}

/* What ifunc("NAME") names runs while the program is being relocated: before the
   shadow memory of a sanitizer, which a token in its frame would need, is there. */
static bool is_resolver(tree function) {
  static std::unordered_set<std::string> names;
  static bool known;
  cgraph_node *node;
  if (!known) {
    FOR_EACH_FUNCTION(node) {
      tree ifunc = lookup_attribute("ifunc", DECL_ATTRIBUTES(node->decl));
      if (ifunc)
        names.insert(TREE_STRING_POINTER(TREE_VALUE(TREE_VALUE(ifunc))));
    }
    known = true;
  }
  return !names.empty() && names.count(identifier_text(DECL_ASSEMBLER_NAME(function)));
}

/* No frame to keep a token in, or no code of the program. */
static bool is_out_of_bounds(tree function) {
  bool generated = DECL_ARTIFICIAL(function) &&
                   (DECL_STATIC_CONSTRUCTOR(function) || DECL_STATIC_DESTRUCTOR(function));
  return generated || is_resolver(function) || is_own_constructor(function) ||
         is_coroutine_part(function) || lookup_attribute("naked", DECL_ATTRIBUTES(function));
}

/* An inline function whose one definition is elsewhere, or nowhere: where it was
   small enough to be inlined it still has to be. */
static void keep_inlinable(tree function) {
  if (optimize && DECL_EXTERNAL(function) && DECL_DECLARED_INLINE_P(function))
    DECL_DISREGARD_INLINE_LIMITS(function) = 1;
}

static void instrument(tree function) {
  Walk walk;
  walk.body.decl = function;
  const BodyLines &lines = body_lines(function);
  bool leaves = lines.surely();
  begin_body(&walk.body, lines);
  bool is_body = !walk.body.brackets.empty();
  walk.caller = {function, walk.body.is_future, walk.body.tokens};

  gimple_seq body = gimple_body(function);
  walk.caller.announced = &walk.announced;
  walk_sequence(&body, &walk);
  take_back(&body, walk.announced, leaves);
  gimple_set_body(function, body);
  finish_body(&walk.body);
  if (walk.uses_gate)
    gate();
  if (is_body || walk.body.entry || walk.changed)
    keep_inlinable(function);
}

namespace {

const pass_data description = {
    GIMPLE_PASS, "*aprof", OPTGROUP_NONE, TV_NONE, PROP_gimple_any, 0, 0, 0, 0,
};

class Pass : public gimple_opt_pass {
public:
  Pass() : gimple_opt_pass(description, g) {}
  unsigned int execute(function *fun) final override {
    bool lowered = fun->cfg || (fun->curr_properties & PROP_gimple_lcf);
    bool nothing = match_nothing() && !user_gate();
    if (!nothing && !lowered && !is_out_of_bounds(fun->decl))
      instrument(fun->decl);
    return 0;
  }
};

/* -Wclobbered is about registers as they were allocated, and events behind a setjmp change
   that: where there are some, a variable might be named that the program's own code would not
   have had named. */
const pass_data clobbered_description = {
    RTL_PASS, "*aprof_clobbered", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0,
};

class ClobberedPass : public rtl_opt_pass {
public:
  ClobberedPass() : rtl_opt_pass(clobbered_description, g) {}
  unsigned int execute(function *fun) final override {
    static const bool wanted = warn_clobbered;
    warn_clobbered = wanted && !is_returned_to(fun->decl);
    return 0;
  }
};

} // namespace

static void insert(const char *plugin_name, opt_pass *pass, pass_positioning_ops where,
                   const char *other) {
  register_pass_info info;
  info.pass = pass;
  info.reference_pass_name = other;
  info.ref_pass_instance_number = 1;
  info.pos_op = where;
  register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

void pass_register(const char *plugin_name) {
  insert(plugin_name, new Pass(), PASS_POS_INSERT_AFTER, "*warn_unused_result");
  insert(plugin_name, new ClobberedPass(), PASS_POS_INSERT_BEFORE, "ira");
}

} // namespace aprof
