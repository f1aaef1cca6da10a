/* SPDX-License-Identifier: MIT */
/* Lines as sentences; see meaning.h. */
#include "meaning.h"

#include "phrase.h"

namespace aprof {

/* -- verbs ------------------------------------------------------------------------------ */

/* What becomes of a future behind its run. */
static std::string after_run(const Binding &b) {
  if (b.once_if)
    return ", which ends it if then " + holds(b.once_if);
  if (b.once)
    return " once, which ends it";
  std::string text;
  if (b.pending)
    text += "; it waits for its next run where " + numbers(b.pending_values) + " is returned";
  if (b.polling)
    text += (b.pending ? ", and" : ";") + std::string(" its wait goes on where ") +
            numbers(b.polling_values) + " is returned";
  if (b.pending || b.polling)
    return text + ", else it ends";
  return ", after which it waits for its next run";
}

/* What a line says of the request that its future is part of, or begins. */
static std::string request_words(const Binding &b) {
  std::string text;
  if (b.label.value)
    text += "; its request is labelled with " + told(b.label);
  if (b.token.value)
    text +=
        "; its request goes on with the traceparent in " + of_value(b.token.value.get(), "its ");
  if (b.sample)
    text += "; a recording of some requests may keep it if " + holds(b.sample);
  return text;
}

static std::string token_out(const Binding &b) {
  return b.token_out ? "; before it, the running request's traceparent is written to " +
                           of_value(b.token_out.get(), "its ")
                     : "";
}

static std::string tier(const Binding &b, const char *what) {
  return b.tier.empty() ? "" : std::string("; ") + what + " the tier " + b.tier;
}

static std::string run_words(const Binding &b) {
  std::string text = request_words(b);
  if (b.of_root.first)
    text += "; this is part of the request whose root is known as " + key(b.of_root);
  if (!b.functions.empty())
    text += "; it has the name of " + of_value(b.functions[0].get(), "its ");
  if (b.root)
    text += "; one that begins here has no parent";
  if (b.worker)
    text += "; this is on a thread of a pool, and holds no loop";
  if (b.background)
    text += "; what it waits for is new work";
  return text;
}

static std::string run(const Binding &b) {
  return (b.behind && b.when ? "if " + holds(b.when) + ", " : "") + occasion(b) + " runs " +
         future(b) + after_run(b) + run_words(b);
}

/* What stands behind the '|'. */
static std::string then_run(const Binding &create) {
  const Binding &b = *create.then_run;
  if (b.place != Place::None)
    return "; " + run(b);
  if (!b.key.first)
    return std::string("; a run ends it") + (b.multi ? " not: it waits for the next" : "");
  bool same = key(b.key) == key(create.key);
  std::string which = same ? "it" : "it (there " + key(b.key) + ")";
  return std::string("; each call of ") +
         (create.functions.size() > 1 ? "one of these functions" : "that function") +
         (b.when ? ", if " + holds(b.when) + "," : "") + " runs " +
         (create.key.first ? which : future(b)) + after_run(b) + run_words(b);
}

static const char *unit_name(int64_t ns) {
  return ns == 1 ? "ns" : ns == 1000 ? "us" : ns == 1000000 ? "ms" : "s";
}

static std::string due(const Binding &b) {
  std::string text;
  for (const Duration &d : b.due)
    text += (text.empty() ? ""
             : d.minus    ? " minus "
                          : " plus ") +
            of_value(d.value.get(), "its ") + " in " + unit_name(d.ns);
  return text;
}

/* "of the function in its 5th argument" */
static std::string functions_of(const Binding &b) {
  std::vector<std::string> parts;
  for (const auto &function : b.functions) {
    const Value *v = function.get();
    if (v->kind == Value::Self)
      parts.push_back("the function that makes it");
    else if (v->kind == Value::Name)
      parts.push_back("the function " + v->name);
    else if (v->kind == Value::Call)
      parts.push_back("the function that " + bare(v) + " gives");
    else
      parts.push_back("the function in " + of_value(v, "its "));
  }
  return parts.empty() ? "" : " of " + listed(parts, "or");
}

static std::string create(const Binding &b) {
  std::string text = occasion(b) + " makes a future" + functions_of(b);
  if (b.key.first)
    text += std::string(b.functions.empty() ? " " : ", ") + "known as " + key(b.key);
  if (b.rearm)
    text += ", or makes one that is known so already go on";
  if (b.ready)
    text += "; it can run at once";
  if (!b.due.empty())
    text += "; it is due after " + due(b);
  if (b.background)
    text += "; what it waits for is new work";
  if (b.root)
    text += "; it has no parent";
  text += tier(b, "what it waits for counts for") + request_words(b) + token_out(b);
  return text + (b.then_run ? then_run(b) : "");
}

static std::string async(const Binding &b) {
  return occasion(b) + " is a future, from its beginning to its end" +
         (b.root ? "; it has no parent" : "") +
         (b.background ? "; what it waits for is new work" : "") + request_words(b);
}

static std::string request(const Binding &b) {
  return occasion(b) + " is a request, from its beginning to its end" + request_words(b);
}

static std::string span(const Binding &b) {
  return "the time of " + occasion(b) + " is told apart inside what runs" +
         tier(b, "it counts for") + token_out(b);
}

static std::string label(const Binding &b) {
  std::string whose = !b.key.first || b.key.first->kind == Value::Cur ? "what runs" : future(b);
  if (!b.label.value)
    return "before " + occasion(b) + " the running request's traceparent is written to " +
           of_value(b.token_out.get(), "its ");
  return occasion(b) + " labels the request of " + whose + " with " + told(b.label) + token_out(b);
}

static std::string await(const Binding &b) {
  if (b.names)
    return "what suspends inside " + occasion(b) + " is told by the line of this call" +
           (b.background ? "; it waits for new work" : "") + tier(b, "it counts for") +
           token_out(b);
  return "the running future waits" + std::string(b.background ? " for new work" : "") +
         " during " + occasion(b) +
         (b.worker ? "; it goes on on a thread of a pool, and holds no loop" : "") +
         tier(b, "it counts for") + token_out(b);
}

static std::string end(const Binding &b) {
  const char *how = b.how == How::Failed      ? " as failed"
                    : b.how == How::Cancelled ? " as cancelled"
                                              : "";
  return occasion(b) + " ends " + future(b) + how +
         (b.noreturn ? "; nobody comes back from it" : "");
}

static std::string of_verb(const Binding &b) {
  switch (b.verb) {
  case Verb::Async:
    return async(b);
  case Verb::Create:
    return create(b);
  case Verb::Run:
    return run(b);
  case Verb::Await:
    return await(b);
  case Verb::Switch:
    return "from " + occasion(b) + " on " + future(b) + " runs in place of the one that ran";
  case Verb::Wake:
    return occasion(b) + " makes " + future(b) + " ready to run" +
           (b.hand ? ", in the request of what runs" : "");
  case Verb::End:
    return end(b);
  case Verb::Idle:
    return "the thread is idle during " + occasion(b);
  case Verb::Blocking:
    return "the whole thread sleeps during " + occasion(b) + ", and holds what runs on it";
  case Verb::Helper:
    return "what suspends or is created inside " + occasion(b) +
           " is told by the line of this call";
  case Verb::Span:
    return span(b);
  case Verb::Label:
    return label(b);
  case Verb::Request:
    return request(b);
  }
  return "";
}

std::string meaning_of(const Binding &b) {
  return (b.when ? "if " + holds(b.when) + ", " : "") + of_verb(b);
}

std::string meaning_of(const HeaderPath &header) {
  return header.beside ? "the lines of this file hold for names that " + header.path +
                             " declares, too, where a header of this file is read"
                       : "the lines of this file hold for names that " + header.path + " declares";
}

} // namespace aprof
