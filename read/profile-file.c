/* SPDX-License-Identifier: MIT */
/* What stands in the file of a profile, and whether it is one; see profile.h. */
#include "profile-copy.h"

#include "util.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t profile_read_at(int fd, void *to, size_t length, uint64_t offset) {
  size_t done = 0;
  while (done < length) {
    ssize_t got = pread(fd, (char *)to + done, length - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += (size_t)got;
  }
  return done;
}

static const char *header_fault(const struct aprof_header *header, size_t got) {
  if (got >= sizeof header->magic && memcmp(header->magic, APROF_PROFILE_MAGIC, 8) &&
      memcmp(header->magic, "\0\0\0\0\0\0\0\0", 8))
    return header->magic[0] == '{'
               ? "is not a profile; if it is totals, `aprof report` shows them, and "
                 "`aprof record` makes recordings"
               : "is not a profile";
  if (got < sizeof *header)
    return "is shorter than a profile's header";
  if (memcmp(header->magic, "\0\0\0\0\0\0\0\0", 8) == 0)
    return "was not finished when its process ended: there is nothing in it";
  if (header->version != APROF_PROFILE_VERSION)
    return "was written by another version of aprof; read it with that version's command";
  if (header->header_size != APROF_HEADER_SIZE)
    return "is damaged: its header has an impossible size";
  if (header->clock_source < APROF_CLOCK_TSC || header->clock_source > APROF_CLOCK_VIRTUAL)
    return "is damaged: it names a clock that does not exist";
  return NULL;
}

enum profile_kind profile_kind(int fd) {
  struct {
    char magic[8];
    uint32_t version;
  } begin = {.version = 0};
  if (profile_read_at(fd, &begin, sizeof begin, 0) < sizeof begin)
    return PROFILE_DAMAGED;
  if (memcmp(begin.magic, "\0\0\0\0\0\0\0\0", 8) == 0)
    return PROFILE_UNFINISHED;
  if (memcmp(begin.magic, APROF_PROFILE_MAGIC, 8))
    return PROFILE_DAMAGED;
  return begin.version == APROF_PROFILE_VERSION ? PROFILE_OURS : PROFILE_OTHER_VERSION;
}

bool profile_read_header(int fd, const char *what, struct aprof_header *header, bool quiet) {
  memset(header, 0, sizeof *header);
  struct stat st;
  const char *fault = NULL;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode))
    fault = "is not a regular file";
  else
    fault = header_fault(header, profile_read_at(fd, header, sizeof *header, 0));
  if (fault) {
    if (!quiet)
      complain("%s %s", what, fault);
    return false;
  }
  header->boot_id[sizeof header->boot_id - 1] = 0;
  header->host[sizeof header->host - 1] = 0;
  header->command[sizeof header->command - 1] = 0;
  header->dir[sizeof header->dir - 1] = 0;
  header->name[sizeof header->name - 1] = 0;
  header->refused_name[sizeof header->refused_name - 1] = 0;
  header->aprof[sizeof header->aprof - 1] = 0;
  header->container[sizeof header->container - 1] = 0;
  if (header->build_id_length > sizeof header->build_id)
    header->build_id_length = 0;
  return true;
}
