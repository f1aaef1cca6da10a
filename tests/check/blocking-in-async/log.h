/* SPDX-License-Identifier: MIT */
#ifdef __cplusplus
extern "C" {
#endif
void audit(long count);
void store(int descriptor);
void save(int descriptor);
#ifdef __cplusplus
}
#endif
