/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * aprof.so: what -fplugin= names. Opens the plugin of the running GCC.
 *
 * Purpose: GCC's plugin interface changes with every major version, so there is
 * one plugin for each: aprof-gcc12.so for GCC 12. This file knows no header of
 * GCC; the few structs below have kept their layout since GCC 4.5.
 * Cost: one dlopen per compilation. Locking: none.
 *
 * clang, which would load this file in silence, is refused.
 *
 * The options still arrive as -fplugin-arg-aprof-KEY, after this file's name.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef APROF_PKGLIBDIR
#define APROF_PKGLIBDIR "/usr/lib/aprof"
#endif
#ifdef APROF_PLUGINDIR
#define INSTALLED_DIR APROF_PLUGINDIR
#else
#define INSTALLED_DIR APROF_PKGLIBDIR
#endif

struct plugin_name_args {
  char *base_name;
  const char *full_name;
  int argc;
  void *argv;
  const char *version;
  const char *help;
};

struct plugin_gcc_version {
  const char *basever;
  const char *datestamp;
  const char *devphase;
  const char *revision;
  const char *configuration_arguments;
};

#define EXPORTED __attribute__((visibility("default")))

typedef int init_function(struct plugin_name_args *, struct plugin_gcc_version *);

EXPORTED int plugin_is_GPL_compatible;
EXPORTED init_function plugin_init;

/* clang takes -fplugin= too, loads the file, finds no pass of its own in it and says nothing. A
   compiler ends here; a tool that only reads code, as an editor has, goes on. */
__attribute__((constructor)) static void refuse_clang(void) {
  char program[PATH_MAX];
  if (!dlsym(RTLD_DEFAULT, "_ZTVN5clang14FrontendActionE") ||
      dlsym(RTLD_DEFAULT, "plugin_default_version_check"))
    return;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = '\0';
  const char *name = strrchr(program, '/');
  name = name ? name + 1 : program;
  int compiles = !strncmp(name, "clang", 5) && (!name[5] || strchr("-+.0123456789", name[5])) &&
                 (name[5] != '-' || (name[6] >= '0' && name[6] <= '9'));
  fprintf(
      stderr,
      "%s: aprof.so is a plugin for GCC, and clang does not profile by it: compile with gcc, or "
      "without -fplugin=aprof.so and -fplugin-arg-aprof-* (for clangd, .clangd: "
      "CompileFlags: Remove: [-fplugin*])\n",
      compiles ? "error" : "warning");
  if (compiles)
    _exit(1);
}

/* The directory of this file, links resolved. */
static int own_directory(char *directory) {
  Dl_info info;
  char *slash;
  if (!dladdr(&plugin_is_GPL_compatible, &info) || !info.dli_fname ||
      !realpath(info.dli_fname, directory) || !(slash = strrchr(directory, '/')))
    return 0;
  *slash = '\0';
  return 1;
}

/* The plugin for `major`: beside this file, below it, or where it was installed. */
static int find_plugin(int major, char *path, size_t size) {
  char own[PATH_MAX];
  static const char *const below[] = {"", "/aprof"};
  for (int i = 0; i < 2 && own_directory(own); i++) {
    snprintf(path, size, "%s%s/aprof-gcc%d.so", own, below[i], major);
    if (access(path, R_OK) == 0)
      return 1;
  }
  snprintf(path, size, "%s/aprof-gcc%d.so", INSTALLED_DIR, major);
  return access(path, R_OK) == 0;
}

/* One line in GCC's own form, after which the compilation is over. */
static int fail(const char *message) {
  typedef void fatal_function(unsigned long location, const char *format, ...);
  fatal_function *fatal = (fatal_function *)dlsym(RTLD_DEFAULT, "_Z11fatal_errorjPKcz");
  if (!fatal)
    fatal = (fatal_function *)dlsym(RTLD_DEFAULT, "_Z11fatal_errormPKcz");
  if (fatal)
    fatal(0, "%s", message);
  fprintf(stderr, "aprof: error: %s\n", message);
  return 1;
}

int plugin_init(struct plugin_name_args *arguments, struct plugin_gcc_version *running) {
  char path[PATH_MAX + 64], message[PATH_MAX + 512];
  int major = atoi(running->basever);
  if (!find_plugin(major, path, sizeof path)) {
    snprintf(message, sizeof message,
             "aprof has no plugin for GCC %s (no aprof-gcc%d.so): install one, or compile without "
             "-fplugin=%s",
             running->basever, major, arguments->base_name);
    return fail(message);
  }
  /* Lazily: lto1 and the other compilers lack what only the C family offers. */
  void *plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  init_function *init = plugin ? (init_function *)dlsym(plugin, "plugin_init") : NULL;
  if (!init) {
    snprintf(message, sizeof message, "the aprof plugin for GCC %s cannot be used: %s",
             running->basever, dlerror());
    return fail(message);
  }
  return init(arguments, running);
}
