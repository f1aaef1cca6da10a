/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of functions and types; see function-names.h. */
#include "function-names.h"

#include <algorithm>

namespace aprof {

/* "__ct " "__ct_base " "__ct_comp ", and "__dt ": no name of the program ends so. */
static bool is_special(tree d, const char *text, const char *prefix) {
  return TREE_CODE(d) == FUNCTION_DECL && text && strncmp(text, prefix, 4) == 0 &&
         text[strlen(text) - 1] == ' ' && DECL_CONTEXT(d) && TYPE_P(DECL_CONTEXT(d)) &&
         TYPE_IDENTIFIER(DECL_CONTEXT(d));
}

/* "<int>" of what a template was instantiated to, as debuggers write it; a long list is cut. */
static std::string template_arguments(tree declaration, const std::string &name) {
  const size_t most = 80;
  if (!declaration || !DECL_P(declaration))
    return "";
  bool type = TREE_CODE(declaration) == TYPE_DECL;
  const char *whole = lang_hooks.dwarf_name(declaration, type ? 2 : 0);
  if (!whole || strncmp(whole, name.c_str(), name.size()) != 0)
    return "";
  std::string arguments = whole + name.size();
  if (arguments.compare(0, 1, "<") != 0 && arguments.compare(0, 2, " <") != 0) /* operator< <int> */
    return "";
  return arguments.size() > most ? arguments.substr(0, most - 4) + "...>" : arguments;
}

static std::string chain_of(tree declaration, bool arguments) {
  std::string name;
  for (tree d = declaration; d && TREE_CODE(d) != TRANSLATION_UNIT_DECL;) {
    tree identifier = TYPE_P(d) ? TYPE_IDENTIFIER(d) : DECL_NAME(d);
    const char *text = identifier_text(identifier);
    std::string part = text ? text : "";
    if (part == "_FUN") /* what a lambda becomes as a pointer */
      part = "";
    if (is_special(d, text, "__ct"))
      part = identifier_text(TYPE_IDENTIFIER(DECL_CONTEXT(d)));
    else if (is_special(d, text, "__dt"))
      part = std::string("~") + identifier_text(TYPE_IDENTIFIER(DECL_CONTEXT(d)));
    else if (TYPE_P(d) && (!text || strchr("<.", *text) || strncmp(text, "__lambda", 8) == 0))
      part = "lambda";
    else if (arguments && !part.empty())
      part += template_arguments(TYPE_P(d) ? TYPE_NAME(d) : d, part);
    if (!part.empty())
      name = name.empty() ? part : part + "::" + name;
    d = TYPE_P(d) ? TYPE_CONTEXT(d) : DECL_CONTEXT(d);
  }
  return name;
}

std::string qualified_name(tree declaration) {
  return chain_of(declaration, false);
}

static std::string name_of(tree function, bool arguments) {
  if (lang_GNU_CXX())
    return chain_of(function, arguments);
  const char *text = identifier_text(DECL_NAME(function));
  return text ? text : "?";
}

std::string name_of_function(tree function) {
  return name_of(function, false);
}

std::string name_of_body(tree function) {
  return name_of(function, true);
}

std::vector<std::string> names_of(tree function, bool mangled) {
  std::vector<std::string> names;
  auto add = [&](const std::string &name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  const char *plain = identifier_text(DECL_NAME(function));
  if (plain)
    add(plain);
  /* Not while parsing: a type's name may still change. */
  bool known = HAS_DECL_ASSEMBLER_NAME_P(function) && DECL_ASSEMBLER_NAME_SET_P(function);
  if (known || (mangled && symtab->state != PARSING)) {
    const char *text = identifier_text(DECL_ASSEMBLER_NAME(function));
    add(text[0] == '*' ? text + 1 : text);
  }
  if (lang_GNU_CXX())
    add(qualified_name(function));
  return names;
}

/* Those of a namespace, which keeps them alive. */
static std::vector<tree> declared;

void remember_overload(tree function) {
  tree in = DECL_CONTEXT(function);
  if (TREE_PUBLIC(function) && !(in && TYPE_P(in)) && !decl_function_context(function))
    declared.push_back(function);
}

static const char *symbol_of(tree function) {
  const char *text = identifier_text(DECL_ASSEMBLER_NAME(function));
  return text[0] == '*' ? text + 1 : text;
}

bool is_inline_form_of(tree caller, tree callee) {
  return caller != callee && DECL_EXTERNAL(caller) && DECL_DECLARED_INLINE_P(caller) &&
         strcmp(symbol_of(caller), symbol_of(callee)) == 0;
}

static bool is_of_c(tree function) {
  return DECL_ASSEMBLER_NAME(function) == DECL_NAME(function);
}

bool is_namesake_of_c(tree function) {
  if (is_of_c(function))
    return false;
  return std::any_of(declared.begin(), declared.end(), [&](tree other) {
    return DECL_NAME(other) == DECL_NAME(function) && is_of_c(other);
  });
}

} // namespace aprof
