# SPDX-License-Identifier: MIT
# APROF_NEEDS(VARIABLE, PKG-CONFIG-MODULE, DEBIAN-PACKAGE, WHAT-FOR)
# Sets VARIABLE_CFLAGS and VARIABLE_LIBS; a missing module is an error that
# names the package.
AC_DEFUN([APROF_NEEDS],
  [PKG_CHECK_MODULES([$1], [$2], [],
    [AC_MSG_ERROR([$2 is missing (Debian: $3), needed for $4])])])

# APROF_TRY_CFLAGS(VARIABLE, FLAGS)
# Sets VARIABLE to those of FLAGS that the C compiler takes.
AC_DEFUN([APROF_TRY_CFLAGS],
  [aprof_save_CFLAGS=$CFLAGS
  $1=
  for aprof_flag in $2; do
    CFLAGS="$aprof_save_CFLAGS -Werror $aprof_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [$1="$$1 $aprof_flag"])
  done
  CFLAGS=$aprof_save_CFLAGS
  AC_SUBST([$1])])
