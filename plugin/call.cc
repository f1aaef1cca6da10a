/*
 * Calls: what their lines put around them.
 *
 *     r = uv_write (req, ...);      {
 *                                     open t: create_begin (site, &t, fn_site, fn);
 *                                     r = uv_write (req, ...);
 *                                     close t: create_end (&t, req, 0, r == 0);
 *                                   }
 *
 * Where the call may throw, the closing event is in a finally part. Events of
 * no extent (wake, end, at) come before the call, since from then on another
 * thread may act on them; after it where they depend on its result.
 */
#include <algorithm>

#include <aprof/abi.h>

#include "body.h"
#include "call.h"
#include "coverage.h"
#include "diagnose.h"
#include "emit.h"
#include "field.h"
#include "options.h"
#include "scan.h"
#include "site.h"
#include "types.h"

namespace aprof {

/* A pair of opening and closing events around the call. */
struct Bracket {
  tree token = NULL_TREE;
  tree open = NULL_TREE;   /* statements before */
  tree normal = NULL_TREE; /* statements after it came to its end */
  tree close = NULL_TREE;  /* statements whichever way it is left */
};

struct CallWork {
  const Caller &in;
  gcall *call; /* null: an assignment */
  std::string callee;
  Frame frame;
  bool may_throw;
  bool enters = false; /* the callee's body is a future */
  tree variables = NULL_TREE;
  tree before = NULL_TREE, after = NULL_TREE;
  gimple_seq inner = nullptr;
  std::vector<Bracket> brackets = {};
  std::unordered_map<const Binding *, tree> objects = {}; /* what obj is to a line */
};

int unwound_how() {
  return lang_GNU_CXX() ? APROF_FAILED : APROF_CANCELLED;
}

/* -- what is called ------------------------------------------------------------------------- */

/* The name that the source gives to what is called. */
static std::string name_of_callee(gcall *call) {
  if (tree function = gimple_call_fndecl(call))
    return name_of_function(function);
  tree pointer = through_temporaries(gimple_call_fn(call));
  if (pointer && TREE_CODE(pointer) == OBJ_TYPE_REF)
    pointer = OBJ_TYPE_REF_EXPR(pointer);
  while (pointer && (TREE_CODE(pointer) == ARRAY_REF || TREE_CODE(pointer) == ADDR_EXPR))
    pointer = TREE_OPERAND(pointer, 0);
  if (pointer && TREE_CODE(pointer) == COMPONENT_REF)
    pointer = TREE_OPERAND(pointer, 1);
  const char *text = pointer && DECL_P(pointer) ? identifier_text(DECL_NAME(pointer)) : nullptr;
  return text && !DECL_ARTIFICIAL(pointer) ? text : "(pointer)";
}

static Frame frame_of(gcall *call, tree function) {
  Frame frame;
  frame.where = gimple_location(call);
  frame.function = function;
  frame.subject = gimple_call_fndecl(call);
  tree callee = frame.subject, type = gimple_call_fntype(call);
  for (unsigned i = 0; i < gimple_call_num_args(call); i++) {
    frame.args.push_back(gimple_call_arg(call, i));
    frame.types.push_back(parameter_type(callee, type, (int)i));
  }
  return frame;
}

/* -- before and after ---------------------------------------------------------------------------
 */

/* Arguments that are looked at behind the call keep their value until then. */
static void save_late_arguments(CallWork *w, const std::vector<const Binding *> &lines) {
  std::unordered_set<int> late;
  for (const Binding *b : lines)
    late_arguments(*b, w->frame, &late);
  for (int i : late) {
    if (i < 0 || i >= (int)w->frame.args.size())
      continue;
    tree &argument = w->frame.args[(size_t)i];
    if (is_gimple_min_invariant(argument) || !is_gimple_reg_type(TREE_TYPE(argument)))
      continue;
    tree saved = new_local(TYPE_MAIN_VARIANT(TREE_TYPE(argument)), "aprof_arg", &w->variables);
    append(&w->before, assign(saved, argument));
    argument = saved;
  }
  for (const Binding *b : lines) {
    auto object = w->objects.find(b);
    if (object == w->objects.end() || !late_object(*b))
      continue;
    tree saved = new_local(TREE_TYPE(object->second), "aprof_obj", &w->variables);
    append(&w->before, assign(saved, object->second));
    object->second = saved;
  }
}

static bool uses_ret(const Binding &b) {
  const Value *values[] = {b.key.first.get(), b.key.second.get(), b.ok.what.get(),
                           b.once_if.what.get()};
  return b.pending || b.polling ||
         std::any_of(std::begin(values), std::end(values),
                     [](const Value *v) { return value_uses(v, Value::Ret); });
}

/* Gives the call's result a name of its own, whatever the program does with it. */
static void provide_ret(CallWork *w) {
  tree type = gimple_call_return_type(w->call);
  if (VOID_TYPE_P(type) || gimple_call_noreturn_p(w->call))
    return;
  tree lhs = gimple_call_lhs(w->call);
  if (!is_gimple_reg_type(type)) {
    w->frame.ret = lhs;
    return;
  }
  tree result = new_local(TYPE_MAIN_VARIANT(type), "aprof_ret", &w->variables);
  gimple_call_set_lhs(w->call, result);
  if (lhs)
    gimple_seq_add_stmt(&w->inner, gimple_build_assign(lhs, result));
  w->frame.ret = result;
}

/* store:...=V, where only the run can tell. */
static tree if_stored(CallWork *w, const Binding *b, tree statements) {
  tree value = w->frame.args[0];
  if (TREE_CODE(value) == INTEGER_CST)
    return statements; /* it is V, else the line would not be here */
  return if_then(one_of(unshare_expr(value), {b->stored_value}), statements);
}

/* flag (and when=): statements */
static tree if_enabled(CallWork *w, const Binding *b, tree statements) {
  if (b && b->stored)
    statements = if_stored(w, b, statements);
  if (b && b->when) {
    tree condition = condition_tree(b->when, w->frame, *b);
    if (!condition)
      return NULL_TREE;
    statements = if_then(condition, statements);
  }
  return if_then(gate_enabled(), statements);
}

static tree site(CallWork *w, aprof_site_kind kind, const Binding *b) {
  return site_new(kind, w->callee, w->frame.where, w->in.decl, b, 0);
}

/* tok = 0; if (flag && when) { tok...; event } */
static tree opening(CallWork *w, const Binding *b, tree token, tree event) {
  tree open = NULL_TREE, inside = clear_token_rest(token);
  append(&open, clear_token(token));
  append(&inside, event);
  append(&open, if_enabled(w, b, inside));
  return open;
}

/* -- brackets
 * --------------------------------------------------------------------------------------- */

static void add_extent(CallWork *w, const Binding *b, aprof_site_kind kind, Event begin,
                       Event end) {
  Bracket bracket;
  tree key0, key1;
  bracket.token = new_token(&w->variables);
  std::vector<tree> arguments = {site(w, kind, b), address_of(bracket.token)};
  if (b->verb == Verb::Switch) {
    if (!key_trees(*b, w->frame, &key0, &key1))
      return;
    arguments.insert(arguments.end(), {key0, key1});
  }
  bracket.open = opening(w, b, bracket.token, call_event(begin, arguments));
  bracket.close = if_then(token_open(bracket.token), call_event(end, {address_of(bracket.token)}));
  w->brackets.push_back(bracket);
}

/* The function behind fn=, if the call names one that this unit defines. */
static tree known_function(const Value *value, CallWork *w) {
  if (value->kind != Value::Arg || !w->call)
    return NULL_TREE;
  int64_t index = value->number < 0 ? (int64_t)w->frame.args.size() + value->number : value->number;
  if (index < 0 || index >= (int64_t)w->frame.args.size())
    return NULL_TREE;
  tree argument = through_temporaries(gimple_call_arg(w->call, (unsigned)index));
  if (!argument || TREE_CODE(argument) != ADDR_EXPR ||
      TREE_CODE(TREE_OPERAND(argument, 0)) != FUNCTION_DECL)
    return NULL_TREE;
  tree function = TREE_OPERAND(argument, 0);
  cgraph_node *node = cgraph_node::get(function);
  bool defined = (node && node->definition) || DECL_SAVED_TREE(function);
  return defined ? function : NULL_TREE;
}

/* A value that is known behind the call only, kept for a finally part. */
static tree kept_for_finally(CallWork *w, Bracket *bracket, tree value, tree initial,
                             const char *name) {
  if (!w->may_throw)
    return value;
  tree variable = new_local(TREE_TYPE(value), name, &w->variables);
  append(&bracket->open, assign(variable, initial));
  append(&bracket->normal, assign(variable, value));
  return variable;
}

static void guard_normal(Bracket *bracket) {
  if (bracket->normal)
    bracket->normal = if_then(token_open(bracket->token), bracket->normal);
}

/* When it should run, said as soon as it is there. */
static tree due_event(CallWork *w, const Binding *b, tree token) {
  tree given;
  tree ns = due_tree(*b, w->frame, &given);
  if (!ns)
    return NULL_TREE;
  tree event = call_event(Event::Due, {address_of(token), ns});
  return if_then(token_open(token), if_then(given, event));
}

/* A pool thread may run the future before the call returns: it must find the key
   then, if the arguments tell it. */
static bool key_is_early(const Binding &b) {
  auto plain = [](const Value *v) {
    for (; v && v->kind == Value::Mask; v = v->of.get())
      ;
    return !v || v->kind == Value::Arg || v->kind == Value::Self;
  };
  return b.then_run && b.then_run->worker && b.key.first && plain(b.key.first.get()) &&
         plain(b.key.second.get());
}

static void add_create(CallWork *w, const Binding *b) {
  Bracket bracket;
  tree function = null_pointer_node, address = null_pointer_node, key0, key1;
  if (!b->functions.empty()) {
    address = value_tree(b->functions[0].get(), w->frame, *b);
    if (tree known = known_function(b->functions[0].get(), w))
      function = site_of_function(known);
  }
  tree ok = condition_tree(b->ok, w->frame, *b);
  if (!address || !ok || !key_trees(*b, w->frame, &key0, &key1))
    return;
  bracket.token = new_token(&w->variables);
  tree begin = NULL_TREE;
  append(&begin, call_event(Event::CreateBegin, {site(w, APROF_SITE_CREATE, b),
                                                 address_of(bracket.token), function, address}));
  if (b->due)
    append(&begin, due_event(w, b, bracket.token));
  if (key_is_early(*b))
    append(&begin, if_then(token_open(bracket.token),
                           call_event(Event::CreateKey,
                                      {address_of(bracket.token), unshare_expr(key0),
                                       unshare_expr(key1)})));
  bracket.open = opening(w, b, bracket.token, begin);
  tree zero = build_int_cst(uint64_type_node, 0);
  key0 = kept_for_finally(w, &bracket, key0, zero, "aprof_key");
  key1 = kept_for_finally(w, &bracket, key1, zero, "aprof_key");
  ok = kept_for_finally(w, &bracket, fold_convert(integer_type_node, ok), number(0), "aprof_ok");
  guard_normal(&bracket);
  bracket.close =
      if_then(token_open(bracket.token),
              call_event(Event::CreateEnd, {address_of(bracket.token), key0, key1, ok}));
  w->brackets.push_back(bracket);
}

static tree either(tree condition, int yes, int no) {
  return fold_build3(COND_EXPR, integer_type_node, condition, number(yes), number(no));
}

/* The end of a run around a call; null after an error. */
static tree how_of_run(CallWork *w, const Binding *b) {
  if (b->pending || b->polling) {
    tree ret = w->frame.ret;
    if (ret && (INTEGRAL_TYPE_P(TREE_TYPE(ret)) || POINTER_TYPE_P(TREE_TYPE(ret))))
      return stackless_how(*b, ret);
    error_at(w->frame.where, "%qs needs a return value, which %qs does not give",
             b->pending ? "pending=" : "polling=", w->callee.c_str());
    note_binding(*b, w->frame.subject);
    return NULL_TREE;
  }
  if (!b->once_if)
    return number(b->once ? APROF_DONE : APROF_PENDING);
  tree condition = condition_tree(b->once_if, w->frame, *b);
  return condition ? either(condition, APROF_DONE, APROF_PENDING) : NULL_TREE;
}

static void add_run(CallWork *w, const Binding *b) {
  Bracket bracket;
  tree key0, key1, how = how_of_run(w, b);
  if (!how || !key_trees(*b, w->frame, &key0, &key1))
    return;
  unsigned orphan = namespace_has_create(b->key.ns) ? 0 : APROF_ORPHAN;
  tree record = site_new(APROF_SITE_RUN, w->callee, w->frame.where, w->in.decl, b, orphan);
  bracket.token = new_token(&w->variables);
  bracket.open = opening(w, b, bracket.token,
                         call_event(Event::RunBegin, {record, address_of(bracket.token), key0, key1,
                                                      null_pointer_node, null_pointer_node}));
  how = kept_for_finally(w, &bracket, how, number(unwound_how()), "aprof_how");
  guard_normal(&bracket);
  bracket.close =
      if_then(token_open(bracket.token),
              call_event(Event::RunEnd, {address_of(bracket.token), how, null_pointer_node}));
  w->brackets.push_back(bracket);
}

/* -- events of no extent
 * -------------------------------------------------------------------------------- */

static tree moment_event(CallWork *w, const Binding *b) {
  bool wake = b->verb == Verb::Wake;
  tree record = site(w, wake ? APROF_SITE_WAKE : APROF_SITE_END, b);
  tree how = number(b->how == How::Done     ? APROF_DONE
                    : b->how == How::Failed ? APROF_FAILED
                                            : APROF_CANCELLED);
  if (b->key.first->kind == Value::Cur)
    return wake ? call_event(Event::WakeCurrent, {record})
                : call_event(Event::EndCurrent, {record, how});
  tree key0, key1;
  if (!key_trees(*b, w->frame, &key0, &key1))
    return NULL_TREE;
  return wake ? call_event(Event::Wake, {record, key0, key1})
              : call_event(Event::End, {record, key0, key1, how});
}

static void add_moment(CallWork *w, const Binding *b) {
  tree event = moment_event(w, b);
  if (!event)
    return;
  if (!b->ok && !uses_ret(*b)) {
    append(&w->before, if_enabled(w, b, event));
    return;
  }
  tree ok = condition_tree(b->ok, w->frame, *b);
  if (!ok)
    return;
  event = if_then(ok, event);
  if (b->when) { /* decided before, acted on after */
    tree armed = new_local(integer_type_node, "aprof_armed", &w->variables);
    append(&w->before, assign(armed, number(0)));
    append(&w->before, if_enabled(w, b, assign(armed, number(1))));
    event = if_then(build2(NE_EXPR, boolean_type_node, armed, number(0)), event);
  }
  append(&w->after, if_then(gate_enabled(), event));
}

/* -- all of it
 * ---------------------------------------------------------------------------------------------- */

static void say(CallWork *w, const Binding *b) {
  coverage_match(*b);
  if (b->verb == Verb::Await)
    coverage_await(w->frame.where, w->callee, w->in.decl, w->in.is_body);
  if (options.verbose)
    inform(w->frame.where, "aprof: call of %qs: %qs (%s)", w->callee.c_str(), b->text.c_str(),
           binding_origin(*b).c_str());
}

/* A regex may reach functions with fewer arguments: those it does not mean. */
static void drop_misfits(CallWork *w, std::vector<const Binding *> *lines) {
  auto misfit = [&](const Binding *b) { return b->regex && !arguments_present(*b, w->frame); };
  lines->erase(std::remove_if(lines->begin(), lines->end(), misfit), lines->end());
}

static void add_line(CallWork *w, const Binding *b) {
  say(w, b);
  auto object = w->objects.find(b);
  w->frame.obj = object == w->objects.end() ? NULL_TREE : object->second;
  switch (b->verb) {
  case Verb::Create:
    return add_create(w, b);
  case Verb::Run:
    return add_run(w, b);
  case Verb::Await:
    if (w->enters) /* the wait is that of the future behind it */
      return append(&w->before,
                    if_enabled(w, b, call_event(Event::At, {site(w, APROF_SITE_AWAIT, b)})));
    return add_extent(w, b, APROF_SITE_AWAIT, Event::Suspend, Event::Resume);
  case Verb::Helper:
    return add_extent(w, b, APROF_SITE_AWAIT, Event::Suspend, Event::Resume);
  case Verb::Switch:
    return add_extent(w, b, APROF_SITE_SWITCH, Event::SwitchTo, Event::Resume);
  case Verb::Blocking:
    return add_extent(w, b, APROF_SITE_BLOCKING, Event::BlockingBegin, Event::BlockingEnd);
  case Verb::Idle:
    return add_extent(w, b, APROF_SITE_IDLE, Event::IdleBegin, Event::IdleEnd);
  case Verb::Wake:
  case Verb::End:
    return add_moment(w, b);
  case Verb::Async:
    return;
  }
}

/* From the outside in: a child is created by the running future, not by nobody. */
static int depth_of(const Binding *b) {
  switch (b->verb) {
  case Verb::Create:
    return 1;
  case Verb::Run:
    return 2;
  case Verb::Idle:
    return 3;
  case Verb::Helper:
    return 4;
  case Verb::Await:
    return 5;
  case Verb::Switch:
    return 6;
  default:
    return 7;
  }
}

static gimple_seq assemble(CallWork *w) {
  gimple_seq sequence = w->inner;
  for (size_t i = w->brackets.size(); i-- > 0;) {
    Bracket &bracket = w->brackets[i];
    gimple_seq outer = nullptr, cleanup = nullptr;
    lower_onto(&sequence, bracket.normal);
    lower_onto(&outer, bracket.open);
    lower_onto(&cleanup, bracket.close);
    if (w->may_throw)
      sequence = try_finally(sequence, cleanup);
    else
      gimple_seq_add_seq(&sequence, cleanup);
    gimple_seq_add_seq(&outer, sequence);
    sequence = outer;
  }
  gimple_seq whole = nullptr;
  lower_onto(&whole, w->before);
  gimple_seq_add_seq(&whole, sequence);
  lower_onto(&whole, w->after);
  return whole;
}

static bool returns_twice(gcall *call) {
  tree callee = gimple_call_fndecl(call);
  return (callee && fndecl_built_in_p(callee, BUILT_IN_SETJMP)) ||
         (gimple_call_flags(call) & ECF_RETURNS_TWICE) != 0;
}

/* vfork comes back twice too, but in two processes: nothing has been jumped over. */
static bool is_vfork(tree callee) {
  const char *name = callee ? identifier_text(DECL_NAME(callee)) : nullptr;
  return name && (strcmp(name, "vfork") == 0 || strcmp(name, "__vfork") == 0);
}

static void replace(gimple_stmt_iterator *gsi, gimple *statement, CallWork *w) {
  /* A statement is in one sequence at a time: out of the old one first. */
  gsi_replace(gsi, gimple_build_nop(), false);
  gimple_seq result_copy = w->inner;
  w->inner = nullptr;
  gimple_seq_add_stmt(&w->inner, statement);
  gimple_seq_add_seq(&w->inner, result_copy);
  std::vector<tree> tokens;
  for (const Bracket &bracket : w->brackets)
    tokens.push_back(bracket.token);
  gsi_replace(gsi, bind_of(w->variables, assemble(w), tokens), false);
}

/* The lines about a member, and what obj is to each. */
static void add_field_lines(CallWork *w, Place place, tree member,
                            std::vector<const Binding *> *lines) {
  for (const FieldLine &found : field_lines(place, member)) {
    lines->push_back(found.line);
    w->objects[found.line] = build_fold_addr_expr(unshare_expr(found.object));
  }
}

bool instrument_call(gimple_stmt_iterator *gsi, const Caller &in) {
  gcall *call = as_a<gcall *>(gsi_stmt(*gsi));
  if (gimple_call_internal_p(call))
    return false;
  tree callee = gimple_call_fndecl(call), type = gimple_call_fntype(call);
  bool twice = returns_twice(call);
  std::vector<const Binding *> lines;
  if (!twice) /* a bracket cannot be closed twice */
    lines = call_lines(callee, type);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [&](const Binding *b) { return is_library_itself(b, in.decl); }),
              lines.end());
  CallWork w{in, call, "", Frame(), flag_exceptions && !gimple_call_nothrow_p(call)};
  tree member = !callee && fields_matter(Place::Icall) ? called_member(*gsi) : NULL_TREE;
  if (member)
    add_field_lines(&w, Place::Icall, member, &lines);
  if (!lines.empty()) {
    w.frame = frame_of(call, in.decl);
    drop_misfits(&w, &lines);
  }
  bool awaited = std::any_of(lines.begin(), lines.end(),
                             [](const Binding *b) { return b->verb == Verb::Await; });
  w.enters = (in.is_body || awaited) && enters_future(callee, type);
  bool at = w.enters && !awaited;
  bool resync = twice && in.innermost && !is_vfork(callee);
  if (lines.empty() && !at && !resync)
    return false;

  w.frame = frame_of(call, in.decl);
  w.callee = name_of_callee(call);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Binding *a, const Binding *b) { return depth_of(a) < depth_of(b); });
  save_late_arguments(&w, lines);
  if (std::any_of(lines.begin(), lines.end(), [](const Binding *b) { return uses_ret(*b); }))
    provide_ret(&w);
  for (const Binding *b : lines)
    add_line(&w, b);
  if (at)
    append(&w.before,
           if_then(gate_enabled(), call_event(Event::At, {site(&w, APROF_SITE_CALL, nullptr)})));
  if (resync)
    append(&w.after, if_then(token_open(in.innermost),
                             call_event(Event::Resync, {address_of(in.innermost)})));
  replace(gsi, call, &w);
  return true;
}

