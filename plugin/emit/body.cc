/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bodies: async functions, and functions that run a future known by its key.
 *
 *     enter (site, &tok, self); try { body } finally { leave (&tok, how); }
 *     run_begin (run, &tok, key...); try { body } finally { run_end (&tok, how, where); }
 *
 * `how` is set before each return, so what it was before is what an unwinding
 * sees. Several run lines nest; where there are any, an async line adds no
 * bracket of its own.
 */
#include <aprof/abi.h>

#include "body.h"
#include "coverage.h"
#include "instant.h"
#include "pieces.h"
#include "plugin/diagnose.h"
#include "plugin/match/function-names.h"
#include "plugin/match/scan.h"
#include "plugin/settings.h"
#include "site-record.h"
#include "told.h"

namespace aprof {

/* -- what is there to do -------------------------------------------------------------------- */

static Frame frame_of(tree function) {
  Frame frame;
  frame.where = DECL_SOURCE_LOCATION(function);
  frame.function = function;
  frame.subject = function;
  for (tree p = DECL_ARGUMENTS(function); p; p = DECL_CHAIN(p)) {
    frame.args.push_back(p);
    frame.types.push_back(NULL_TREE);
  }
  return frame;
}

/* Its own address, where naming it keeps nothing alive that would go otherwise. */
static tree self_of(tree function) {
  if (DECL_STATIC_CHAIN(function) || DECL_EXTERNAL(function))
    return null_pointer_node;
  bool kept = TREE_PUBLIC(function) && !DECL_COMDAT(function) && !DECL_DECLARED_INLINE_P(function);
  if (!kept && uses_of(function).empty())
    return null_pointer_node;
  return build_fold_addr_expr(function);
}

static void say(const BodyWork &w, const Binding *b, bool likely = false) {
  if (!likely)
    coverage_match(*b);
  if (settings.verbose)
    inform(w.frame.where, "aprof: body of %qs: %qs (%s)", name_of_function(w.decl).c_str(),
           b->text.c_str(), binding_origin(*b).c_str());
}

static bool has_result(tree function) {
  tree result = DECL_RESULT(function), type = TREE_TYPE(TREE_TYPE(function));
  return result && !DECL_BY_REFERENCE(result) && (INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type));
}

static bool needs_result(const Binding &b) {
  return b.pending || b.polling || condition_uses(b.once_if, Value::Ret);
}

/* A line about many functions may meet one that was cast to fit. What the line asks for cannot be
   had there, so the line does not mean it. */
static bool fits(const BodyWork &w, const RunLine &run) {
  const Binding *b = run.line;
  if (run.named || (!run.quiet && !b->regex && b->place != Place::Type))
    return true;
  return arguments_present(*b, w.frame) && (!needs_result(*b) || has_result(w.decl));
}

static bool check_pending(const BodyWork &w, const Binding *b) {
  if ((!b->pending && !b->polling) || has_result(w.decl))
    return true;
  error_at(w.frame.where, "%qs needs a return value, which %qs does not give",
           b->pending ? "pending=" : "polling=", name_of_function(w.decl).c_str());
  note_binding(*b, w.decl);
  return false;
}

/* -- opening
 * ----------------------------------------------------------------------------------------- */

static tree if_enabled(const Frame &frame, const Binding *b, tree statements) {
  tree condition = condition_tree(b->when, frame, *b);
  if (!condition)
    return NULL_TREE;
  if (b->when)
    statements = if_then(condition, statements);
  return if_then(gate_enabled(), statements);
}

static void open_bracket(BodyBracket *bracket, const Frame &frame, const Binding *b, tree event) {
  append(&bracket->open, clear_token(bracket->token));
  append(&bracket->open, if_enabled(frame, b, event));
}

/* `how` is a variable where it is not the same on each way out. */
static void prepare_how(BodyWork *w, BodyBracket *bracket, int otherwise) {
  const Binding *b = bracket->run;
  bracket->how = number(otherwise);
  bracket->constant = otherwise;
  bracket->where = null_pointer_node;
  bool stackless = b && (b->pending || b->polling);
  if (!flag_exceptions && !stackless && !(b && b->once_if))
    return;
  bracket->how = new_local(integer_type_node, "aprof_how", &w->variables);
  append(&bracket->open,
         assign(bracket->how, number(flag_exceptions ? unwound_how() : APROF_DONE)));
  if (!stackless)
    return;
  bracket->where = new_local(ptr_type_node, "aprof_where", &w->variables);
  append(&bracket->open, assign(bracket->where, null_pointer_node));
}

