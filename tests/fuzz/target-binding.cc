/*
 * Fuzz target: the binding grammar, as lines of a file and as attributes.
 *
 * Input: a bindings file, or an exclamation mark and the string of an attribute.
 * What is asked beyond surviving: a mistake says something, and lies within the text
 * (its end may be one behind it, where something is missing); a line means something.
 */
#include "lang/meaning.h"

#include <cstdlib>
#include <cstring>

using namespace aprof;

static void parse(const std::string &text, bool attribute) {
  Binding binding;
  Mistake mistake;
  if (binding_parse(text, attribute, &binding, &mistake)) {
    if (meaning_of(binding).empty())
      abort();
    return;
  }
  if (mistake.text.empty() || mistake.begin > text.size() || mistake.end > text.size() + 1 ||
      mistake.begin > mistake.end)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text((const char *)data, size);
  if (size && text[0] == '!') {
    parse(text.substr(1), true);
    return 0;
  }
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos)
      end = text.size();
    if (end > begin)
      parse(text.substr(begin, end - begin), false);
    begin = end + 1;
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
