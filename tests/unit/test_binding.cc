/* SPDX-License-Identifier: MIT */
/* The language of bindings: every form is read, every mistake is found where it is; files, which
   header they are about, and who wins. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lang/file.h"
#include "lang/pattern.h"
#include "lang/precedence.h"
#include "suite.h"

using namespace aprof;

static Binding line;
static Mistake mistake;

static void read_as(const char *text, bool attribute) {
  line = Binding();
  mistake = Mistake();
  bool well = binding_parse(text, attribute, &line, &mistake);
  ck_assert_msg(well, "'%s': %s", text, in_one(mistake.text, mistake.remedy).c_str());
}

static void read_line(const char *text) {
  read_as(text, false);
}
static void read_attribute(const char *text) {
  read_as(text, true);
}

/* The text is refused; the mistake is `where` and says `what`. */
static void refused(const char *text, bool attribute, const char *where, const char *what) {
  line = Binding();
  mistake = Mistake();
  ck_assert_msg(!binding_parse(text, attribute, &line, &mistake), "'%s' is taken", text);
  ck_assert_msg(strstr(in_one(mistake.text, mistake.remedy).c_str(), what) != NULL, "'%s' says: %s",
                text, in_one(mistake.text, mistake.remedy).c_str());
  ck_assert_uint_le(mistake.begin, strlen(text));
  ck_assert_msg(strncmp(text + mistake.begin, where, strlen(where)) == 0, "'%s': points to '%s'",
                text, text + mistake.begin);
}

static std::string shown(const Value *v) {
  if (!v)
    return "-";
  std::string of = v->of ? shown(v->of.get()) : "";
  switch (v->kind) {
  case Value::Number:
    return std::to_string((long)v->number);
  case Value::Arg:
    return "a" + std::to_string((long)v->number);
  case Value::Deref:
    return "*" + of;
  case Value::Field:
    return "(" + of + ")." + v->name;
  case Value::Mask:
    return "(" + of + "&" + std::to_string((long)v->number) + ")";
  case Value::Ret:
    return "ret";
  case Value::Obj:
    return "obj";
  case Value::Self:
    return "self";
  case Value::Cur:
    return "cur";
  case Value::Call: {
    std::string arguments;
    for (const auto &argument : v->args)
      arguments += (arguments.empty() ? "" : ",") + shown(argument.get());
    return v->name + "(" + arguments + ")";
  }
  case Value::Owner:
    return "owner(" + of + "," + v->name + "," + v->field + ")";
  case Value::Name:
    return v->name;
  case Value::Address:
    return "&" + of;
  case Value::Cast:
    return "(" + v->name + std::string((size_t)v->number, '*') + ")" + of + (v->tight ? "!" : "");
  }
  return "?";
}

static void key_is(const char *text, const char *first, const char *second) {
  read_line((std::string("wake call:f key=") + text).c_str());
  std::string one = shown(line.key.first.get()), two = shown(line.key.second.get());
  ck_assert_str_eq(one.c_str(), first);
  ck_assert_str_eq(two.c_str(), second);
}

START_TEST(verbs_and_places) {
  read_line("async def:f");
  ck_assert(line.verb == Verb::Async && line.place == Place::Def && line.name == "f");
  read_line("run type:uv_write_cb key=a0");
  ck_assert(line.verb == Verb::Run && line.place == Place::Type && !line.quoted);
  read_line("run type:\"char(struct pt *, ...)\" key=a0");
  ck_assert(line.quoted && line.name == "char(struct pt *, ...)");
  read_line("await\tcall:/^dill_(msleep|yield)$/  ");
  ck_assert(line.regex && line.name == "^dill_(msleep|yield)$");
  read_line("await call:ns::Class::method");
  ck_assert_str_eq(line.name.c_str(), "ns::Class::method");
  read_line("idle call:epoll_pwait");
  ck_assert(line.verb == Verb::Idle && line.place == Place::Call);
  read_line("end call:/a b|c\\/d/ key=a0");
  ck_assert_str_eq(line.name.c_str(), "a b|c\\/d");
}
END_TEST

START_TEST(attributes_have_no_name) {
  read_attribute("async");
  ck_assert(line.verb == Verb::Async && line.place == Place::Def);
  read_attribute("run key=a0 once");
  ck_assert(line.place == Place::Def && line.once);
  read_attribute("run call: key=a0");
  ck_assert(line.place == Place::Call);
  read_attribute("create key=a0 fn=a1 | run key=a0");
  ck_assert(line.place == Place::Call && line.run_of_functions() &&
            line.then_run->place == Place::None);
  refused("create key=a0 fn=a1 | run def: key=a0", true, "def:", "of an attribute");
  refused("await call:f", true, "f", "no name");
  refused("await", false, "await", "needs a place");
}
END_TEST

