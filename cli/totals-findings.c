/* Totals: findings, by the limits that a report has without options; see totals.h. */
#include "cli.h"
#include "json.h"
#include "report.h"
#include "totals.h"

#include <stdlib.h>
#include <string.h>

void totals_findings(const char *body, const char *live, FILE *out) {
  char *text = print_string("%s, \"tree\": [], \"live\": [%s]}", body, live);
  struct reading *r = reading_parse(text, strlen(text), "the profile");
  free(text);
  if (!r)
    return;
  size_t count;
  struct finding *findings = report_findings(r, NULL, &report_defaults.limits, &count);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, finding_json(&findings[i]));
  }
  if (count)
    fputc('\n', out);
  report_findings_free(findings, count);
  reading_free(r);
}
