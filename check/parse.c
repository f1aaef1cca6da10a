/* SPDX-License-Identifier: MIT */
/* The preprocessor, and libclang's parser behind it; see parse.h. */
#include "parse.h"

#include "read/util.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The standard of C++ is none for C: flags may be those of files of both. */
static bool is_ours(const struct unit *unit, const char *flag) {
  return strncmp(flag, "-std=", 5) || (strstr(flag, "++") != NULL) == unit->cxx;
}

char *parse_text(const struct unit *unit, size_t *length, bool *failed) {
  const char **args = allocate(unit->flags + 16, sizeof *args);
  size_t n = 0;
  int out[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), status;
  pid_t pid;
  args[n++] = APROF_CLANG;
  args[n++] = "-E";
  args[n++] = "-w";
  args[n++] = "-DAPROF_ANNOTATE";
  args[n++] = "-x";
  args[n++] = unit->cxx ? "c++" : "c";
  for (size_t i = 0; i < unit->flags; i++)
    if (is_ours(unit, unit->flag[i]))
      args[n++] = unit->flag[i];
  args[n++] = unit->source;
  if (null < 0 || pipe2(out, O_CLOEXEC))
    return NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, null, STDERR_FILENO);
  int error = posix_spawnp(&pid, args[0], &actions, NULL, (char *const *)args, environ);
  close(out[1]);
  if (error)
    return NULL;
  char *text = read_stream(out[0], (size_t)1 << 30, length);
  waitpid(pid, &status, 0);
  *failed = !WIFEXITED(status) || WEXITSTATUS(status);
  return text;
}

CXTranslationUnit parse_tree(const struct unit *unit, const char *text, size_t length) {
  const char **args = allocate(unit->flags + 8, sizeof *args);
  int n = 0;
  args[n++] = "-x";
  args[n++] = unit->cxx ? "c++-cpp-output" : "cpp-output";
  args[n++] = "-w";
  args[n++] = "-ferror-limit=0";
  for (size_t i = 0; i < unit->flags; i++)
    if (!is_ours(unit, unit->flag[i]))
      continue;
    else if (!strncmp(unit->flag[i], "-std", 4) || !strncmp(unit->flag[i], "-f", 2) ||
             !strncmp(unit->flag[i], "-m", 2))
      args[n++] = unit->flag[i];
  struct CXUnsavedFile file = {unit->cxx ? "unit.ii" : "unit.i", text, length};
  CXTranslationUnit tree;
  enum CXErrorCode error =
      clang_parseTranslationUnit2(clang_createIndex(0, 0), file.Filename, args, n, &file, 1,
                                  CXTranslationUnit_KeepGoing, &tree);
  return error == CXError_Success ? tree : NULL;
}