START_TEST(values) {
  key_is("a0", "a0", "-");
  key_is("a-1", "a-1", "-");
  key_is("a12", "a12", "-");
  key_is("*a0", "*a0", "-");
  key_is("**a1", "**a1", "-");
  key_is("a0->x", "(a0).x", "-");
  key_is("a0->x->y.z", "(((a0).x).y).z", "-");
  key_is("*a0->x", "*(a0).x", "-");
  key_is("(*a0)->x", "(*a0).x", "-");
  key_is("(a0,a1)", "a0", "a1");
  key_is("( a-2 , a-1 )", "a-2", "a-1");
  key_is("(self,a2->data)", "self", "(a2).data");
  key_is("a0&0xff", "(a0&255)", "-");
  key_is("a0->flags&-4", "((a0).flags&-4)", "-");
  key_is("task_current()", "task_current()", "-");
  key_is("owner(a0,struct conn,link)", "owner(a0,conn,link)", "-");
  key_is("owner(a0,conn,in.link)->id", "(owner(a0,conn,in.link)).id", "-");
  key_is("cur", "cur", "-");
  key_is("now_ms", "now_ms", "-");
  key_is("w:now_ms", "now_ms", "-");
  key_is("&pool.active", "&(pool).active", "-");
  key_is("&*a0", "&*a0", "-");
  key_is("*&pool", "*&pool", "-");
  key_is("NULL", "0", "-");
  key_is("(struct task *)a1", "(task*)a1", "-");
  key_is("(task_t*)a1->f", "((task_t*)a1!).f", "-");
  key_is("((task*)a1)->f.g", "(((task*)a1).f).g", "-");
  key_is("(task *)(a1->f)", "(task*)(a1).f", "-");
  key_is("*(char **)a1", "*(char**)a1", "-");
  key_is("(task *)*a1->f", "(task*)*(a1).f", "-");
  key_is("((struct task *)a1->f,a0)", "((task*)a1!).f", "a0");
  key_is("(union u *)pool&7", "((u*)pool&7)", "-");
  key_is("(a0,-1)", "a0", "-1");
  key_is("0x10", "16", "-");
  key_is("ret", "ret", "-");
  key_is("aborted()", "aborted()", "-");
  key_is("event_get_fd(a0)", "event_get_fd(a0)", "-");
  key_is("(callback_of(a0),argument_of( *a0->x , a1 )->y)", "callback_of(a0)",
         "(argument_of(*(a0).x,a1)).y");
}
END_TEST

START_TEST(namespaces) {
  read_line("wake call:f key=w:a0");
  ck_assert_str_eq(line.key.space.c_str(), "w");
  ck_assert_uint_eq(line.key.ns, namespace_hash("w"));
  read_line("wake call:f key=a0");
  ck_assert_uint_eq(line.key.ns, 0);
  read_line("end call:f key=r:a0,w:(a0,a1),any:*a2");
  ck_assert_uint_eq(line.key.ns, namespace_hash("r"));
  ck_assert(line.more_keys.size() == 2 && line.more_keys[0].second);
  ck_assert_uint_eq(line.more_keys[1].ns, 0xffffffffu);
  refused("create call:f key=a0,a1", false, "key=", "several keys");
  refused("end call:f key=a0,cur", false, "key=", "whole key");
  refused("end call:f key=a0,", false, "", "no value");
  read_line("end def:f key=a0 when=a1 how=failed");
  read_line("wake type:f_cb key=(self,a0)");
  refused("end def:f key=a0 ok=a1", false, "ok=", "when it is entered");
  refused("end def:f key=ret", false, "key=", "not known yet");
  read_line("end call:f key=any:(a0,a1)");
  ck_assert_uint_eq(line.key.ns, 0xffffffffu);
  ck_assert_uint_eq(namespace_hash(""), 0);
  ck_assert_uint_eq(namespace_hash("a"), 0xe40c292cu); /* FNV-1a's own example */
  ck_assert_uint_eq(namespace_hash("foobar"), 0xbf9cf968u);
  refused("run def:f key=any:a0", false, "key=any", "any:");
  refused("wake call:f key=w:x:a0", false, ":a0", "does not belong");
}
END_TEST

