/* SPDX-License-Identifier: MIT */
#ifdef __cplusplus
extern "C" {
#endif
void loop_watch(void (*callback)(void *), void *data);
void loop_defer(void (*callback)(void *), void *data);
void loop_each(void (*callback)(void *), void *data);
void loop_name(const char *name);
#ifdef __cplusplus
}
#endif
