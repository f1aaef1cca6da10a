/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Site records; see site-record.h. */
#include "site-record.h"

#include "plugin/keep.h"
#include "plugin/match/body-lines.h"
#include "plugin/match/function-names.h"
#include "plugin/match/match.h"

namespace aprof {

/* -- the type ---------------------------------------------------------------------------- */

struct Member {
  const char *name;
  tree type;
};

/* struct aprof_site, field by field as in abi.h. */
static tree site_type() {
  static tree type;
  if (type)
    return type;
  tree text = build_pointer_type(build_qualified_type(char_type_node, TYPE_QUAL_CONST));
  const Member members[] = {
      {"name", text},
      {"file", text},
      {"line", uint32_type_node},
      {"column", uint32_type_node},
      {"kind", unsigned_char_type_node},
      {"model", unsigned_char_type_node},
      {"flags", uint16_type_node},
      {"ns", uint32_type_node},
      {"function", text},
      {"id", uint32_type_node},
      {"instance", uint32_type_node},
      {"reserved", uint64_type_node},
      {"tier", text},
  };
  type = keep(make_node(RECORD_TYPE));
  tree last = NULL_TREE;
  for (const Member &m : members) {
    tree field = build_decl(UNKNOWN_LOCATION, FIELD_DECL, get_identifier(m.name), m.type);
    DECL_CONTEXT(field) = type;
    if (last)
      DECL_CHAIN(last) = field;
    else
      TYPE_FIELDS(type) = field;
    last = field;
  }
  TYPE_NAME(type) = get_identifier("aprof_site");
  layout_type(type);
  return type;
}

static tree last_field() {
  tree field = TYPE_FIELDS(site_type());
  while (DECL_CHAIN(field))
    field = DECL_CHAIN(field);
  return field;
}

/* -- the section --------------------------------------------------------------------------- */

/* Unique enough over the units that LTO may put into one assembler file. */
static unsigned section_number() {
  static unsigned next;
  static uint32_t unit = 2166136261u;
  if (next == 0)
    for (const char *c = main_input_filename ? main_input_filename : ""; *c; c++)
      unit = (unit ^ (unsigned char)*c) * 16777619u;
  return (unit + next++ * 2654435761u) & 0x7fffffffu;
}

/* GCC prints .section NAME,"aw": the name carries flags and number itself, and
   a comment swallows the rest of the line. */
static void put_in_own_section(tree record) {
  char progbits[16], name[128];
  snprintf(progbits, sizeof progbits, TYPE_OPERAND_FMT, "progbits");
  snprintf(name, sizeof name, APROF_SITE_SECTION ",\"aw\",%s,unique,%u " ASM_COMMENT_START,
           progbits, section_number());
  set_decl_section_name(record, name);
}

/* -- a record -------------------------------------------------------------------------------- */

static unsigned flags_of(const Binding *b, const Key *key) {
  if (!b)
    return 0;
  const Binding *run = b->verb == Verb::Create ? b->then_run.get() : b;
  unsigned flags = 0;
  bool once = run && run->once && !run->once_if, multi = run && (run->multi || run->once_if);
  flags |= once ? APROF_ONCE : 0;
  flags |= multi ? APROF_MULTI : 0;
  if (b->verb == Verb::Create && (b->ready || b->is_spawn()))
    flags |= APROF_READY;
  flags |= b->rearm ? APROF_REARM : 0;
  flags |= b->root ? APROF_ROOT : 0;
  flags |= b->names ? APROF_NAMES : 0;
  flags |= b->background ? APROF_BACKGROUND : 0;
  flags |= key->second ? APROF_TUPLE : 0;
  flags |= b->worker || (run && run->worker) ? APROF_WORKER : 0;
  flags |= b->polling ? APROF_POLLING : 0;
  flags |= b->noreturn ? APROF_NORETURN : 0;
  flags |= b->verb == Verb::Create && !b->key.first ? APROF_KEYLESS : 0;
  flags |= b->verb == Verb::Helper ? APROF_NAMES | APROF_HELPER : 0;
  flags |= b->hand ? APROF_HAND : 0;
  return flags;
}

static tree text_tree(const std::string &text) {
  return build_string_literal(text.size() + 1, text.c_str());
}

static tree make_record(tree *values, tree tier) {
  vec<constructor_elt, va_gc> *elements = nullptr;
  int i = 0;
  for (tree field = TYPE_FIELDS(site_type()); field && values[i]; field = DECL_CHAIN(field), i++)
    CONSTRUCTOR_APPEND_ELT(elements, field, values[i]);
  if (tier)
    CONSTRUCTOR_APPEND_ELT(elements, last_field(), tier);
  char label[64];
  static unsigned number;
  ASM_GENERATE_INTERNAL_LABEL(label, "LAPROF", number++);
  tree record = build_decl(UNKNOWN_LOCATION, VAR_DECL, get_identifier(label), site_type());
  TREE_STATIC(record) = 1;
  TREE_ADDRESSABLE(record) = 1;
  TREE_USED(record) = 1;
  DECL_ARTIFICIAL(record) = 1;
  DECL_IGNORED_P(record) = 1;
  SET_DECL_ALIGN(record, sizeof(aprof_site) * BITS_PER_UNIT); /* one line of the cache each */
  DECL_USER_ALIGN(record) = 1;
  put_in_own_section(record);
  DECL_INITIAL(record) = build_constructor(site_type(), elements);
  TREE_CONSTANT(DECL_INITIAL(record)) = 1;
  TREE_STATIC(DECL_INITIAL(record)) = 1;
  varpool_node::finalize_decl(record);
  return build_fold_addr_expr(record);
}

static tree new_site(aprof_site_kind kind, aprof_model model, const std::string &name,
                     location_t where, tree function, unsigned flags, uint32_t ns,
                     const std::string &tier = "") {
  expanded_location at = expand_location(where);
  const char *file = at.file ? at.file : main_input_filename;
  auto number = [](tree type, unsigned long value) { return build_int_cstu(type, value); };
  tree values[] = {
      text_tree(name),
      text_tree(remap_macro_filename(file ? file : "")),
      number(uint32_type_node, at.line > 0 ? (unsigned)at.line : 0),
      number(uint32_type_node, at.column > 0 ? (unsigned)at.column : 0),
      number(unsigned_char_type_node, kind),
      number(unsigned_char_type_node, model),
      number(uint16_type_node, flags),
      number(uint32_type_node, ns),
      text_tree(name_of_body(function)),
      NULL_TREE,
  };
  return make_record(values, tier.empty() ? NULL_TREE : text_tree(tier));
}

tree site_new(aprof_site_kind kind, const std::string &name, location_t where, tree function,
              const Binding *line, unsigned extra, const Key *key, const std::string &tier) {
  key = key ? key : line ? &line->key : nullptr;
  bool tiered = kind == APROF_SITE_SPAN || kind == APROF_SITE_TIER || kind == APROF_SITE_CREATE;
  return new_site(kind, APROF_MODEL_NONE, name, where, function, flags_of(line, key) | extra,
                  key ? key->ns : APROF_NS_NONE,
                  tiered && line && !line->tier.empty() ? line->tier : tier);
}

tree site_of_function(tree function) {
  static std::unordered_map<unsigned, tree> known; /* by DECL_UID */
  tree &site = known[DECL_UID(function)];
  if (site)
    return unshare_expr(site);
  const BodyLines &lines = body_lines(function);
  aprof_model model = lines.async ? APROF_MODEL_STACK : APROF_MODEL_CALLBACK;
  unsigned flags = lines.async && lines.async->root ? APROF_ROOT : 0;
  flags |= lines.async && lines.async->background ? APROF_BACKGROUND : 0;
  for (const RunLine &run : lines.runs) {
    if ((run.line->pending || run.line->polling) && !lines.async)
      model = APROF_MODEL_FRAME;
    flags |= run.line->background ? APROF_BACKGROUND : 0;
  }
  site = keep(new_site(APROF_SITE_FUNCTION, model, name_of_body(function),
                       DECL_SOURCE_LOCATION(function), function, flags, APROF_NS_NONE));
  return unshare_expr(site);
}

tree site_of_run(tree function, const Binding *line, bool quiet, bool own) {
  unsigned flags = (quiet ? APROF_QUIET : 0) | (own ? APROF_OWN : 0);
  if (!namespace_has_create(line->key.ns))
    flags |= APROF_ORPHAN;
  return site_new(APROF_SITE_RUN, name_of_body(function), DECL_SOURCE_LOCATION(function), function,
                  line, flags);
}

} // namespace aprof
