/* Texts to what they say; see index.h. */
#include "index.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

void index_new(struct index *x, size_t room) {
  memset(x, 0, sizeof *x);
  x->key = allocate(room, sizeof *x->key);
  if (!hcreate_r(room * 2 + 16, &x->table)) {
    complain("out of memory while comparing totals");
    exit(CLI_FAILED);
  }
}

void index_free(struct index *x) {
  hdestroy_r(&x->table);
  for (size_t i = 0; i < x->keys; i++)
    free(x->key[i]);
  free(x->key);
}

void index_put(struct index *x, char *key, const void *value) {
  ENTRY entry = {.key = key, .data = (void *)value}, *found;
  x->key[x->keys++] = key;
  hsearch_r(entry, ENTER, &found, &x->table);
}

const void *index_get(struct index *x, char *key) {
  ENTRY entry = {.key = key}, *found = NULL;
  hsearch_r(entry, FIND, &found, &x->table);
  free(key);
  return found ? found->data : NULL;
}
