/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls without libc: the same functions under names of our own.
 *
 * Why: a program may define read, access or getenv itself, as ISO C allows, or have a
 * library that hooks them for its coroutines; the linker then gives it to us, and the program's
 * code runs in the middle of an event. So may a preloaded library, which can be over before the
 * program's last destructor. What libc alone can do (its threads' keys and cancellation, the
 * loader's list of modules, at_quick_exit) is still asked of it.
 * Cost: a system call. Locking: none; async-signal-safe. Errors: as libc's, in errno.
 * Where the compiler or the kernel's interface is not known here, libc's own are used.
 * Include it before any use; rt.h does.
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

char *getenv(const char *name) OWN(getenv);
unsigned long strtoul(const char *restrict text, char **restrict end, int base) OWN(strtoul);

#if defined __x86_64__ && defined __LP64__
long syscall(long number, ...) OWN(syscall);
int access(const char *path, int mode) OWN(access);
int close(int fd) OWN(close);
int fallocate(int fd, int mode, off_t from, off_t size) OWN(fallocate);
int fcntl(int fd, int command, ...) OWN(fcntl);
int flock(int fd, int how) OWN(flock);
int ftruncate(int fd, off_t size) OWN(ftruncate);
char *getcwd(char *to, size_t size) OWN(getcwd);
uid_t geteuid(void) OWN(geteuid);
int gethostname(char *to, size_t size) OWN(gethostname);
pid_t getpid(void) OWN(getpid);
pid_t getppid(void) OWN(getppid);
int getrlimit(__rlimit_resource_t which, struct rlimit *limit) OWN(getrlimit);
int kill(pid_t pid, int number) OWN(kill);
int madvise(void *at, size_t size, int advice) OWN(madvise);
int memfd_create(const char *name, unsigned flags) OWN(memfd_create);
int mkdir(const char *path, mode_t mode) OWN(mkdir);
void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t from) OWN(mmap);
int mprotect(void *at, size_t size, int rights) OWN(mprotect);
void *mremap(void *at, size_t size, size_t wanted, int flags, ...) OWN(mremap);
int munmap(void *at, size_t size) OWN(munmap);
int open(const char *path, int flags, ...) OWN(open);
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long tos,
                         const struct iovec *from, unsigned long froms, unsigned long flags)
    OWN(process_vm_readv);
ssize_t pwrite(int fd, const void *from, size_t size, off_t at) OWN(pwrite);
ssize_t read(int fd, void *to, size_t size) OWN(read);
ssize_t readlink(const char *restrict path, char *restrict to, size_t size) OWN(readlink);
int sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
    OWN(sigaction);
int sigaltstack(const stack_t *restrict new, stack_t *restrict old) OWN(sigaltstack);
int sigfillset(sigset_t *set) OWN(sigfillset);
/* What handlers return to that are installed by it, and what the kernel knows of them. */
void kernel_restorer(void) OWN(restorer);
#define KERNEL_RESTORER 0x04000000u
struct kernel_action {
  uint64_t handler, flags, restorer, mask;
};
int statfs(const char *path, struct statfs *fs) OWN(statfs);
int unlink(const char *path) OWN(unlink);
int usleep(useconds_t us) OWN(usleep);
ssize_t write(int fd, const void *from, size_t size) OWN(write);
#endif

#undef OWN

/* The beginning of a file, as text; its length, 0 where there is none. Opens, reads and closes, as
   the loader has done before, and makes no other call. */
size_t kernel_read_file(const char *path, char *to, size_t room)
    __attribute__((visibility("hidden")));

#endif
