/* A bindings file with mistakes: file.aprof. */
int lib_call(int);
int f(void) { return lib_call(1); }