START_TEST(conditions) {
  static const struct {
    const char *text;
    Compare compare;
    long constant;
  } cases[] = {{"ret", Compare::None, 0},
               {"ret==0", Compare::Equal, 0},
               {"ret!=-1", Compare::NotEqual, -1},
               {"ret<5", Compare::Less, 5},
               {"ret<=0x10", Compare::LessEqual, 16},
               {"ret>010", Compare::Greater, 8},
               {"ret>=0", Compare::GreaterEqual, 0},
               {"a0->next==NULL", Compare::Equal, 0},
               {"a0->flags&4==0", Compare::Equal, 0}};
  for (const auto &c : cases) {
    read_line((std::string("wake call:f key=a0 ok=") + c.text).c_str());
    ck_assert(line.ok.what && line.ok.compare == c.compare);
    ck_assert_int_eq(line.ok.with ? line.ok.with->number : 0, c.constant);
  }
  read_line("wake call:f key=a0 when=a0==&pool.active,a1<limit,a2->n!=a3&7");
  ck_assert_str_eq(shown(line.when.with.get()).c_str(), "&(pool).active");
  ck_assert_str_eq(shown(line.when.also[0].with.get()).c_str(), "limit");
  ck_assert_str_eq(shown(line.when.also[1].with.get()).c_str(), "(a3&7)");
  refused("wake call:f key=a0 when=a0==ret", false, "when=", "ret is not known yet");
  refused("wake call:f key=a0 ok=ret==", false, "", "number");
  refused("wake call:f key=a0 ok=ret==%", false, "%", "no value");
  refused("wake call:f key=a0 ok=ret==1x", false, "1x", "64-bit");
  refused("wake call:f key=a0 ok=ret=0", false, "=0", "does not belong");
  refused("wake call:f key=a0 ok=ret==99999999999999999999", false, "9", "64-bit");
  refused("await call:f ok=ret==0", false, "ok", "means nothing to await");
  refused("await call:f when=ret==0", false, "when", "before the call");
}
END_TEST

START_TEST(several_conditions) {
  read_line("wake call:f key=a0 when=a0!=0,f(a1,2)>=3,a2&4 ok=ret==0,*a1");
  ck_assert(line.when && line.when.also.size() == 2 && line.ok.also.size() == 1);
  ck_assert(line.when.compare == Compare::NotEqual);
  ck_assert(line.when.also[0].compare == Compare::GreaterEqual &&
            line.when.also[0].with->number == 3);
  ck_assert(line.when.also[1].what->kind == Value::Mask && !line.when.also[1].with);
  ck_assert(condition_uses(line.ok, Value::Ret) && condition_uses(line.ok, Value::Deref));
  ck_assert(!condition_uses(line.when, Value::Ret));
  refused("wake call:f key=a0 when=a0,", false, "", "");
  refused("wake call:f key=a0 when=,a0", false, "", "");
  refused("wake call:f key=a0 when=a0!=0,ret==0", false, "when=", "ret is not known yet");
  refused("wake call:f key=a0 when=a0!=0,cur", false, "when=", "cannot use cur");
}
END_TEST

START_TEST(words) {
  read_line("create call:f key=a0 fn=a1,a2 ok=ret==0 when=a1!=0 ready rearm root background");
  ck_assert(line.functions.size() == 2 && line.ready && line.rearm && line.root && line.background);
  read_line("run def:f key=a0 once=a0->done!=0");
  ck_assert(line.once && line.once_if);
  read_line("run def:f key=a0 pending=0,1,-1,0x7f");
  ck_assert(line.pending && line.pending_values.size() == 4 && line.pending_values[2] == -1);
  read_line("end call:f key=a0 how=failed");
  ck_assert(line.how == How::Failed);
  read_line("await call:f names background when=a0");
  ck_assert(line.names && line.background && line.when);
  read_line("create call:f key=w:a0 fn=a1 | run key=w:a0 once");
  ck_assert(line.then_run && line.then_run->verb == Verb::Run && line.then_run->once);
  ck_assert_str_eq(line.then_run->key.space.c_str(), "w");
  ck_assert(line.run_of_functions());
  read_line("create call:f key=a0 | run once");
  ck_assert(line.then_run && line.then_run->once && !line.run_of_functions());
  read_line("create call:f key=a0 fn=a1 | run type:\"void(a|b)\" key=w:a0 multi");
  ck_assert(line.then_run->place == Place::Type && line.then_run->multi);
  ck_assert(!line.run_of_functions());
  read_line("async def:f root background");
  ck_assert(line.root && line.background);
  read_line("run icall:cmd.proc key=a0 fn=obj->proc once");
  ck_assert(line.functions.size() == 1);
  read_line("async def:@lists/names.txt");
  ck_assert(line.listed && !line.regex && line.name == "@lists/names.txt");
  std::string many = "await call:/^(f0";
  for (int i = 1; i < 20000; i++)
    many += "|some_function_" + std::to_string(i);
  read_line((many + ")$/").c_str());
  ck_assert(line.regex);
  refused((many + ")/").c_str(), false, "^(f0", "too large");
  read_line("run call:/a|b/  key=a0\tonce");
  ck_assert_str_eq(line.name.c_str(), "a|b");
  ck_assert_str_eq(line.words.c_str(), "key=a0 once");
}
END_TEST

