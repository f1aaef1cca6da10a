/* SPDX-License-Identifier: MIT */
/*
 * What only the whole line can tell: whether verb, place and words go together.
 */
#include "binding-line.h"
#include "grammar.h"

namespace aprof {

static bool one_uses(const Key &key, Value::Kind kind) {
  return value_uses(key.first.get(), kind) || value_uses(key.second.get(), kind);
}

static bool keys_use(const Binding &b, Value::Kind kind) {
  bool uses = one_uses(b.key, kind);
  for (const Key &key : b.more_keys)
    uses |= one_uses(key, kind);
  return uses;
}

/* Where `name` stands in this part of the line, for carets. */
static Stretch find_word(const std::string &text, const std::vector<Stretch> &cuts,
                         const char *name) {
  for (const Stretch &s : cuts)
    if (text.compare(s.begin, strlen(name), name) == 0)
      return s;
  return cuts.front();
}

static bool told_uses(const Told &told, Value::Kind kind) {
  return value_uses(told.value.get(), kind) || value_uses(told.length.get(), kind);
}

/* Words about requests: what their values may be. */
static const char *misuse_of_request(const Binding &b, const char **word) {
  bool in_call = b.place == Place::Call || b.place == Place::Icall;
  bool has_object = b.place == Place::Icall || b.place == Place::Store;
  bool behind = in_call && (b.verb == Verb::Label || b.verb == Verb::Create);
  for (const Told *told : {&b.label, &b.token}) {
    *word = told == &b.token ? "token=" : b.verb == Verb::Label ? "value=" : "label=";
    if (told_uses(*told, Value::Cur))
      return "what is told of a request is a value of the program: it cannot use cur";
    if (told_uses(*told, Value::Obj) && !has_object)
      return "obj is the object of an icall: or store: place";
    if (told_uses(*told, Value::Ret) && !behind)
      return "ret is not known yet when the run, or the body, begins";
  }
  *word = "sample=";
  if (b.sample && !b.root)
    return "sample= is about the request that begins there: it goes with root";
  *word = "token>";
  if (b.token_out && !in_call)
    return "a traceparent is handed on by a call: token> goes with call: and icall:";
  if (value_uses(b.token_out.get(), Value::Ret) || value_uses(b.token_out.get(), Value::Cur))
    return "token> is written before the call: it cannot use ret or cur";
  if (value_uses(b.token_out.get(), Value::Obj) && !has_object)
    return "obj is the object of an icall: or store: place";
  *word = "for=";
  if (one_uses(b.of_root, Value::Ret) || one_uses(b.of_root, Value::Cur))
    return "for= is evaluated before the run: it cannot use ret or cur";
  if (one_uses(b.of_root, Value::Obj) && !has_object)
    return "obj is the object of an icall: or store: place";
  if (b.of_root.space == "any")
    return "any: goes with wake and end only: a future has one namespace";
  return nullptr;
}

static const char *misuse_of_values(const Binding &b, const char **word) {
  bool in_call = b.place == Place::Call || b.place == Place::Icall;
  bool has_object = b.place == Place::Icall || b.place == Place::Store;
  *word = "key=";
  if (keys_use(b, Value::Obj) && !has_object)
    return "obj is the object of an icall: or store: place";
  if (keys_use(b, Value::Ret) && b.verb == Verb::Switch)
    return "ret is not known yet when it switches";
  bool acts_on_any = b.verb == Verb::Wake || b.verb == Verb::End;
  bool acts_on_current = acts_on_any || b.verb == Verb::Label;
  if (keys_use(b, Value::Cur) && !acts_on_current)
    return "key=cur goes with wake, end and label only: the running future has its key already";
  bool alone = b.more_keys.empty() && !b.key.second && b.key.space.empty();
  if (keys_use(b, Value::Cur) && (!alone || b.key.first->kind != Value::Cur))
    return "cur is the whole key, not a part of it";
  if (!b.more_keys.empty() && !acts_on_any)
    return "several keys go with wake and end only: a future has one";
  if (keys_use(b, Value::Ret) && (b.verb == Verb::Run || !in_call))
    return "ret is not known yet when the run, or the body, begins";
  if (b.key.space == "any" && !acts_on_any)
    return "any: goes with wake and end only: a future has one namespace";
  *word = "when=";
  if (condition_uses(b.when, Value::Ret))
    return "when= is decided before the call: ret is not known yet, use ok=";
  *word = "sample=";
  if (condition_uses(b.sample, Value::Ret))
    return "sample= is decided when the request begins: ret is not known yet";
  for (const Condition *c : {&b.when, &b.ok, &b.once_if, &b.sample}) {
    *word = c == &b.when ? "when=" : c == &b.ok ? "ok=" : c == &b.sample ? "sample=" : "once=";
    if (condition_uses(*c, Value::Cur))
      return "a condition cannot use cur";
    if (condition_uses(*c, Value::Obj) && !has_object)
      return "obj is the object of an icall: or store: place";
    if (condition_uses(*c, Value::Ret) && b.place == Place::Store)
      return "an assignment returns nothing: it has a0, which is stored, and obj";
  }
  *word = "due=";
  for (const Duration &d : b.due)
    if (value_uses(d.value.get(), Value::Ret) || value_uses(d.value.get(), Value::Cur))
      return "due= is evaluated before the call: it cannot use ret or cur";
  *word = "fn=";
  for (const auto &f : b.functions)
    if (value_uses(f.get(), Value::Ret) || value_uses(f.get(), Value::Cur) ||
        (value_uses(f.get(), Value::Obj) && !has_object))
      return "fn= is evaluated before the call: it cannot use ret, cur or obj";
  return nullptr;
}

/* Words that exclude each other, values where they mean nothing. */
static bool check_words(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                        Mistake *mistake) {
  if ((int)b.once + (int)b.multi + (int)(b.pending || b.polling) > 1)
    return wrong(mistake,
                 find_word(text, cuts,
                           b.multi     ? "multi"
                           : b.pending ? "pending"
                                       : "polling"),
                 "only one of once, multi and pending= (or polling=) can hold");
  const char *word, *message = misuse_of_values(b, &word);
  message = message ? message : misuse_of_request(b, &word);
  return !message || wrong(mistake, find_word(text, cuts, word), message);
}

bool check_line(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                Mistake *mistake) {
  std::string verb = verb_name(b.verb);
  bool body = b.place == Place::Def || b.place == Place::Type;
  bool moment = b.verb == Verb::Create || b.verb == Verb::Wake || b.verb == Verb::End ||
                b.verb == Verb::Label;
  if (b.place == Place::None)
    return wrong(mistake, cuts.front(), verb + " needs a place",
                 "it goes with " + places_of(b.verb));
  if (!(verb_row(b.verb).places & bit(b.place)))
    return wrong(mistake, cuts.front(), verb + " does not go with " + place_name(b.place) + ":",
                 "it goes with " + places_of(b.verb));
  if (body && moment && b.ok)
    return wrong(mistake, find_word(text, cuts, "ok"),
                 verb + " of a body comes when it is entered: it takes when=, not ok=");
  if (b.noreturn && (b.ok || keys_use(b, Value::Ret)))
    return wrong(mistake, find_word(text, cuts, "noreturn"),
                 "what never returns has no result: noreturn goes without ok= and ret");
  bool keyed =
      b.verb == Verb::Run || b.verb == Verb::Wake || b.verb == Verb::End || b.verb == Verb::Switch;
  if (b.worker && b.names)
    return wrong(mistake, find_word(text, cuts, "worker"),
                 "names stops no clock, so nothing goes on behind it: worker goes without it");
  if (b.verb == Verb::Run && !b.functions.empty() && (body || b.functions.size() > 1))
    return wrong(mistake, find_word(text, cuts, "fn"),
                 body ? "a body has its own name: fn= of a run goes with call: and icall:"
                      : "a run has one function: fn=VALUE");
  if (keyed && !b.key.first)
    return wrong(mistake, cuts.front(),
                 verb + " needs key=, the identity of the future it is about");
  if (b.verb == Verb::Label && !b.label.value && (!b.token_out || b.key.first || b.ok))
    return wrong(mistake, cuts.front(), "label needs value=, what the request is called",
                 "as in value=a1->name:str");
  return check_words(text, cuts, b, mistake);
}

bool check_waits(const std::string &text, const std::vector<Stretch> &cuts, const Binding &b,
                 Mistake *mistake) {
  if (b.verb == Verb::Create && !b.tier.empty() && b.is_spawn())
    return wrong(mistake, find_word(text, cuts, "tier"),
                 "these futures are queued until they run, and that is in no tier",
                 "tier= of a create goes with '| run' and once or multi: what it waits for");
  return true;
}

/* fn= gives the future its maker's name: no body of its own runs it. */
static bool is_named_only(const Binding &create) {
  for (const auto &function : create.functions)
    if (function->kind != Value::Self)
      return false;
  return true;
}

/* It is checked as the line about bodies that it is. */
bool check_run_part(const std::string &text, const std::vector<Stretch> &cuts,
                    const Binding &create, Binding *run, Mistake *mistake) {
  bool placed = run->place != Place::None;
  bool bare = !placed && !run->key.first && is_named_only(create);
  if (!placed && create.functions.empty() && run->key.first)
    return wrong(mistake, find_word(text, cuts, "key"), "no body is named that has this key",
                 "name it by fn= before the '|', or by a place here: | run def:NAME, "
                 "type:TYPEDEF, icall:STRUCT.FIELD");
  if (!placed && !run->functions.empty())
    return wrong(mistake, find_word(text, cuts, "fn"), "fn= is the create's: it stands before '|'");
  if (run->root)
    return wrong(mistake, find_word(text, cuts, "root"),
                 "root is the create's: it stands before '|'");
  if (bare && !run->once && !run->multi)
    return wrong(mistake, cuts.front(),
                 "without fn= a '| run' says once or multi, or has a place: | run type:TYPEDEF");
  if (bare)
    return check_words(text, cuts, *run, mistake);
  if (!placed)
    run->place = Place::Def; /* only to be checked as such */
  bool well = check_line(text, cuts, *run, mistake);
  if (!placed)
    run->place = Place::None;
  return well;
}

} // namespace aprof
