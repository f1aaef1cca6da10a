/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options and places; see settings.h. */
#include "settings.h"

#include <dlfcn.h>
#include <unistd.h>

#include "gcc.h"

namespace aprof {

Settings settings;

/* The directory of this plugin's own file. */
static std::string own_directory() {
  Dl_info info;
  if (!dladdr(&settings, &info) || !info.dli_fname)
    return ".";
  char *real = realpath(info.dli_fname, nullptr);
  std::string path = real ? real : info.dli_fname;
  free(real);
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/* The first directory that holds `name`, with its links resolved; that of the
   installation, the last, if none does. */
static std::string first_holding(const std::vector<std::string> &directories, const char *name) {
  for (const std::string &directory : directories) {
    if (access((directory + "/" + name).c_str(), R_OK) != 0)
      continue;
    char *real = realpath(directory.c_str(), nullptr);
    std::string found = real ? real : directory;
    free(real);
    return found;
  }
  return directories.back();
}

/* Of the build tree, or of wherever the installation was moved to, or as it was
   configured. */
static void find_places() {
  std::string own = own_directory();
  settings.bindings_dir = first_holding(
      {own + "/../bindings", own + "/../../share/aprof/bindings", APROF_BINDINGSDIR}, ".");
  settings.runtime =
      first_holding({own + "/../rt/.libs", own + "/..", APROF_LIBDIR}, "libaprof.so.0") +
      "/libaprof.so.0";
}

static void yes_or_no(const char *key, const char *value, bool *out) {
  if (!value || strcmp(value, "yes") == 0)
    *out = true;
  else if (strcmp(value, "no") == 0)
    *out = false;
  else
    error("%<-fplugin-arg-aprof-%s=%s%>: the value is %<yes%> or %<no%>", key, value);
}

static void read_bindings(const char *value) {
  if (!value || !*value)
    error("%<-fplugin-arg-aprof-bindings=%> needs a value: the name of a shipped file, a path, or "
          "%<none%>");
  else if (strcmp(value, "none") == 0)
    settings.shipped = false;
  else
    settings.bindings.push_back(value);
}

static void read_spans(const char *value) {
  if (!value || !*value)
    error("%<-fplugin-arg-aprof-spans=%> needs a value: %</REGEX/%>, or a file of names");
  else
    settings.spans.push_back(value);
}

void options_read(const plugin_name_args *arguments) {
  find_places();
  for (int i = 0; i < arguments->argc; i++) {
    const char *key = arguments->argv[i].key, *value = arguments->argv[i].value;
    if (strcmp(key, "bindings") == 0)
      read_bindings(value);
    else if (strcmp(key, "spans") == 0)
      read_spans(value);
    else if (strcmp(key, "verbose") == 0)
      yes_or_no(key, value, &settings.verbose);
    else if (strcmp(key, "autoload") == 0)
      yes_or_no(key, value, &settings.autoload);
    else
      error("unknown option %<-fplugin-arg-aprof-%s%>; known: %<bindings=NAME%>|%<FILE%>|%<none%>, "
            "%<spans=/REGEX/%>|%<FILE%>, %<verbose%>, %<autoload=no%>",
            key);
  }
}

} // namespace aprof