START_TEST(mistakes) {
  refused("", false, "", "verb is expected");
  refused("   ", false, "", "verb is expected");
  refused("| run key=a0", false, "|", "before '|'");
  refused("awiat call:f", false, "awiat", "unknown verb");
  refused("await cal:f", false, "cal", "unknown place");
  refused("await call:", false, "call:", "name is expected");
  refused("await call:f hello", false, "hello", "unknown word");
  refused("await call:f hello=1", false, "hello", "unknown word");
  refused("await call:/(/", false, "(", "regex");
  refused("await call:/a", false, "/a", "closing");
  refused("await call://", false, "//", "between two");
  refused("run type:\"x key=a0", false, "\"x", "closing");
  refused("run type:/x/ key=a0", false, "x", "not a regex");
  refused("run def:\"x\" key=a0", false, "x", "quotes");
  refused("run def:f", false, "run", "needs key=");
  refused("run def:f key", false, "key", "needs a value");
  refused("run def:f key=", false, "", "no value");
  refused("run def:f key=a0 multi=1", false, "multi", "takes no value");
  refused("run def:f key=a0 key=a1", false, "key=a1", "twice");
  refused("run def:f key=(a0,a1", false, "(a0", "tuple");
  refused("run def:f key=(a0,a1,a2)", false, "(a0", "tuple");
  refused("run def:f key=(a0", false, "(a0", "not closed");
  refused("run def:f key=a0)", false, ")", "does not belong");
  refused("run def:f key=a0->", false, "->", "field");
  refused("run def:f key=a-0", false, "-0", "does not belong");
  refused("run def:f key=&a0", false, "&a0", "takes a variable");
  refused("run def:f key=&(a0)", false, "&(a0)", "takes a variable");
  refused("run def:f key=(struct s *)", false, "", "no value");
  refused("run def:f key=a0 fn=a1", false, "fn=", "its own name");
  refused("run call:f key=a0 fn=a1,a2", false, "fn=", "one function");
  refused("create call:f key=a0 fn=a1 | run key=a0 fn=a1", false, "fn=a1", "before '|'");
  refused("await icall:@names", false, "@names", "STRUCT.FIELD");
  refused("run type:@names key=a0", false, "@names", "call: and def:");
  refused("async def:@", false, "@", "path");
  refused("run def:f key=g(a0", false, "g(a0", "not closed");
  refused("run def:f key=g(a0,)", false, ")", "no value");
  std::string deep = "run def:f key=" + std::string(100000, '*') + "a0";
  refused(deep.c_str(), false, "*", "too many parts");
  deep = "run def:f key=" + std::string(100000, '(') + "a0";
  refused(deep.c_str(), false, "(", "too many parts");
  refused("await call:/((a{1,255}){1,255}){1,255}/", false, "((a", "too large");
  refused("run def:f key=a0&x", false, "x", "number");
  refused("run def:f key=cur", false, "key=cur", "cur");
  refused("run call:f key=ret", false, "key=ret", "ret");
  refused("wake call:f key=(cur,a0)", false, "key=", "whole key");
  refused("run def:f key=a0 once multi", false, "multi", "only one");
  refused("run def:f key=a0 once pending=1", false, "pending", "only one");
  refused("async call:f", false, "async", "def: or type:");
  refused("await def:f", false, "await", "call: or icall:");
  refused("create def:f key=a0", false, "create", "call:, icall: or store:");
  refused("create call:f key=a0 fn=ret", false, "fn=", "before the call");
  refused("create call:f key=a0 | run key=a0", false, "key=a0", "no body is named");
  refused("create call:f key=a0 | run worker", false, "run", "once or multi");
  refused("create call:f key=a0 fn=a1 |", false, "|", "expected after");
  refused("create call:f key=a0 fn=a1 | await", false, "await", "only run");
  refused("create call:f key=a0 fn=a1 | run key=a0 | run key=a1", false, "|", "unknown word");
  refused("await call:f | run key=a0", false, "|", "only create");
  refused("end call:f key=a0 how=gone", false, "gone", "one of");
}
END_TEST

