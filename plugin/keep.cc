/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Roots for the garbage collector; see keep.h. */
#include "keep.h"

namespace aprof {

static tree kept;

tree keep(tree t) {
  kept = tree_cons(NULL_TREE, t, kept);
  return t;
}

void keep_init(const char *plugin_name) {
  static const ggc_root_tab roots[] = {
      {&kept, 1, sizeof kept, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, LAST_GGC_ROOT_TAB};
  register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, nullptr,
                    const_cast<ggc_root_tab *>(roots));
}

} // namespace aprof
