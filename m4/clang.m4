dnl SPDX-License-Identifier: MIT
dnl APROF_FIND_LIBCLANG: CLANG_CFLAGS, CLANG_LIBS and CLANG (the command), for what reads programs
dnl without compiling them; the conditional LIBCLANG says whether it is there. libclang has no
dnl pkg-config file; Debian keeps one version beside the other in /usr/lib/llvm-N.
AC_DEFUN([APROF_FIND_LIBCLANG], [
  AC_ARG_WITH([libclang],
    [AS_HELP_STRING([--with-libclang=DIR], [where include/clang-c/Index.h and libclang are; without-: no aprof check])],
    [], [with_libclang=auto])
  CLANG_PREFIX=
  AS_CASE([$with_libclang],
    [no], [],
    [auto|yes], [for dir in `llvm-config --prefix 2>/dev/null` `ls -d /usr/lib/llvm-* 2>/dev/null | sort -t- -k2 -rn` /usr /usr/local; do
       AS_IF([test -z "$CLANG_PREFIX" && test -f "$dir/include/clang-c/Index.h"], [CLANG_PREFIX=$dir])
     done],
    [CLANG_PREFIX=$with_libclang])
  AS_IF([test -n "$CLANG_PREFIX"], [
    CLANG_CFLAGS="-isystem $CLANG_PREFIX/include"
    CLANG_LIBS="-L$CLANG_PREFIX/lib -lclang"
    saved_LIBS=$LIBS saved_CPPFLAGS=$CPPFLAGS
    LIBS="$CLANG_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $CLANG_CFLAGS"
    AC_MSG_CHECKING([for libclang in $CLANG_PREFIX])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <clang-c/Index.h>]], [[return !clang_createIndex(0, 0);]])],
      [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no]); CLANG_PREFIX=])
    LIBS=$saved_LIBS CPPFLAGS=$saved_CPPFLAGS])
  AS_IF([test -z "$CLANG_PREFIX"], [
    AS_IF([test "$with_libclang" = no], [],
      [test "$with_libclang" != auto], [AC_MSG_ERROR([no libclang is found (Debian: libclang-dev)])],
      [AC_MSG_WARN([no libclang is found (Debian: libclang-dev): the command is built without `aprof check'])])])
  CLANG=clang
  AS_IF([test -x "$CLANG_PREFIX/bin/clang"], [CLANG=$CLANG_PREFIX/bin/clang])
  AC_SUBST([CLANG_CFLAGS])
  AC_SUBST([CLANG_LIBS])
  AC_SUBST([CLANG])
  AM_CONDITIONAL([LIBCLANG], [test -n "$CLANG_PREFIX"])
])
