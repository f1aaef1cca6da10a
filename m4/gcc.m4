# SPDX-License-Identifier: MIT
# APROF_FIND_GCCS
# Finds every GCC that a plugin must be built for: gcc-11, gcc-12, ... and the
# plain gcc. Sets
#   GCC_MAJORS       "11 12"
#   GCC_COMPILERS    "11:gcc-11 12:gcc-12"
#   GXX_COMPILERS    "11:g++-11 12:g++-12"
#   GCC_PLUGIN_DIRS  "11:/usr/lib/gcc/.../11/plugin ..."
# A GCC without the headers of its plugins is an error, because code that it
# compiles could not be profiled; --with-gcc leaves it out.
AC_DEFUN([APROF_FIND_GCCS], [
AC_ARG_WITH([gcc],
  [AS_HELP_STRING([--with-gcc="11 12"],
    [build plugins for these GCC majors only (default: all found, from 11 on)])], [],
  [with_gcc=all])
AC_ARG_WITH([gcc-links],
  [AS_HELP_STRING([--without-gcc-links],
    [do not link aprof.so into each GCC's plugin directory (-fplugin=aprof) at make install])], [],
  [with_gcc_links=yes])
AM_CONDITIONAL([GCC_LINKS], [test "$with_gcc_links" != no])

GCC_MAJORS= GCC_COMPILERS= GXX_COMPILERS= GCC_PLUGIN_DIRS=
for aprof_n in 11 12 13 14 15 16 17 18 19 ""; do
  aprof_gcc=gcc${aprof_n:+-$aprof_n}
  command -v "$aprof_gcc" >/dev/null 2>&1 || continue
  AC_MSG_CHECKING([for plugins of $aprof_gcc])
  aprof_major=`$aprof_gcc -dumpversion 2>/dev/null | $SED 's/\..*//'`
  AS_CASE([$aprof_major], [''|*[[!0-9]]*],
    [AC_MSG_RESULT([not a GCC])
    continue])
  AS_CASE([" $GCC_MAJORS "], [*" $aprof_major "*],
    [AC_MSG_RESULT([GCC $aprof_major, seen])
    continue])
  AS_IF([test "$aprof_major" -lt 11],
    [AC_MSG_RESULT([GCC $aprof_major is too old, left out (11 is the oldest)])
    continue])
  AS_CASE([" $with_gcc "], [" all " | *" $aprof_major "*], [],
    [AC_MSG_RESULT([left out])
    continue])
  aprof_dir=`$aprof_gcc -print-file-name=plugin`
  AS_IF([test ! -f "$aprof_dir/include/gcc-plugin.h"],
    [AC_MSG_RESULT([no headers])
    AC_MSG_ERROR([$aprof_gcc has no plugin headers: install them (Debian: gcc-$aprof_major-plugin-dev) or leave this GCC out (--with-gcc="MAJORS")])])
  aprof_gxx=g++${aprof_n:+-$aprof_n}
  AS_IF([command -v "$aprof_gxx" >/dev/null 2>&1], [],
    [AC_MSG_RESULT([no $aprof_gxx])
    AC_MSG_ERROR([$aprof_gxx is missing, which builds the plugin of $aprof_gcc: install it (Debian: g++-$aprof_major) or leave this GCC out (--with-gcc="MAJORS")])])
  AC_MSG_RESULT([GCC $aprof_major, $aprof_dir])
  GCC_MAJORS="$GCC_MAJORS${GCC_MAJORS:+ }$aprof_major"
  GCC_COMPILERS="$GCC_COMPILERS${GCC_COMPILERS:+ }$aprof_major:$aprof_gcc"
  GXX_COMPILERS="$GXX_COMPILERS${GXX_COMPILERS:+ }$aprof_major:$aprof_gxx"
  GCC_PLUGIN_DIRS="$GCC_PLUGIN_DIRS${GCC_PLUGIN_DIRS:+ }$aprof_major:$aprof_dir"
done
AS_IF([test -z "$GCC_MAJORS"],
  [AC_MSG_ERROR([no GCC from 11 on was found to build a plugin for (Debian: gcc g++ gcc-12-plugin-dev)])])
AC_SUBST([GCC_MAJORS])
AC_SUBST([GCC_COMPILERS])
AC_SUBST([GXX_COMPILERS])
AC_SUBST([GCC_PLUGIN_DIRS])

# Can $CC itself load one? Examples are compiled with the plugin if so.
AC_MSG_CHECKING([whether $CC has a plugin])
aprof_major=`$CC -dumpversion 2>/dev/null | $SED 's/\..*//'`
aprof_cc_plugin=no
AS_IF([$CC -v 2>&1 | grep '^gcc version' >/dev/null],
  [AS_CASE([" $GCC_MAJORS "], [*" $aprof_major "*], [aprof_cc_plugin=yes])])
AC_MSG_RESULT([$aprof_cc_plugin])
AM_CONDITIONAL([CC_PLUGIN], [test "$aprof_cc_plugin" = yes])
])
