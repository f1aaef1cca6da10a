/* SPDX-License-Identifier: MIT */
#ifdef __cplusplus
extern "C" {
#endif
void ask(int question, void (*answer)(int));
void tell(const char *format, ...);
void wake_up(int question);
void unused(int question);
#ifdef __cplusplus
}
#endif
