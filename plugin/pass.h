/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pass: walks a function before it is lowered and instruments it.
 *
 *     void serve (struct req *r)             void serve (struct req *r)
 *     {                                      {
 *       wait_for (r);                          open tok: enter (site, &tok, serve);
 *     }                                        try {
 *                                                { open t: suspend (site2, &t);
 *                                                  wait_for (r);
 *                                                  close t: resume (&t); }
 *                                              } finally {
 *                                                close tok: leave (&tok, how);
 *                                              }
 *                                            }
 *
 * It sits after *warn_unused_result, the first of the lowering passes: the body
 * is still structured GIMPLE, so that exception regions, the CFG and the call
 * graph are all made afterwards from what stands here, and the program's own
 * warnings are as they would be.
 *
 * To debug: -fdump-tree-gimple shows a function before it, -fdump-tree-lower after
 * it; -fplugin-arg-aprof-verbose says what matched what.
 */
#ifndef APROF_PLUGIN_PASS_H
#define APROF_PLUGIN_PASS_H

namespace aprof {

void pass_register(const char *plugin_name);

} // namespace aprof

#endif