/* Where a `| run` has found its future, this body is that one. */
static void begin_async(BodyWork *w, const Binding *b) {
  BodyBracket bracket;
  say(*w, b);
  bracket.token = new_token(&w->variables);
  tree enter = call_event(Event::enter,
                          {site_of_function(w->decl), address_of(bracket.token), self_of(w->decl)});
  for (const BodyBracket &run : w->brackets)
    enter = build3(COND_EXPR, void_type_node, token_open(run.token), NULL_TREE, enter);
  tree events = NULL_TREE;
  append(&events, enter);
  append(&events, about_events(*b, w->frame, bracket.token, Known::Before, &w->variables));
  open_bracket(&bracket, w->frame, b, events);
  prepare_how(w, &bracket, APROF_DONE);
  w->brackets.push_back(bracket);
}

/* once= looks at arguments when the body is over: as they were passed. */
static void save_late_arguments(BodyWork *w, BodyBracket *bracket, const Binding *b) {
  std::unordered_set<int> late;
  late_arguments(*b, bracket->late, &late);
  for (int i : late) {
    if (i < 0 || i >= (int)bracket->late.args.size())
      continue;
    tree parameter = bracket->late.args[(size_t)i];
    if (!is_gimple_reg_type(TREE_TYPE(parameter)))
      continue;
    tree saved = new_local(TYPE_MAIN_VARIANT(TREE_TYPE(parameter)), "aprof_arg", &w->variables);
    append(&bracket->open, assign(saved, parameter));
    bracket->late.args[(size_t)i] = saved;
  }
}

static void begin_run(BodyWork *w, const RunLine &run, bool also_async) {
  const Binding *b = run.line;
  BodyBracket bracket;
  tree key0, key1;
  Frame frame = w->frame;
  if (!fits(*w, run) || !take_types(*b, called_as(w->decl, b), &frame))
    return;
  say(*w, b, run.likely);
  if (!check_pending(*w, b) || !key_trees(*b, b->key, frame, &key0, &key1))
    return;
  bracket.run = b;
  bracket.closed_by = Event::run_end;
  bracket.token = new_token(&w->variables);
  bracket.late = frame;
  save_late_arguments(w, &bracket, b);
  tree event = call_event(Event::run_begin,
                          {site_of_run(w->decl, b, run.quiet, run.own), address_of(bracket.token),
                           key0, key1, site_of_function(w->decl), self_of(w->decl)});
  tree events = NULL_TREE;
  append(&events, event);
  append(&events, run_for_event(*b, frame, bracket.token));
  append(&events, about_events(*b, frame, bracket.token, Known::Before, &w->variables));
  open_bracket(&bracket, frame, b, if_given(guard_of_key(b->key, frame, *b), events));
  bool stays = b->multi || !(b->once || b->pending || b->polling || also_async);
  prepare_how(w, &bracket, stays ? APROF_PENDING : APROF_DONE);
  w->brackets.push_back(bracket);
}

/* Another future runs here from the body's entry until it is left again. */
static void begin_switch(BodyWork *w, const Binding *b) {
  BodyBracket bracket;
  tree key0, key1;
  if (b->regex && !arguments_present(*b, w->frame))
    return;
  say(*w, b);
  if (!key_trees(*b, b->key, w->frame, &key0, &key1))
    return;
  tree record = site_new(APROF_SITE_SWITCH, name_of_body(w->decl), w->frame.where, w->decl, b, 0);
  bracket.closed_by = Event::resume;
  bracket.how = number(APROF_DONE);
  bracket.token = new_token(&w->variables);
  open_bracket(
      &bracket, w->frame, b,
      if_given(guard_of_key(b->key, w->frame, *b),
               call_event(Event::switch_to, {record, address_of(bracket.token), key0, key1})));
  w->brackets.push_back(bracket);
}

/* Its time is told apart inside what runs: within all other brackets. */
static void begin_span(BodyWork *w, const Binding *b) {
  BodyBracket bracket;
  if ((b->regex || b->place == Place::Type) && !arguments_present(*b, w->frame))
    return;
  say(*w, b);
  coverage_span(w->frame.where, name_of_body(w->decl));
  tree record = site_new(APROF_SITE_SPAN, name_of_body(w->decl), w->frame.where, w->decl, b, 0);
  bracket.closed_by = Event::span_end;
  bracket.how = number(APROF_DONE);
  bracket.token = new_token(&w->variables);
  open_bracket(&bracket, w->frame, b,
               call_event(Event::span_begin, {record, address_of(bracket.token)}));
  w->tokens.push_back(bracket.token);
  w->brackets.push_back(bracket);
}

/* wake, end and label of what is known when the body is entered. */
static void add_instant(BodyWork *w, const Binding *b) {
  bool many = b->regex || b->place == Place::Type;
  if (many && !arguments_present(*b, w->frame))
    return;
  say(*w, b);
  if (tree event = instant_event(*b, w->frame, name_of_body(w->decl), 0, &w->variables))
    append(&w->entry, if_enabled(w->frame, b, event));
}

/* A run that comes from no `| run` says whose body it is; async adds nothing to it. */
static bool surely_run(const BodyWork &w, const BodyLines &lines) {
  for (const BodyBracket &bracket : w.brackets)
    for (const RunLine &run : lines.runs)
      if (run.line == bracket.run && !run.quiet)
        return true;
  return false;
}

