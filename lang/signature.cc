/* SPDX-License-Identifier: MIT */
/* Signatures as texts; see signature.h. */
#include "signature.h"

#include <cctype>

namespace aprof {

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Without tags, and with blanks only where they part two words. */
static std::string plain(const std::string &type) {
  std::string to, word;
  auto end_word = [&] {
    if (word != "struct" && word != "union" && word != "enum" && !word.empty()) {
      if (!to.empty() && is_word(to.back()))
        to += ' ';
      to += word;
    }
    word.clear();
  };
  for (char c : type) {
    if (is_word(c)) {
      word += c;
      continue;
    }
    end_word();
    if (!isspace((unsigned char)c))
      to += c;
  }
  end_word();
  return to;
}

bool signature_matches(const std::string &pattern, const std::string &type) {
  std::string p = plain(pattern), t = plain(type);
  size_t any = p.rfind("...)");
  if (any == std::string::npos || any + 4 != p.size())
    return p == t || (p.size() > 2 && p.compare(p.size() - 2, 2, "()") == 0 &&
                      p.substr(0, p.size() - 1) + "void)" == t);
  std::string front = p.substr(0, any);
  if (!front.empty() && front.back() == ',')
    front.pop_back();
  return t.compare(0, front.size(), front) == 0 && t.size() > front.size() &&
         (t[front.size()] == ',' || t[front.size()] == ')');
}

} // namespace aprof
