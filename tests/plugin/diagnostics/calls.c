/* Lines that do not fit what they are written on: the error is at the call, or
   at the function, and a note shows the line. */
#define A(text) __attribute__((aprof(text)))

struct hidden;
struct open {
  int id;
  struct open *next;
  unsigned bits : 3;
};

A("run call: key=a3") void missing(int a);
A("run call: key=a-2") void missing_from_end(int a);
A("run call: key=a0->id") void incomplete(struct hidden *);
A("run call: key=*a0") void behind_void(void *);
A("run call: key=a0->idd") void no_field(struct open *);
A("run call: key=*a0") void record(struct open *);
A("run call: key=a0") void floating(double);
A("run call: key=*a0") void no_pointer(int);
A("run call: key=here()") void undeclared(void);
A("run call: key=owner(a0,nowhere,id)") void no_struct(int *);
A("run call: key=owner(a0,open,it)") void no_member(int *);
A("run call: key=a0 pending=0") void void_pending(int);
A("run call: key=nowhere") void no_variable(void);
A("run call: key=(struct gone *)a0") void no_type(void *);
A("run call: key=(struct open *)a0->next") void which_one(struct open *);
A("run call: key=&a0->bits") void no_address(struct open *);
A("run key=a1") void body(int a) { (void)a; }
A("wake key=ret") void no_ret(void);
A("label value=a0:str") void no_text(struct open *);
A("label value=a0:int") void no_int(struct open *);
A("label value=a0:str,a1") void no_length(const char *, char *);
A("label value=a0:colours") void no_enum(int);
A("label value=a0:hue") void not_defined(int);
A("label token>a0") void no_buffer(int *);
A("label token>(struct open *)a0") void no_chars(void *);
A("create key=a0 label=a1:str") void no_label(int);
A("request label=a2:int") int no_argument(int a) { return a; }
A("create key=a0 fn=a1 ok=ret==0 | run key=a0") void no_ok(void *, void (*)(void *));

enum hue;

void calls(struct hidden *h, struct open *o) {
  no_text(o);
  no_int(o);
  no_length("", (char *)o);
  no_enum(1);
  not_defined(1);
  no_buffer(&o->id);
  no_chars(o);
  no_label(1);
  missing(1);
  missing_from_end(1);
  incomplete(h);
  behind_void(h);
  no_field(o);
  record(o);
  floating(1.0);
  no_pointer(1);
  undeclared();
  no_struct(&o->id);
  no_member(&o->id);
  void_pending(1);
  no_variable();
  no_type(o);
  which_one(o);
  no_address(o);
  no_ret();
  no_ok(o, 0);
}
/* SPDX-License-Identifier: MIT */
