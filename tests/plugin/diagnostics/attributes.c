/* Mistakes in attributes: the caret stands under the word. */
#define A(text) __attribute__((aprof(text)))
#define APROF_ASYNC A("asink")

A("awiat") void verb(void);
A("await call:f") void named(void);
__attribute__((aprof("create key=a0 fn=a1 onse"))) void word(void *, void (*)(void));
__attribute__((aprof("run ky=a0"))) void typo(void *);
A("run key=%0") void value(void *);
A("run key=a0->") void field(void *);
A("run key=(a0,a1") void tuple(void *);
A("run key=") void empty_key(void *);
A("run key=a0 once multi") void words(void *);
A("run key=a0 key=a1") void again(void *);
A("run key=a0 once=a0==%") void constant(void *);
A("run key=a0 polling=1 once") void polling(void *);
A("switch") void switch_where(void *);
A("run icall: key=a0") void icall(void *);
A("run where: key=a0") void place(void *);
A("run") void no_key(void *);
A("run key=cur") void cur(void *);
A("run call: key=ret") void *ret(void);
A("create key=cur") void *create_cur(void);
A("await when=ret==0") int when(void);
A("await key=a0") int key(void *);
A("async multi") void async_word(void);
A("create key=a0 | run key=a0") void no_fn(void *);
A("create key=a0 fn=a1 | await") void no_run(void *, void (*)(void));
A("end key=a0 how=lost") void how(void *);
A("wake key=o:obj") void obj(void *);
A("") void empty(void);
A("create due=a0:hours") void due(int);
A("create due=ret:ms") int due_ret(int);
A("blocking key=a0") void blocking(int);
A("create worker") void worker(int);
A("run key=any:a0") void any(void *);
A("end key=owner(a0,struct x)") void owner(void *);
A("await") int variable;
A("await") struct s;
__attribute__((aprof(1))) void no_string(void);
__attribute__((aprof)) void no_argument(void);
APROF_ASYNC void by_macro(void);
A("run key=a0 pending=1") void no_return(void *x) { (void)x; }
int *A("await") between;
int *A("await") *behind_one_star(void);
/* SPDX-License-Identifier: MIT */