START_TEST(requests) {
  read_line("span def:/^json_/ tier=render/json");
  ck_assert(line.verb == Verb::Span && line.tier == "render/json" && line.is_aside());
  read_attribute("span");
  ck_assert(line.place == Place::Def && line.tier.empty());
  read_attribute("span call: tier=a-b.c");
  ck_assert(line.place == Place::Call);
  read_line("await icall:db.query tier=db names background");
  ck_assert(line.tier == "db" && line.names && line.background);
  read_line("create call:get key=cg:a0 fn=a1 tier=cache | run key=cg:a0 once");
  ck_assert(line.tier == "cache" && !line.is_spawn());
  refused("create call:get key=a0 ready tier=cache", false, "tier", "| run");
  refused("span def:f tier=_other", false, "_other", "short name");
  read_line("label call:f key=r:a0 value=ret->name:str ok=ret!=0 when=a0!=0");
  ck_assert(line.label.type == Told::Text && !line.label.length && line.is_aside());
  ck_assert(line.label.value->kind == Value::Field && line.key.ns != 0);
  read_line("label def:f value=a0->name.base:str,a0->name.len&0xff");
  ck_assert(line.label.length && line.label.length->kind == Value::Mask && !line.key.first);
  read_line("label store:s.f=1 key=cur value=identify(obj):METHODS");
  ck_assert(line.label.type == Told::Enum && line.label.name == "METHODS");
  read_line("async def:f label=a0->x:int token=a1:str,a2");
  ck_assert(line.label.type == Told::Number && line.token.length && line.is_async());
  refused("label def:f value=a0:int x", false, "x", "unknown word");
  refused("label def:f value=a0", false, "", "its type");
  refused("label call:f key=(cur,a0) value=a0:int", false, "key=", "whole key");
  refused("async def:f token=a0:int", false, "", "text");
  read_line("create call:f key=ret root sample=a0->size>100");
  ck_assert(line.sample && line.sample.compare == Compare::Greater && !line.when && !line.ok);
  refused("create call:f key=ret sample=a0", false, "sample=", "goes with root");
  refused("create call:f key=ret root sample=ret", false, "sample=", "not known yet");
  refused("async def:f root sample=cur", false, "sample=", "cannot use cur");
  refused("run def:f key=a0 root sample=a0", false, "sample", "means nothing to run");
  read_line("label call:send token>a1->buffer");
  ck_assert(line.token_out && !line.label.value);
  read_line("create call:send key=a0 token>a1 token=a2");
  ck_assert(line.token_out && line.token.value);
  refused("label call:send token>a1 token>a2", false, "token>", "twice");
  refused("label call:send token>", false, "", "no value");
  refused("label call:send key=a0 token>a1", false, "label", "value=");
  read_line("request type:handler label=a0:int token=a1");
  ck_assert(line.verb == Verb::Request && line.root && line.is_async() && !line.is_aside());
  read_attribute("request");
  ck_assert(line.place == Place::Def);
  read_line("run call:step key=t:a0 for=r:(a1,2) multi");
  ck_assert(line.of_root.second && line.of_root.ns != line.key.ns);
  read_line("run type:handler key=c:a1 pending=1 root label=a3:str");
  ck_assert(line.root && line.pending);
  refused("create call:f key=a0 fn=a1 | run key=a0 once root", false, "root", "the create's");
  refused("run call:step key=a0 for=any:a1", false, "for=", "any:");
  read_line("wake call:pass key=a0,a1 hand");
  ck_assert(line.hand && line.more_keys.size() == 1);
}
END_TEST

