/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plugin of one GCC major: what GCC calls, in the order of a compilation.
 *
 *     plugin_init        options, attribute, callbacks
 *     start of the unit  bindings files
 *     each declaration, each parsed function       scan.cc
 *     each function, once the unit is parsed       pass.cc
 *     end of the unit    coverage.cc
 */
#include "gcc.h"
#include "keep.h"
#include "pass.h"
#include "plugin/emit/constructor.h"
#include "plugin/emit/coverage.h"
#include "plugin/emit/gate.h"
#include "plugin/match/attribute.h"
#include "plugin/match/bindings.h"
#include "plugin/match/library.h"
#include "plugin/match/match.h"
#include "plugin/match/scan.h"
#include "settings.h"

#define EXPORTED __attribute__((visibility("default")))

extern "C" {
EXPORTED int plugin_is_GPL_compatible;
EXPORTED int plugin_init(plugin_name_args *, plugin_gcc_version *);
}

namespace aprof {

static void start_unit(void *, void *) {
  bindings_load();
  for (const auto &line : bindings())
    match_add(line.get());
  libraries_find(match_add);
  libraries_watch(); /* the table of before a precompiled header */
}

/* Only the C family has what lines are about; lto1 gets code that is done. */
static bool is_our_language() {
  return strncmp(lang_hooks.name, "GNU C", 5) == 0 || strncmp(lang_hooks.name, "GNU Obj", 7) == 0;
}

static void subscribe(const char *name) {
  keep_init(name);
  gate_constructor(emit_constructor);
  register_callback(name, PLUGIN_ATTRIBUTES, attributes_register, nullptr);
  register_callback(name, PLUGIN_START_UNIT, start_unit, nullptr);
  register_callback(name, PLUGIN_FINISH_DECL, scan_declaration, nullptr);
  register_callback(name, PLUGIN_PRE_GENERICIZE, scan_function, nullptr);
  pass_register(name);
  register_callback(name, PLUGIN_ALL_IPA_PASSES_START, coverage_collect, nullptr);
  register_callback(name, PLUGIN_FINISH_UNIT, coverage_write, nullptr);
}

} // namespace aprof

/* Layouts depend on the release, not on the build: distributions rebuild one release many times. */
static bool same_release(const plugin_gcc_version *running) {
  return strcmp(running->basever, gcc_version.basever) == 0;
}

int plugin_init(plugin_name_args *arguments, plugin_gcc_version *running) {
  if (!aprof::is_our_language())
    return 0;
  if (!same_release(running)) {
    fatal_error(UNKNOWN_LOCATION,
                "this aprof plugin was built for GCC %s, the compiler is %s: build aprof again",
                gcc_version.basever, running->basever);
  }
  if (POINTER_SIZE != 64) {
    inform(UNKNOWN_LOCATION, "aprof: only programs of 64 bits can be profiled; nothing is added");
    return 0;
  }
  aprof::options_read(arguments); /* a mistake is an error: the compilation will fail */
  aprof::subscribe(arguments->base_name);
  if (flag_preprocess_only)
    aprof::bindings_load(); /* -M: no unit will start */
  return 0;
}
