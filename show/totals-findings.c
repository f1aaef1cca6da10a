/* Totals: findings, by the limits that a report has without options; see totals.h. */
#include "read/json.h"
#include "read/util.h"
#include "read/verify.h"
#include "report.h"
#include "totals.h"

#include <stdlib.h>
#include <string.h>

void totals_findings(const char *body, const char *live, FILE *out) {
  char *fault = NULL, *text = print_string("%s, \"tree\": [], \"live\": [%s]}", body, live);
  cJSON *json = json_parse(text, strlen(text), &fault);
  free(text);
  /* Numbers of a damaged profile may be beyond all that a reader takes. */
  if (!json || fault || (fault = verify_fields(json))) {
    free(fault);
    cJSON_Delete(json);
    return;
  }
  struct view *v = view_new(json, "the profile");
  size_t count;
  struct finding *findings = ask_findings(v, &report_defaults.limits, &count);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, finding_json(&findings[i]));
  }
  if (count)
    fputc('\n', out);
  findings_free(findings, count);
  view_free(v);
}