START_TEST(rarer_words) {
  refused("end call:/^a++++++++++++++++++++++++++++++b$/ key=a0", false, "", "too large");
  refused("end call:/^((((((((((a+)+)+)+)+)+)+)+)+)+)+$/ key=a0", false, "", "too large");
  read_line("end call:/^(a|b+)+_(c)+d+$/ key=a0");
  read_line("run def:f key=a0 pending=1 polling=2,3 worker label=a0:int");
  ck_assert(line.pending && line.polling && line.worker);
  ck_assert_uint_eq(line.polling_values.size(), 2);
  read_line("create call:f due=a2->t:ms");
  ck_assert(!line.key.first && line.due.size() == 1 && line.due[0].ns == 1000000);
  read_line("create call:f due=a1->s:s+a1->us:us");
  ck_assert(line.due.size() == 2 && line.due[0].ns == 1000000000 && line.due[1].ns == 1000);
  read_line("switch def:f key=*a1");
  ck_assert(line.verb == Verb::Switch && line.place == Place::Def);
  read_line("blocking call:/^uv_fs_/ when=a-1==0");
  ck_assert(line.verb == Verb::Blocking);
  read_attribute("helper");
  ck_assert(line.verb == Verb::Helper && line.place == Place::Call);
  refused("run def:f key=a0 polling=1 multi", false, "multi", "only one");
  read_line("create call:f due=a1:us-now():us-(struct t *)a2->ms:ms+4:ns");
  ck_assert(line.due.size() == 4 && !line.due[0].minus && line.due[1].minus && line.due[2].minus);
  ck_assert(!line.due[3].minus && line.due[3].value->number == 4);
  refused("create call:f due=a0:s+a0:s+a0:s+a0:s+a0:s+a0:s+a0:s+a1:s", false, "a1:s", "seven");
  refused("create call:f due=a0", false, "", "unit");
  refused("create call:f due=a0:h", false, "h", "ms or s");
  refused("create call:f due=a0:s+", false, "", "");
  refused("create call:f due=a0:s+ret:us", false, "due=", "before the call");
  refused("create call:f due=ret:ms", false, "due=", "before the call");
  refused("switch call:f", false, "switch", "needs key=");
  refused("switch type:f key=a0", false, "switch", "call:, def: or icall:");
  refused("switch call:f key=ret", false, "key=", "not known yet");
  refused("helper def:f", false, "helper", "call: or icall:");
}
END_TEST

START_TEST(bare_runs) {
  read_line("create call:f key=a0 | run once");
  ck_assert(!line.run_of_functions() && line.then_run->once);
  read_line("create call:f key=a0 fn=self | run multi");
  ck_assert(!line.run_of_functions() && line.then_run->multi);
  read_line("create call:f key=a0 fn=self | run key=a0 once");
  ck_assert(line.run_of_functions());
  refused("create call:f key=a0 fn=self | run", false, "run", "says once or multi");
  refused("create call:f key=a0 fn=a1 | run once", false, "run", "needs key=");
  refused("create call:f key=a0 fn=self,a1 | run once", false, "run", "needs key=");
}
END_TEST

START_TEST(leaving) {
  read_line("end call:co_exit key=cur noreturn how=failed");
  ck_assert(line.noreturn && line.how == How::Failed);
  read_line("end def:co_end key=a0");
  ck_assert(!line.noreturn);
  read_line("await call:pool_begin worker background");
  ck_assert(line.worker && line.background);
  refused("await call:f noreturn", false, "noreturn", "means nothing to await");
  refused("end call:f key=a0 ok=ret==0 noreturn", false, "noreturn", "has no result");
  refused("end call:f key=ret noreturn", false, "noreturn", "has no result");
  refused("end call:f key=cur noreturn=1", false, "noreturn=1", "takes no value");
  refused("await call:f names worker", false, "worker", "stops no clock");
  refused("idle call:f worker", false, "worker", "means nothing to idle");
}
END_TEST