bool instrument_store(gimple_stmt_iterator *gsi, const Caller &in) {
  gimple *statement = gsi_stmt(*gsi);
  tree member = gimple_assign_lhs(statement);
  if (!fields_matter(Place::Store) || TREE_CODE(member) != COMPONENT_REF ||
      !gimple_assign_single_p(statement) || !is_gimple_val(gimple_assign_rhs1(statement)))
    return false;
  CallWork w{in, nullptr, "", Frame(), false};
  tree value = gimple_assign_rhs1(statement);
  std::vector<const Binding *> lines;
  add_field_lines(&w, Place::Store, member, &lines);
  auto other = [&](const Binding *b) {
    return b->stored && TREE_CODE(value) == INTEGER_CST &&
           !integer_onep(fold_convert(integer_type_node, one_of(value, {b->stored_value})));
  };
  lines.erase(std::remove_if(lines.begin(), lines.end(), other), lines.end());
  if (lines.empty())
    return false;
  w.frame.where = gimple_location(statement);
  w.frame.function = in.decl;
  w.frame.subject = NULL_TREE;
  w.frame.args = {value};
  w.frame.types = {TREE_TYPE(member)};
  w.callee = lines[0]->name;
  for (const std::string &field : lines[0]->fields)
    w.callee += "." + field;
  save_late_arguments(&w, lines);
  for (const Binding *b : lines)
    add_line(&w, b);
  replace(gsi, statement, &w);
  return true;
}

} // namespace aprof
