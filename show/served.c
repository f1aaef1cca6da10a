/* SPDX-License-Identifier: MIT */
/* What is served beside views; see served.h. */
#include "served.h"

void served_form(bool wrong, FILE *out) {
  fprintf(out,
          "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>aprof</title>\n"
          "<h1>aprof</h1>\n<form method=\"post\" action=\"/login\">\n%s"
          "<p><label>Token <input type=\"password\" name=\"token\" autocomplete=\"off\" "
          "autofocus required maxlength=\"256\"></label> <button>Look</button>\n"
          "<p>It stands in the file that <code>aprof serve --token-file</code> was given, or where "
          "that was started.\n</form>\n</html>\n",
          wrong ? "<p role=\"alert\"><strong>That is not the token.</strong>\n" : "");
}