/* The names of a regex, joined by blanks; "-" where they cannot be told. */
static std::string names_in(const char *regex) {
  std::vector<std::string> names;
  std::string text;
  if (!pattern_names(regex, &names))
    return "-";
  for (const std::string &name : names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}

static void names_are(const char *regex, const char *names) {
  std::string found = names_in(regex);
  ck_assert_str_eq(found.c_str(), names);
}

START_TEST(names_of_patterns) {
  names_are("^co_yield$", "co_yield");
  names_are("^co_(read|write)$", "co_read co_write");
  names_are("^(a|b)(_ev)?$", "a_ev a b_ev b");
  names_are("^st_(read(v|_fully)?|close)$", "st_readv st_read_fully st_read st_close");
  names_are("^(a|b)c?$", "ac a bc b");
  names_are("^a|b$", "-");
  names_are("^(a)|(b)$", "-");
  names_are("co_yield$", "-");
  names_are("^co_yield", "-");
  names_are("^co_.*$", "-");
  names_are("^co[ab]$", "-");
  names_are("^(ab)+$", "-");
  names_are("^a{2}$", "-");
  names_are("^a??$", "-");
  names_are("^a\\.b$", "-");
  names_are("^(a|^b)$", "-");
  std::string many = "^";
  for (int i = 0; i < 20; i++)
    many += "(a|b)";
  names_are((many + "$").c_str(), "-");
}
END_TEST

static void ends_are(const char *regex, const char *begin, const char *end) {
  std::string b, e;
  pattern_ends(regex, &b, &e);
  ck_assert_str_eq(b.c_str(), begin);
  ck_assert_str_eq(e.c_str(), end);
}

START_TEST(ends_of_patterns) {
  ends_are("^g_.*_async$", "g_", "_async");
  ends_are("^sqlite3_[a-z0-9_]*$", "sqlite3_", "");
  ends_are("_async$", "", "_async");
  ends_are("^ab*", "a", "");
  ends_are("^ab?c$", "a", "c");
  ends_are("^ab{0}", "a", "");
  ends_are("^ab+", "ab", "");
  ends_are("^(ab)*", "", "");
  ends_are("a|b$", "", "");
  ends_are("^a|b", "", "");
  ends_are("^a(b|c)d$", "a", "d");
  ends_are("^a[|]b$", "a", "b");
  ends_are("^a[]|(]b$", "a", "b");
  ends_are("^a[[:alpha:]|]b$", "a", "b");
  ends_are("^a\\|b$", "a", "b");
  ends_are("a\\wb$", "", "b");
  ends_are("^$", "", "");
  ends_are("$", "", "");
  ends_are("", "", "");
}
END_TEST

START_TEST(fields) {
  read_line("run icall:request.cb key=obj once=obj->n==0");
  ck_assert(line.place == Place::Icall && line.name == "request" && line.fields.size() == 1);
  read_line("create store:ns::event.a.b=-1 key=(obj,a0) fn=obj->f");
  ck_assert_str_eq(line.name.c_str(), "ns::event");
  ck_assert(line.fields.size() == 2 && line.stored && line.stored->number == -1);
  read_line("create store:task.process=h1_io_cb key=obj");
  ck_assert(line.stored && line.stored->kind == Value::Name && line.stored->name == "h1_io_cb");
  read_line("wake store:event.ready key=obj");
  ck_assert(!line.stored);
  refused("run icall:request key=obj", false, "request", "STRUCT.FIELD");
  refused("run icall:request. key=obj", false, "request.", "STRUCT.FIELD");
  refused("run icall:/x/.cb key=obj", false, "/x/", "STRUCT.FIELD");
  refused("run icall:request.cb=1 key=obj", false, "=1", "only store:");
  refused("wake store:event.ready=% key=obj", false, "%", "number");
  refused("wake store:event.ready=a0 key=obj", false, "", "number or the name");
  refused("wake store:event.ready=f(1) key=obj", false, "", "number or the name");
  refused("await store:event.ready", false, "await", "call: or icall:");
  refused("wake store:event.ready key=obj ok=ret==0", false, "ok=", "returns nothing");
  refused("run icall: key=a0", true, "icall", "bindings files");
  refused("await call:f when=obj->x", false, "when=", "obj");
}
END_TEST

/* Any text ends in a line or in a mistake inside it, never worse. */
START_TEST(any_text) {
  static const char *const pieces[] = {"create",
                                       "run",
                                       "await",
                                       " ",
                                       " ",
                                       "call:",
                                       "def:",
                                       "type:",
                                       "f",
                                       "/x/",
                                       "\"",
                                       "key=",
                                       "fn=",
                                       "ok=",
                                       "once",
                                       "multi",
                                       "|",
                                       "a0",
                                       "a-1",
                                       "->",
                                       "*",
                                       "(",
                                       ")",
                                       ",",
                                       "==",
                                       "0x1",
                                       "&",
                                       "w:",
                                       "any:",
                                       "ret",
                                       "cur",
                                       "/",
                                       "\\",
                                       "owner(",
                                       "self",
                                       "\t",
                                       "=",
                                       "pending=",
                                       "g()",
                                       "-",
                                       "9999999999999999999"};
  srand(20);
  for (int i = 0; i < (suite_is_slow() ? 4000 : 200000); i++) {
    std::string text;
    for (int n = rand() % 14; n >= 0; n--)
      text += pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)];
    line = Binding();
    mistake = Mistake();
    if (binding_parse(text, i & 1, &line, &mistake))
      continue;
    ck_assert_msg(!mistake.text.empty(), "'%s'", text.c_str());
    ck_assert_msg(mistake.begin <= text.size(), "'%s' at %zu", text.c_str(), mistake.begin);
  }
}
END_TEST

