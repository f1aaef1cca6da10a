/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls without libc: sys_open does what open(2) does.
 *
 * Why: a program may define read, access or getenv itself, as ISO C allows, or have a
 * library that hooks them for its coroutines; the linker then gives it to us, and the program's
 * code runs in the middle of an event. So may a preloaded library, which can be over before the
 * program's last destructor. What libc alone can do (its threads' keys and cancellation, the
 * loader's list of modules, at_quick_exit) is still asked of it.
 * Cost: a system call. Locking: none; async-signal-safe. Errors: as libc's, in errno.
 * Where the compiler or the kernel's interface is not known here, these are libc's own.
 */
#ifndef APROF_KERNEL_H
#define APROF_KERNEL_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OWN(name) __asm__("__aprof_own_" #name) __attribute__((visibility("hidden")))

char *sys_getenv(const char *name) OWN(getenv);
unsigned long sys_strtoul(const char *restrict text, char **restrict end, int base) OWN(strtoul);

#if defined __x86_64__ && defined __LP64__
long sys_call(long number, ...) OWN(syscall);
int sys_access(const char *path, int mode) OWN(access);
int sys_close(int fd) OWN(close);
int sys_fallocate(int fd, int mode, off_t from, off_t size) OWN(fallocate);
int sys_fcntl(int fd, int command, ...) OWN(fcntl);
int sys_flock(int fd, int how) OWN(flock);
int sys_ftruncate(int fd, off_t size) OWN(ftruncate);
char *sys_getcwd(char *to, size_t size) OWN(getcwd);
uid_t sys_geteuid(void) OWN(geteuid);
int sys_gethostname(char *to, size_t size) OWN(gethostname);
pid_t sys_getpid(void) OWN(getpid);
pid_t sys_getppid(void) OWN(getppid);
int sys_getrlimit(__rlimit_resource_t which, struct rlimit *limit) OWN(getrlimit);
int sys_kill(pid_t pid, int number) OWN(kill);
int sys_madvise(void *at, size_t size, int advice) OWN(madvise);
int sys_memfd_create(const char *name, unsigned flags) OWN(memfd_create);
int sys_mkdir(const char *path, mode_t mode) OWN(mkdir);
void *sys_mmap(void *at, size_t size, int rights, int flags, int fd, off_t from) OWN(mmap);
int sys_mprotect(void *at, size_t size, int rights) OWN(mprotect);
void *sys_mremap(void *at, size_t size, size_t wanted, int flags, ...) OWN(mremap);
int sys_munmap(void *at, size_t size) OWN(munmap);
int sys_open(const char *path, int flags, ...) OWN(open);
ssize_t sys_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long tos,
                             const struct iovec *from, unsigned long froms, unsigned long flags)
    OWN(process_vm_readv);
ssize_t sys_pwrite(int fd, const void *from, size_t size, off_t at) OWN(pwrite);
ssize_t sys_read(int fd, void *to, size_t size) OWN(read);
ssize_t sys_readlink(const char *restrict path, char *restrict to, size_t size) OWN(readlink);
int sys_sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
    OWN(sigaction);
int sys_sigaltstack(const stack_t *restrict new, stack_t *restrict old) OWN(sigaltstack);
int sys_sigfillset(sigset_t *set) OWN(sigfillset);
/* What handlers return to that are installed by it, and what the kernel knows of them. */
void sys_restorer(void) OWN(restorer);
#define KERNEL_RESTORER 0x04000000u
struct kernel_action {
  uint64_t handler, flags, restorer, mask;
};
int sys_statfs(const char *path, struct statfs *fs) OWN(statfs);
int sys_unlink(const char *path) OWN(unlink);
int sys_usleep(useconds_t us) OWN(usleep);
ssize_t sys_write(int fd, const void *from, size_t size) OWN(write);
#else
#define sys_call syscall
#define sys_access access
#define sys_close close
#define sys_fallocate fallocate
#define sys_fcntl fcntl
#define sys_flock flock
#define sys_ftruncate ftruncate
#define sys_getcwd getcwd
#define sys_geteuid geteuid
#define sys_gethostname gethostname
#define sys_getpid getpid
#define sys_getppid getppid
#define sys_getrlimit getrlimit
#define sys_kill kill
#define sys_madvise madvise
#define sys_memfd_create memfd_create
#define sys_mkdir mkdir
#define sys_mmap mmap
#define sys_mprotect mprotect
#define sys_mremap mremap
#define sys_munmap munmap
#define sys_open open
#define sys_process_vm_readv process_vm_readv
#define sys_pwrite pwrite
#define sys_read read
#define sys_readlink readlink
#define sys_sigaction sigaction
#define sys_sigaltstack sigaltstack
#define sys_sigfillset sigfillset
#define sys_statfs statfs
#define sys_unlink unlink
#define sys_usleep usleep
#define sys_write write
#endif

#undef OWN

/* The beginning of a file, as text; its length, 0 where there is none. Opens, reads and closes, as
   the loader has done before, and makes no other call. */
size_t sys_read_file(const char *path, char *to, size_t room) __attribute__((visibility("hidden")));

#endif
