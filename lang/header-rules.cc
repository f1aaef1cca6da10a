/* SPDX-License-Identifier: MIT */
/* Headers and the files that are about them; see header-rules.h. */
#include "header-rules.h"

#include <algorithm>
#include <cstring>

namespace aprof {

std::string strip_comment(const std::string &line, size_t *indent) {
  size_t begin = 0, end = line.size();
  while (begin < end && strchr(" \t\r", line[begin]))
    begin++;
  char quote = 0;
  for (size_t i = begin; i < end; i++) {
    char c = line[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || (c == '/' && i > 0 && line[i - 1] == ':')) {
      quote = c;
    } else if (c == '#' && (i == begin || strchr(" \t", line[i - 1]))) {
      end = i;
    }
  }
  while (end > begin && strchr(" \t\r", line[end - 1]))
    end--;
  *indent = begin;
  return line.substr(begin, end - begin);
}

int read_header(const std::string &text, HeaderPath *header) {
  size_t end = text.find_first_of(" \t");
  header->beside = text.compare(0, end, "beside") == 0;
  if (!header->beside && text.compare(0, end, "header") != 0)
    return 0;
  size_t begin = text.find_first_not_of(" \t", end);
  if (begin == std::string::npos || text.find_first_of(" \t", begin) != std::string::npos)
    return -1;
  header->path = text.substr(begin);
  return 1;
}

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Of all the text only lines that begin so are looked at. */
void header_rules_add(HeaderRules *rules, Library *library) {
  const std::string &text = library->text;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    while (text[begin] == ' ' || text[begin] == '\t')
      begin++;
    size_t indent;
    HeaderPath header;
    const char *line = text.c_str() + begin;
    if ((strncmp(line, "header", 6) == 0 || strncmp(line, "beside", 6) == 0) &&
        read_header(strip_comment(text.substr(begin, end - begin), &indent), &header) > 0)
      (*rules)[last_part(header.path.c_str())].push_back({header.path, library, header.beside});
  }
}

static bool path_ends_in(const char *path, const std::string &header) {
  size_t length = strlen(path), tail = header.size();
  return length >= tail && strcmp(path + length - tail, header.c_str()) == 0 &&
         (length == tail || path[length - tail - 1] == '/');
}

std::vector<Header> header_rules_of(const HeaderRules &rules, const char *file) {
  std::vector<Header> hits;
  auto candidates = rules.find(last_part(file));
  if (candidates == rules.end())
    return hits;
  for (const Header &header : candidates->second) {
    auto same = [&](const Header &hit) { return hit.library == header.library; };
    if (!path_ends_in(file, header.path))
      continue;
    auto known = std::find_if(hits.begin(), hits.end(), same);
    if (known == hits.end())
      hits.push_back(header);
    else
      known->beside &= header.beside;
  }
  return hits;
}

} // namespace aprof
