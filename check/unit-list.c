/* SPDX-License-Identifier: MIT */
/* The units of a program, from a compilation database or by name; see unit.h. */
#include "unit.h"

#include "read/json.h"
#include "read/util.h"

#include <clang-c/CXCompilationDatabase.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "a/./b/../c" is "a/c", as far as the text tells. */
static char *clean_path(const char *path) {
  char *copy = print_string("%s", path), *rest = copy, *part, *to = allocate(strlen(path) + 2, 1);
  while ((part = strsep(&rest, "/"))) {
    char *last = strrchr(to, '/');
    if (!*part || !strcmp(part, "."))
      continue;
    if (!strcmp(part, "..") && last)
      *last = 0;
    else if (strcmp(part, "..")) {
      strcat(to, "/");
      strcat(to, part);
    }
  }
  free(copy);
  return to;
}

const char *units_show(struct units *u, const char *directory, const char *path) {
  char *whole = *path == '/' ? print_string("%s", path) : print_string("%s/%s", directory, path);
  char *clean = clean_path(whole);
  size_t base = strlen(u->base);
  bool beneath = !strncmp(clean, u->base, base) && clean[base] == '/';
  const char *shown = arena_text(&u->arena, beneath ? clean + base + 1 : clean);
  free(clean);
  free(whole);
  return shown;
}

/* -- flags --------------------------------------------------------------------------------- */

/* Flags of a compiler that change what its source means; all others are left out. With a value, in
   the same word or the next one: */
static const char *const with_value[] = {
    "-I",         "-D", "-U",        "-include",  "-imacros", "-isystem",     "-iquote",
    "-idirafter", "-x", "-isysroot", "--sysroot", "-iprefix", "-iwithprefix", NULL};
static const char *const alone[] = {
    "-std=",         "-ansi",           "-nostdinc", "-pthread", "-fshort-enums", "-funsigned-char",
    "-fsigned-char", "-fms-extensions", "-m32",      "-m64",     "-mx32",         "-msse",
    "-mavx",         "-maes",           "-mpclmul",  "-mbmi",    "-mfma",         "-mf16c",
    "-mpopcnt",      "-mcx16",          "-fblocks",  NULL};

static const char *prefix_in(const char *const *list, const char *word) {
  for (; *list; list++)
    if (!strncmp(word, *list, strlen(*list)))
      return *list;
  return NULL;
}

void unit_add_flag(struct unit *unit, const char *flag) {
  unit->flag = ir_grow(unit->flag, unit->flags, sizeof *unit->flag);
  unit->flag[unit->flags++] = flag;
}

static void add_bindings(struct units *u, const char *directory, const char *value) {
  bool path = strchr(value, '/') || strstr(value, ".aprof");
  const char *name = path ? units_show(u, directory, value) : arena_text(&u->arena, value);
  for (size_t i = 0; i < u->bindings.count; i++)
    if (!strcmp(u->bindings.text[i], name))
      return;
  u->bindings.text = ir_grow(u->bindings.text, u->bindings.count, sizeof *u->bindings.text);
  u->bindings.text[u->bindings.count++] = name;
}

static void note_plugin(struct units *u, const char *directory, const char *word) {
  const char *value = strstr(word, "-bindings=");
  if (strncmp(word, "-fplugin-arg-aprof", 18) || !value)
    return;
  value += strlen("-bindings=");
  if (strcmp(value, "none"))
    add_bindings(u, directory, value);
}

static void read_flags(struct units *u, struct unit *unit, char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *word = words[i], *known = prefix_in(with_value, word);
    note_plugin(u, unit->directory, word);
    if (!strncmp(word, "-D_FORTIFY_SOURCE", 17))
      continue;
    if (known) {
      bool next = !strcmp(word, known);
      if (next && i + 1 >= count)
        break;
      const char *value = next ? words[++i] : word + strlen(known);
      if (!strcmp(known, "-x"))
        unit->cxx = !strncmp(value, "c++", 3);
      if (strcmp(known, "-x")) {
        unit_add_flag(unit, arena_text(&u->arena, word));
        if (next)
          unit_add_flag(unit, arena_text(&u->arena, value));
      }
    } else if (prefix_in(alone, word)) {
      unit_add_flag(unit, arena_text(&u->arena, word));
    }
  }
}

