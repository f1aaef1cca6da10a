/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section .aprof.coverage; see coverage.h. */
#include "coverage.h"

#include <aprof/abi.h>

#include "plugin/match/bindings.h"
#include "plugin/match/body-lines.h"
#include "plugin/match/function-names.h"
#include "plugin/match/headers.h"
#include "plugin/match/match.h"
#include "plugin/match/scan.h"

#ifndef APROF_VERSION
#define APROF_VERSION "?"
#endif

/* Of the gate that this unit's events go through. */
#define SHAPE APROF_TEXT(APROF_ABI) "." APROF_TEXT(APROF_GATE_ROWS)

namespace aprof {

static std::string records;                              /* but unit and binding */
static bool any_function;                                /* ... one of a body is among them */
static std::unordered_map<std::string, unsigned> counts; /* of lines, by place and column */
static std::unordered_set<unsigned> instrumented;        /* DECL_UIDs of bodies */

/* -- lines --------------------------------------------------------------------------------- */

/* What separates fields and lines cannot be part of one. */
static std::string field(const std::string &text) {
  std::string clean = text;
  for (char &c : clean)
    if (c == '\t' || c == '\n' || c == '\r' || c == '\0')
      c = ' ';
  return clean;
}

static std::string file_name(const char *file) {
  return field(remap_macro_filename(file ? file : ""));
}

static std::string place(location_t where) {
  expanded_location at = expand_location(where);
  return file_name(at.file ? at.file : main_input_filename) + ":" + std::to_string(at.line);
}

static std::string place_of(const Binding &b) {
  return file_name(b.file) + ":" + std::to_string(b.line);
}

/* A `| run` with a place is a line of its own, behind its create. */
static std::string identity_of(const Binding &b) {
  return place_of(b) + ":" + std::to_string(b.column);
}

/* What the linker calls it. */
static std::string symbol_of(tree function) {
  const char *text = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
  return field(text[0] == '*' ? text + 1 : text);
}

/* The place, the name, and the symbol where it is another one. */
static std::string named(tree function, const std::string &symbol) {
  std::string name = field(name_of_body(function));
  return place(DECL_SOURCE_LOCATION(function)) + "\t" + name +
         (symbol == name ? "" : "\t" + symbol) + "\n";
}

void coverage_function(tree function, bool likely) {
  /* An inline body whose one definition is elsewhere is not what others call. */
  bool own = !TREE_PUBLIC(function) || DECL_EXTERNAL(function);
  records += (likely ? "likely\t" : "function\t") + named(function, own ? "" : symbol_of(function));
  instrumented.insert(DECL_UID(function));
  any_function = true;
}

void coverage_await(location_t where, const std::string &callee, tree function, bool inside) {
  records += (inside ? "await\t" : "outside\t") + place(where) + "\t" + field(callee) + "\t" +
             field(name_of_body(function)) + "\n";
}

void coverage_span(location_t where, const std::string &name) {
  records += "span\t" + place(where) + "\t" + field(name) + "\n";
}

void coverage_match(const Binding &b) {
  if (b.file)
    counts[identity_of(b)]++;
}

/* -- the section ----------------------------------------------------------------------------- */

static std::string all_records() {
  if (records.empty() && counts.empty())
    return "";
  std::string text =
      "unit\t" + file_name(main_input_filename) + "\t" APROF_VERSION "\t" SHAPE "\n" + records;
  std::unordered_set<std::string> seen; /* a file may be named twice */
  for (const auto &b : bindings()) {
    std::string identity = identity_of(*b);
    auto count = counts.find(identity);
    unsigned matches = count == counts.end() ? 0 : count->second;
    if ((matches > 0 || !b->library) && seen.insert(identity).second)
      text += "binding\t" + place_of(*b) + "\t" + std::to_string(matches) + "\t" + field(b->text) +
              "\n";
  }
  return text;
}

/* For an .ascii directive. */
static std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    char octal[8];
    if (c == '"' || c == '\\' || c < ' ' || c >= 127) {
      snprintf(octal, sizeof octal, "\\%03o", c);
      out += octal;
    } else {
      out += (char)c;
    }
  }
  return out + "\"";
}

static std::string assembly(const std::string &text) {
  char progbits[16];
  snprintf(progbits, sizeof progbits, TYPE_OPERAND_FMT, "progbits");
  std::string out = std::string("\t.pushsection\t.aprof.coverage,\"\",") + progbits + "\n";
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin) + 1;
    out += "\t.ascii\t" + quoted(text.substr(begin, end - begin)) + "\n";
    begin = end;
  }
  return out + "\t.popsection\n";
}

/* -- the end of the unit ------------------------------------------------------------------- */

/* Another name of a body. */
static void add_alias(cgraph_node *node) {
  tree body = node->ultimate_alias_target()->decl;
  if (instrumented.count(DECL_UID(body)) && TREE_PUBLIC(node->decl))
    records += "symbol\t" + place(DECL_SOURCE_LOCATION(body)) + "\t" + symbol_of(node->decl) + "\n";
}

static void add_declared(tree function) {
  if (body_lines(function).async)
    records += "declared\t" + named(function, symbol_of(function));
}

/* "uv_timer_start", whether a call, a field or an attribute says so. */
static std::string name_of_create(const Reach &reach) {
  if (reach.callee)
    return name_of_function(reach.callee);
  std::string name = reach.create->name;
  for (const std::string &part : reach.create->fields)
    name += "." + part;
  return name.empty() ? "(pointer)" : name;
}

