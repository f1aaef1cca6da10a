/* SPDX-License-Identifier: MIT */
/* Lines of the source; see check-source.h. */
#include "check-source.h"

#include "read/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *source_line(struct source *s, const struct check_place *at) {
  if (!s->file || strcmp(s->file, at->file)) {
    free(s->text);
    s->file = at->file;
    s->text = read_text_file(at->file, (size_t)64 << 20, &(size_t){0});
  }
  const char *line = s->text;
  for (unsigned n = 1; line && n < at->line; n++) {
    line = strchr(line, '\n');
    line += line != NULL;
  }
  return line ? print_string("%.*s", (int)strcspn(line, "\r\n"), line) : NULL;
}

static bool is_of_name(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

size_t source_column(const char *line, const char *word, size_t *width) {
  size_t length = strlen(word);
  for (const char *at = strstr(line, word); at; at = strstr(at + 1, word))
    if ((at == line || !is_of_name(at[-1])) && !is_of_name(at[length])) {
      *width = length;
      return (size_t)(at - line);
    }
  *width = 1;
  return strspn(line, " \t");
}
