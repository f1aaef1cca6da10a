/* SPDX-License-Identifier: MIT */
/* One program, twice; see alike.h. */
#include "alike.h"
#include "execute.h"
#include "reader.h"
#include "records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct alike_tally *alike_tally;

void alike_init(void) {
  alike_tally =
      mmap(NULL, sizeof *alike_tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (alike_tally == MAP_FAILED) {
    perror("random: mmap");
    exit(2);
  }
}

/* In this process, in which nothing has run. */
static bool run(const struct program *program, bool general, struct rows *rows) {
  static struct program mine;
  mine = *program;
  mine.general = general;
  if (!execute(&mine, rows))
    return false;
  records_rows(reader_find(), rows);
  return true;
}

#define TOLD 24 /* of what differs so many lines: the rest comes of it mostly */

static unsigned tell(struct rows *general, struct rows *fast, bool quiet) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  unsigned differ = rows_differ(general, fast, file);
  fclose(file);
  if (differ && !quiet) {
    fputs("random: what general events leave behind is expected:\n", stderr);
    char *line = text;
    for (unsigned i = 0; i < TOLD && line && *line; i++) {
      char *end = strchr(line, '\n');
      fprintf(stderr, "%.*s\n", (int)(end - line), line);
      line = end + 1;
    }
    if (differ > TOLD)
      fprintf(stderr, "  ... and %u more\n", differ - TOLD);
  }
  free(text);
  return differ;
}

static enum outcome both(const struct program *program, bool quiet) {
  struct rows fast = {0}, general = {0};
  FILE *between = tmpfile();
  if (!between)
    return BROKEN;
  pid_t other = fork();
  if (other == 0) {
    bool ran = run(program, true, &general);
    rows_print(&general, between);
    _exit(ran && fflush(between) == 0 ? 0 : 1);
  }
  int status = 0;
  if (other < 0 || !run(program, false, &fast))
    return BROKEN;
  while (waitpid(other, &status, 0) < 0)
    ;
  if (status != 0) {
    if (!quiet)
      fprintf(stderr, "random: by general events it ends with status %x\n", status);
    return BROKEN;
  }
  rewind(between);
  rows_read(&general, between);
  records_tally(reader_find(), &alike_tally->events, &alike_tally->fast);
  return tell(&general, &fast, quiet) ? DIFFER : AGREE;
}

enum outcome alike(const struct program *program, bool quiet) {
  return judged_apart(both, program, quiet);
}