/* A weakref is the name of another symbol. */
static std::string symbol_behind(cgraph_node *node) {
  tree target = node->weakref ? node->alias_target : NULL_TREE;
  if (target && TREE_CODE(target) == IDENTIFIER_NODE)
    return field(IDENTIFIER_POINTER(target));
  return symbol_of(target ? target : node->decl);
}

/* A function that this unit gives to a create, and whose body is elsewhere, or was left alone
   because it lacks what its run asks for or takes it for something else. */
static void add_callback(cgraph_node *node) {
  tree function = node->decl;
  for (const Reach &reach : reaches(function)) {
    const Binding *run = reach.create->run_of_functions();
    if (is_library_at(reach.create, reach.where))
      continue;
    records += "callback\t" + place(reach.where) + "\t" + field(name_of_body(function)) + "\t" +
               field(name_of_create(reach)) + "\t" + symbol_behind(node) + "\t" + run->key.space +
               (is_of_system(function) ? "\tsystem" : "") + "\n";
  }
}

/* It calls its argument before it returns, in a thread, or at the end: that is no loop's
   callback. */
static bool is_of_c_library(tree callee) {
  static const char *const headers[] = {"stdlib.h", "signal.h", "pthread.h", "search.h",
                                        "threads.h"};
  std::string file = file_name(DECL_SOURCE_FILE(callee));
  for (const char *header : headers)
    if (file.size() > strlen(header) && is_of_platform(callee) &&
        file.compare(file.size() - strlen(header) - 1, std::string::npos,
                     std::string("/") + header) == 0)
      return true;
  return DECL_IS_UNDECLARED_BUILTIN(callee) || fndecl_built_in_p(callee);
}

/* The function to which a call hands the address, if that one is elsewhere. */
static std::string called_with(const ipa_ref *use) {
  tree callee = use->stmt && is_gimple_call(use->stmt) ? gimple_call_fndecl(use->stmt) : NULL_TREE;
  cgraph_node *to = callee ? cgraph_node::get(callee) : nullptr;
  bool elsewhere = callee && !(to && to->definition) && !is_of_c_library(callee);
  return elsewhere ? name_of_function(callee) : "";
}

/* The variable or field that keeps the address: a library may be given a whole table. */
static std::string kept_in(const ipa_ref *use) {
  tree where = NULL_TREE;
  if (varpool_node *variable = dyn_cast<varpool_node *>(use->referring))
    where = variable->decl;
  else if (use->stmt && gimple_assign_single_p(use->stmt))
    where = gimple_assign_lhs(use->stmt);
  while (where && TREE_CODE(where) == ARRAY_REF)
    where = TREE_OPERAND(where, 0);
  if (where && TREE_CODE(where) == COMPONENT_REF)
    where = TREE_OPERAND(where, 1);
  bool named = where && DECL_P(where) && DECL_NAME(where) && !DECL_ARTIFICIAL(where);
  return named && !is_of_platform(where)
             ? "variable " + std::string(identifier_text(DECL_NAME(where)))
             : "";
}

/* A function of this unit whose address others get: noted once, at the first such place. */
static bool add_passed(cgraph_node *node, std::string (*taker_of)(const ipa_ref *)) {
  ipa_ref *use = nullptr;
  if (!node->definition || node->alias || DECL_ARTIFICIAL(node->decl) || is_of_platform(node->decl))
    return false;
  for (int i = 0; node->iterate_referring(i, use); i++) {
    std::string taker = use->use == IPA_REF_ADDR ? taker_of(use) : "";
    if (taker.empty())
      continue;
    location_t where =
        use->stmt ? gimple_location(use->stmt) : DECL_SOURCE_LOCATION(use->referring->decl);
    records += "passed\t" + place(where) + "\t" + field(name_of_body(node->decl)) + "\t" +
               field(taker) + "\n";
    return true;
  }
  return false;
}

/* Whatever the symbol table still has by then is referred to. Where no function is async, the
   section has those that may have been meant. */
static void add_elsewhere() {
  cgraph_node *node;
  if (!any_function)
    FOR_EACH_FUNCTION(node)
  if (!add_passed(node, called_with))
    add_passed(node, kept_in);
  if (match_nothing())
    return;
  FOR_EACH_FUNCTION(node) {
    if (node->alias && !node->weakref)
      add_alias(node);
    else if (!node->definition || DECL_EXTERNAL(node->decl) ||
             !instrumented.count(DECL_UID(node->decl)))
      add_callback(node);
    if (!node->definition && !node->alias && !DECL_IS_UNDECLARED_BUILTIN(node->decl))
      add_declared(node->decl);
  }
}

/* Every function has been seen. With -flto the unit's assembly is thrown away: there
   the section travels with the code. */
void coverage_collect(void *, void *) {
  add_elsewhere();
  std::string text = flag_generate_lto ? all_records() : "";
  if (text.empty())
    return;
  text = assembly(text);
  symtab->finalize_toplevel_asm(build_string(text.size() + 1, text.c_str()));
}

void coverage_write(void *, void *) {
  std::string text = seen_error() || flag_generate_lto ? "" : all_records();
  if (asm_out_file && !text.empty())
    fputs(assembly(text).c_str(), asm_out_file);
}

} // namespace aprof