START_TEST(files) {
  File file = {"x.aprof", nullptr, {}, {}, {}, {}};
  file_parse(&file, "# nothing\nheader uv.h # of libuv\n  await call:f#g # no comment, a comment\n"
                    "\tawiat call:f\nbeside\ncreate call:f key=a0 | run def:g key=a0 once\n"
                    "create call:h key=a0 | run def:g key=a0 once");
  ck_assert_uint_eq(file.headers.size(), 1);
  ck_assert_str_eq(file.headers[0].path.c_str(), "uv.h");
  ck_assert_uint_eq(file.lines.size(), 4);
  ck_assert_str_eq(file.lines[0]->name.c_str(), "f#g");
  ck_assert_uint_eq(file.lines[0]->line, 3);
  ck_assert_uint_eq(file.lines[0]->column, 3);
  ck_assert(file.lines[2]->behind && file.lines[2]->verb == Verb::Run);
  ck_assert_uint_eq(file.lines[2]->line, 6);
  ck_assert_uint_eq(file.errors.size(), 2);
  ck_assert_uint_eq(file.errors[0].line, 4);
  ck_assert_uint_eq(file.errors[0].column, 2);
  ck_assert_uint_eq(file.errors[0].width, 5);
  ck_assert_str_eq(file.errors[0].text.c_str(), "unknown verb 'awiat'");
  ck_assert_uint_eq(file.errors[1].line, 5);
}
END_TEST

START_TEST(headers) {
  Library uv = {"libuv.aprof", 1, "header uv.h\nheader uv/unix.h\n"};
  Library tevent = {"tevent.aprof", 2, " header tevent.h\nbeside talloc.h # not by itself\n"};
  HeaderRules rules;
  header_rules_add(&rules, &uv);
  header_rules_add(&rules, &tevent);
  auto of = [&](const char *file) { return header_rules_of(rules, file); };
  ck_assert_uint_eq(of("/usr/include/uv.h").size(), 1);
  ck_assert(of("uv.h")[0].library == &uv);
  ck_assert_uint_eq(of("/usr/include/myuv.h").size(), 0);
  ck_assert_uint_eq(of("/usr/include/unix.h").size(), 0);
  ck_assert_uint_eq(of("/usr/include/uv/unix.h").size(), 1);
  ck_assert(!of("tevent.h")[0].beside && of("talloc.h")[0].beside);
}
END_TEST

START_TEST(precedence) {
  Library one = {"one.aprof", 1, ""}, two = {"two.aprof", 2, ""};
  Binding attribute, user, shipped, later;
  user.order = first_order(nullptr, 0);
  shipped.order = first_order(&one, 1);
  later.order = first_order(&two, 1);
  shipped.library = &one;
  later.library = &two;
  later.key.ns = 7;
  std::vector<const Binding *> lines = {&later, &shipped, &user, &attribute};
  in_order(&lines);
  ck_assert(lines[0] == &attribute && lines[1] == &user && lines[2] == &shipped &&
            lines[3] == &later);
  auto runs = lines;
  users_win(&runs, same_namespace);
  ck_assert(runs.size() == 3 && runs[2] == &later);
  users_win(&lines);
  ck_assert_uint_eq(lines.size(), 2);
  std::vector<const Binding *> alone = {&shipped, &later};
  users_win(&alone);
  ck_assert_uint_eq(alone.size(), 2);
}
END_TEST

int main(void) {
  TCase *grammar = tcase_create("grammar");
  tcase_set_timeout(grammar, 60);
  tcase_add_test(grammar, verbs_and_places);
  tcase_add_test(grammar, attributes_have_no_name);
  tcase_add_test(grammar, values);
  tcase_add_test(grammar, namespaces);
  tcase_add_test(grammar, conditions);
  tcase_add_test(grammar, several_conditions);
  tcase_add_test(grammar, words);
  tcase_add_test(grammar, mistakes);
  tcase_add_test(grammar, rarer_words);
  tcase_add_test(grammar, requests);
  tcase_add_test(grammar, bare_runs);
  tcase_add_test(grammar, leaving);
  tcase_add_test(grammar, names_of_patterns);
  tcase_add_test(grammar, ends_of_patterns);
  tcase_add_test(grammar, fields);
  tcase_add_test(grammar, any_text);
  tcase_add_test(grammar, files);
  tcase_add_test(grammar, headers);
  tcase_add_test(grammar, precedence);
  return suite_run("binding", grammar);
}