/* -- files ----------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *const *suffixes) {
  const char *dot = strrchr(name, '.');
  for (; dot && *suffixes; suffixes++)
    if (!strcmp(dot, *suffixes))
      return true;
  return false;
}

static bool is_cxx(const char *file, const char *compiler) {
  static const char *const suffixes[] = {".cc", ".cpp", ".cxx", ".C", ".c++", ".hpp", ".hh", NULL};
  const char *name = compiler && strrchr(compiler, '/') ? strrchr(compiler, '/') + 1 : compiler;
  return ends_in(file, suffixes) || (name && strstr(name, "++"));
}

static bool is_source(const char *file) {
  static const char *const others[] = {".s", ".S",   ".sx", ".asm", ".o",  ".rc",
                                       ".f", ".f90", ".m",  ".mm",  ".cu", NULL};
  return !ends_in(file, others);
}

static struct unit *add_unit(struct units *u) {
  u->unit = ir_grow(u->unit, u->count, sizeof *u->unit);
  struct unit *unit = &u->unit[u->count++];
  memset(unit, 0, sizeof *unit);
  return unit;
}

/* The paths are those of the current directory. */
static bool is_wanted(struct units *u, const char *shown, char *const *files, size_t count,
                      bool *found) {
  bool wanted = count == 0;
  for (size_t i = 0; i < count; i++)
    if (!strcmp(units_show(u, u->base, files[i]), shown))
      wanted = found[i] = true;
  return wanted;
}

static bool is_twice(const struct units *u, const char *shown) {
  for (size_t i = 0; i < u->count; i++)
    if (!strcmp(u->unit[i].file, shown))
      return true;
  return false;
}

static const char *kept(struct units *u, CXString string) {
  const char *text = arena_text(&u->arena, clang_getCString(string));
  clang_disposeString(string);
  return text;
}

static void add_command(struct units *u, CXCompileCommand command, char *const *files, size_t count,
                        bool *found) {
  const char *directory = kept(u, clang_CompileCommand_getDirectory(command));
  const char *source = kept(u, clang_CompileCommand_getFilename(command));
  const char *shown = units_show(u, directory, source);
  if (!is_source(source) || !is_wanted(u, shown, files, count, found) || is_twice(u, shown))
    return;
  unsigned words = clang_CompileCommand_getNumArgs(command);
  char **word = allocate(words + 1, sizeof *word);
  for (unsigned i = 0; i < words; i++)
    word[i] = (char *)kept(u, clang_CompileCommand_getArg(command, i));
  struct unit *unit = add_unit(u);
  unit->file = shown;
  unit->directory = directory;
  unit->source = source;
  unit->cxx = is_cxx(source, words ? word[0] : NULL);
  read_flags(u, unit, word + 1, words ? words - 1 : 0);
  free(word);
}

static const char have_it_written[] = "have CMake write it (-DCMAKE_EXPORT_COMPILE_COMMANDS=ON), "
                                      "meson does by itself, `bear -- make` "
                                      "for make; or name files, and their flags behind --";

/* libclang takes what is there of a file that was cut short, and says the rest in words of its
   own. */
static bool is_whole(const char *path) {
  size_t length;
  char *text = read_text_file(path, (size_t)1 << 30, &length), *fault = NULL;
  cJSON *json = text ? json_parse(text, length, &fault) : NULL;
  bool whole = cJSON_IsArray(json);
  if (!text)
    complain("%s cannot be read: %s", path, have_it_written);
  else if (!whole)
    complain("%s is damaged: it is %s; %s", path, json ? "no list of commands" : fault,
             have_it_written);
  json_free(json);
  free(fault);
  free(text);
  return whole;
}

bool units_of_database(struct units *u, const char *directory, char *const *files, size_t count) {
  CXCompilationDatabase_Error error = CXCompilationDatabase_CanNotLoadDatabase;
  CXCompilationDatabase database = NULL;
  char *path = print_string("%s/compile_commands.json", directory);
  if (!is_whole(path)) {
    free(path);
    return false;
  }
  database = clang_CompilationDatabase_fromDirectory(directory, &error);
  if (error != CXCompilationDatabase_NoError)
    complain("%s cannot be read: %s", path, have_it_written);
  free(path);
  if (error != CXCompilationDatabase_NoError)
    return false;
  CXCompileCommands all = clang_CompilationDatabase_getAllCompileCommands(database);
  bool *found = allocate(count + 1, sizeof *found), whole = true;
  for (unsigned i = 0; i < clang_CompileCommands_getSize(all); i++)
    add_command(u, clang_CompileCommands_getCommand(all, i), files, count, found);
  for (size_t i = 0; i < count; i++)
    if (!found[i]) {
      complain("%s is not in %s/compile_commands.json: name its flags behind --", files[i],
               directory);
      whole = false;
    }
  if (whole && !u->count)
    complain("%s/compile_commands.json names no C or C++ file", directory);
  free(found);
  clang_CompileCommands_dispose(all);
  clang_CompilationDatabase_dispose(database);
  return whole && u->count;
}

bool units_of_files(struct units *u, char *const *files, size_t count, char *const *flags,
                    size_t flag_count) {
  for (size_t i = 0; i < count; i++) {
    if (access(files[i], R_OK)) {
      complain("%s cannot be read: %m", files[i]);
      return false;
    }
    struct unit *unit = add_unit(u);
    unit->file = units_show(u, u->base, files[i]);
    unit->directory = u->base;
    unit->source = arena_text(&u->arena, files[i]);
    unit->cxx = is_cxx(files[i], NULL);
    read_flags(u, unit, flags, flag_count);
  }
  return true;
}
