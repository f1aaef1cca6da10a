/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plugin's options, -fplugin-arg-aprof-KEY[=VALUE], and where this build of
 * aprof finds its own files.
 *
 * Purpose: read once before the compiler starts, constant afterwards.
 * Cost, locking: none.
 */
#ifndef APROF_PLUGIN_OPTIONS_H
#define APROF_PLUGIN_OPTIONS_H

#include <string>
#include <vector>

struct plugin_name_args;

namespace aprof {

struct Settings {
  bool shipped = true;               /* bindings=none switches them off */
  std::vector<std::string> bindings; /* bindings=NAME|FILE, in order */
  std::vector<std::string> spans;    /* spans=/REGEX/|FILE, in order */
  bool verbose = false;              /* say what matched what */
  bool autoload = true;              /* look for an installed runtime */

  std::string bindings_dir; /* NAME.aprof */
  std::string runtime;      /* libaprof.so.0 where this aprof has it */
};

extern Settings settings;

/* Fills `settings`; reports what it does not know. */
void options_read(const plugin_name_args *);

} // namespace aprof

#endif