void begin_body(BodyWork *w, const BodyLines &lines) {
  w->frame = frame_of(w->decl);
  bool likely = true;
  for (const RunLine &run : lines.runs) {
    size_t before = w->brackets.size();
    begin_run(w, run, lines.async != nullptr);
    likely &= run.likely || w->brackets.size() == before;
  }
  if (lines.async && !surely_run(*w, lines))
    begin_async(w, lines.async);
  for (const BodyBracket &bracket : w->brackets)
    w->tokens.push_back(bracket.token);
  w->is_future = !w->tokens.empty();
  if (!w->brackets.empty())
    coverage_function(w->decl, likely && !lines.async);
  for (const Binding *b : lines.switches)
    begin_switch(w, b);
  if (lines.span)
    begin_span(w, lines.span);
  for (const Binding *b : lines.instants)
    add_instant(w, b);
}

/* -- each way out
 * ------------------------------------------------------------------------------------ */

/* `value` may say that it is not over yet: pending= or polling=. */
static tree set_stackless(BodyWork *w, BodyBracket *bracket, tree value, location_t where) {
  tree record = site_new(APROF_SITE_RETURN, name_of_body(w->decl), where, w->decl, nullptr, 0);
  tree statements = NULL_TREE, not_over = NULL_TREE;
  tree verdict = stackless_how(*bracket->run, value);
  append(&statements, assign(bracket->how, verdict));
  append(&not_over, assign(bracket->where, record));
  append(&statements,
         if_then(build2(NE_EXPR, boolean_type_node, bracket->how, number(APROF_DONE)), not_over));
  return statements;
}

/* How this bracket ends if the body returns `value` at `where`. */
static tree set_how(BodyWork *w, BodyBracket *bracket, tree value, location_t where) {
  const Binding *b = bracket->run;
  tree how = bracket->how;
  if (!VAR_P(how))
    return NULL_TREE;
  bool stackless = b && (b->pending || b->polling);
  if (stackless && value)
    return if_then(token_open(bracket->token), set_stackless(w, bracket, value, where));
  if (!b || !b->once_if)
    return assign(how, number(stackless ? APROF_DONE : bracket->constant));
  bracket->late.ret = value;
  tree condition = condition_tree(b->once_if, bracket->late, *b);
  if (!condition)
    return NULL_TREE;
  return if_then(token_open(bracket->token),
                 assign(how, fold_build3(COND_EXPR, integer_type_node, condition,
                                         number(APROF_DONE), number(APROF_PENDING))));
}

static gimple_seq way_out(BodyWork *w, tree value, location_t where) {
  gimple_seq sequence = nullptr;
  for (size_t i = w->brackets.size(); i-- > 0;)
    lower_onto(&sequence, set_how(w, &w->brackets[i], value, where));
  return sequence;
}

void instrument_return(BodyWork *w, gimple_stmt_iterator *gsi) {
  greturn *statement = as_a<greturn *>(gsi_stmt(*gsi));
  tree value = gimple_return_retval(statement);
  gimple_seq sequence = way_out(w, value, gimple_location(statement));
  if (sequence)
    gsi_insert_seq_before(gsi, sequence, GSI_SAME_STMT);
}

/* -- closing
 * ----------------------------------------------------------------------------------------- */

static tree close_of(const BodyBracket &bracket) {
  tree token = address_of(bracket.token);
  std::vector<tree> arguments = {token};
  if (bracket.closed_by == Event::leave || bracket.closed_by == Event::run_end)
    arguments.push_back(bracket.how);
  if (bracket.closed_by == Event::run_end)
    arguments.push_back(bracket.where);
  return if_then(token_open(bracket.token), call_event(bracket.closed_by, arguments));
}

void finish_body(BodyWork *w) {
  if (w->brackets.empty() && !w->entry)
    return;
  gimple_seq sequence = nullptr;
  lower_onto(&sequence, w->entry);
  gimple_seq_add_seq(&sequence, gimple_body(w->decl));
  if (VOID_TYPE_P(TREE_TYPE(TREE_TYPE(w->decl)))) /* may fall off its end */
    gimple_seq_add_seq(&sequence, way_out(w, NULL_TREE, w->frame.where));
  for (size_t i = w->brackets.size(); i-- > 0;) {
    gimple_seq outer = nullptr, cleanup = nullptr;
    lower_onto(&outer, w->brackets[i].open);
    lower_onto(&cleanup, close_of(w->brackets[i]));
    gimple_seq_add_seq(&outer, try_finally(sequence, cleanup));
    sequence = outer;
  }
  gimple_seq whole = nullptr;
  gimple_seq_add_stmt(&whole, gimple_build_bind(w->variables, sequence, NULL_TREE));
  gimple_set_body(w->decl, whole);
}

} // namespace aprof
