/*
 * Makes the first seeds of the profile target:
 *   seeds DIRECTORY [PROFILE...]    the synthetic one, and each PROFILE as an image
 *   seeds --expand IMAGE FILE       the other way round, to look at what was found
 */
#include "sparse.h"
#include "synthetic.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *path) {
  perror(path);
  exit(1);
}

static uint8_t *read_file(const char *path, size_t *length) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st))
    fail(path);
  uint8_t *bytes = malloc((size_t)st.st_size + 1);
  ssize_t got = read(fd, bytes, (size_t)st.st_size);
  if (got < 0)
    fail(path);
  *length = (size_t)got;
  close(fd);
  return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t length) {
  FILE *out = fopen(path, "we");
  if (!out || fwrite(bytes, 1, length, out) != length || fclose(out))
    fail(path);
}

static void write_image(const char *directory, const char *name, const uint8_t *bytes,
                        size_t length) {
  char path[4096];
  size_t size;
  uint8_t *image = sparse_pack(bytes, length < SPARSE_LIMIT ? length : SPARSE_LIMIT, &size);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  write_file(path, image, size);
  free(image);
}

/* What tells of the machine that it was made on goes, and what lies behind its end. */
static size_t scrub(uint8_t *bytes, size_t length) {
  struct aprof_header header;
  if (length < sizeof header)
    return length;
  memcpy(&header, bytes, sizeof header);
  memset(header.boot_id, 0, sizeof header.boot_id);
  memset(header.host, 0, sizeof header.host);
  memset(header.dir, 0, sizeof header.dir);
  memset(header.container, 0, sizeof header.container);
  strcpy(header.host, "host");
  strcpy(header.dir, "/tmp");
  memcpy(bytes, &header, sizeof header);
  return header.used < length ? (size_t)header.used : length;
}

static void expand(const char *from, const char *to) {
  size_t size, length;
  char path[64];
  uint8_t *image = read_file(from, &size);
  int fd = sparse_expand(image, size);
  if (fd < 0)
    fail(from);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  uint8_t *bytes = read_file(path, &length);
  write_file(to, bytes, length);
  free(bytes);
  free(image);
  close(fd);
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "--expand")) {
    expand(argv[2], argv[3]);
    return 0;
  }
  if (argc < 2) {
    fprintf(stderr, "usage: seeds DIRECTORY [PROFILE...] | seeds --expand IMAGE FILE\n");
    return 2;
  }
  struct synthetic *s = synthetic_rich();
  write_image(argv[1], "synthetic", s->bytes, s->header->used);
  free(s);
  for (int i = 2; i < argc; i++) {
    size_t length;
    uint8_t *bytes = read_file(argv[i], &length);
    const char *base = strrchr(argv[i], '/');
    write_image(argv[1], base ? base + 1 : argv[i], bytes, scrub(bytes, length));
    free(bytes);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
