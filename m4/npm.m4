# SPDX-License-Identifier: MIT
# APROF_FIND_NPM
# Whether there is a page: PAGE is true where it can be bundled or is there already, BUNDLE where
# npm and a node that is new enough can make it. page_said tells which.
AC_DEFUN([APROF_FIND_NPM],
  [AC_PATH_PROG([NPM], [npm])
  AC_PATH_PROG([NODE], [node])
  page_bundle=no
  AS_IF([test -n "$NPM" && test -n "$NODE" &&
         "$NODE" -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' >/dev/null 2>&1],
    [page_bundle=yes])
  AS_CASE([$with_page,$page_bundle],
    [no,*], [page_bundle=no; page=no; page_said="no, by --without-page"],
    [*,yes], [page=yes; page_said="bundled by $NPM"],
    [AS_IF([test -f "$srcdir/web/page.html"],
      [page=yes; page_said="the one that came with the sources"],
      [page=no; page_said="no: npm and nodejs 18 or later are missing (Debian: nodejs npm)"])])
  AS_IF([test "$with_page,$page" = yes,no],
    [AC_MSG_ERROR([the page needs npm and nodejs 18 or later (Debian: nodejs npm)])])
  AC_SUBST([with_page])
  AM_CONDITIONAL([PAGE], [test "$page" = yes])
  AM_CONDITIONAL([BUNDLE], [test "$page_bundle" = yes])])
