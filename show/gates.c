/* SPDX-License-Identifier: MIT */
/* Gates as an option; see gates.h. */
#include "gates.h"

#include "format.h"
#include "read/util.h"

#include <stdlib.h>

char *gates_take(struct gates *gates, const char *text, bool compares) {
  char *why;
  if (gates->count == GATES)
    return print_string("%d gates at most", GATES);
  if (gate_parse(text, compares, &gates->gate[gates->count], &why)) {
    gates->count++;
    return NULL;
  }
  gate_release(&gates->gate[gates->count]);
  return why;
}

struct gate_result *gates_judge(const struct gates *gates, const struct diff *d,
                                const struct ask_limits *limits) {
  struct gate_result *result = allocate(gates->count + 1, sizeof *result);
  for (size_t i = 0; i < gates->count; i++)
    result[i] = gate_judge(d, &gates->gate[i], limits);
  return result;
}

int gates_say(const struct gate_result *result, size_t count) {
  int status = 0;
  for (size_t i = 0; i < count; i++) {
    if (result[i].verdict == GATE_PASSED)
      continue;
    bool failed = result[i].verdict == GATE_FAILED;
    complain("%s%s", failed ? "failed: " : "", shown_sentence(result[i].text));
    status = failed ? GATES_FAILED : status ? status : GATES_CANNOT;
  }
  return status;
}

void gates_json(struct emit *e, const struct gate_result *result, size_t count) {
  static const char *const verdicts[] = {
      [GATE_PASSED] = "passed", [GATE_FAILED] = "failed", [GATE_CANNOT] = "cannot"};
  emit_list(e, "gates");
  for (size_t i = 0; i < count; i++) {
    const struct gate_result *r = &result[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "gate", r->gate->text);
    emit_text(e, "verdict", verdicts[r->verdict]);
    emit_number(e, "judged", r->judged);
    emit_number(e, "failed", r->failed);
    emit_text(e, "function", r->row ? r->row->name : NULL);
    emit_text(e, "callee", r->row ? r->row->callee : NULL);
    emit_text(e, "text", r->text.parts ? shown_sentence(r->text) : NULL);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

void gates_free(struct gate_result *result, size_t count) {
  for (size_t i = 0; result && i < count; i++)
    gate_result_release(&result[i]);
  free(result);
}

void gates_release(struct gates *gates) {
  for (size_t i = 0; i < gates->count; i++)
    gate_release(&gates->gate[i]);
  gates->count = 0;
}
