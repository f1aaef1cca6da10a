/* SPDX-License-Identifier: MIT */
/* The line of an address, by DWARF as it lies in the file; see nearby.h. */
#include "nearby.h"

#include "nearby-bytes.h"
#include "util.h"

#include <dwarf.h>

/* -- what DWARF is made of ---------------------------------------------------------------- */

static uint64_t variable(struct bytes *b) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    unsigned byte = (unsigned)fixed(b, 1);
    if (shift < 64)
      value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
}

static int64_t variable_signed(struct bytes *b) {
  uint64_t value = 0;
  for (unsigned shift = 0;;) {
    unsigned byte = (unsigned)fixed(b, 1);
    if (shift < 64)
      value |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (!(byte & 0x80))
      return (int64_t)(shift < 64 && byte & 0x40 ? value | UINT64_MAX << shift : value);
  }
}

/* What a length of DWARF's is of, alone; `wide`: bytes of an offset in it. */
static struct bytes unit(struct bytes *b, size_t *wide) {
  uint64_t length = fixed(b, 4);
  *wide = 4;
  if (length == 0xffffffff) {
    length = fixed(b, 8);
    *wide = 8;
  }
  struct bytes inside = *b;
  skip(b, length);
  inside.short_of = b->short_of;
  if (!b->short_of)
    inside.end = b->at;
  return inside;
}

/* False: it is not there, or not as itself. */
static bool find_section(Elf *elf, const char *wanted, struct bytes *b) {
  size_t names;
  if (elf_getshdrstrndx(elf, &names))
    return false;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    const char *is = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (!is || strcmp(is, wanted))
      continue;
    Elf_Data *data = header.sh_flags & SHF_COMPRESSED || header.sh_type == SHT_NOBITS
                         ? NULL
                         : elf_getdata(section, NULL);
    if (!data || !data->d_buf)
      return false;
    *b =
        (struct bytes){.at = data->d_buf, .end = (const unsigned char *)data->d_buf + data->d_size};
    return true;
  }
  return false;
}

/* -- the unit ------------------------------------------------------------------------------ */

/* Where in .debug_info the unit of that address is. False: it is not known, or there are two. */
static bool find_unit(struct bytes ranges, uint64_t address, uint64_t *found) {
  bool one = false;
  while (ranges.at < ranges.end) {
    size_t wide;
    struct bytes set = unit(&ranges, &wide);
    const unsigned char *begin = set.at - (wide == 4 ? 4 : 12);
    uint64_t version = fixed(&set, 2), offset = fixed(&set, wide);
    uint64_t size = fixed(&set, 1), segment = fixed(&set, 1);
    if (set.short_of || version != 2 || size != 8 || segment != 0)
      return false;
    skip(&set, (uint64_t)(begin - set.at) & 15);
    while (set.end - set.at >= 16) {
      uint64_t from = fixed(&set, 8), length = fixed(&set, 8);
      if (from == 0 && length == 0)
        break;
      if (address < from || address - from >= length)
        continue;
      if (one && *found != offset)
        return false;
      *found = offset;
      one = true;
    }
  }
  return one;
}

/* Where its lines are, and where it was compiled. */
static bool read_unit(Dwarf *dwarf, uint64_t offset, uint64_t *lines, const char **directory) {
  Dwarf_Off next, abbreviations;
  size_t header;
  Dwarf_Half version;
  uint8_t address_size, offset_size;
  Dwarf_Die die;
  Dwarf_Attribute attribute;
  Dwarf_Word value;
  if (dwarf_next_unit(dwarf, offset, &next, &header, &version, &abbreviations, &address_size,
                      &offset_size, NULL, NULL) ||
      !dwarf_offdie(dwarf, offset + header, &die) || dwarf_tag(&die) != DW_TAG_compile_unit ||
      !dwarf_attr(&die, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &value))
    return false;
  *lines = value;
  *directory = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
  return true;
}

/* -- its lines ----------------------------------------------------------------------------- */

struct lines {
  struct bytes program, texts, line_texts;
  size_t wide;
  unsigned version, least, base_opcode, range;
  int base;
  const unsigned char *lengths; /* of opcodes */
  struct bytes tables;          /* of directories and files */
};

static bool read_head(struct lines *l, struct bytes all) {
  struct bytes b = unit(&all, &l->wide);
  l->version = (unsigned)fixed(&b, 2);
  if (l->version < 2 || l->version > 5)
    return false;
  if (l->version == 5 && (fixed(&b, 1) != 8 || fixed(&b, 1) != 0))
    return false;
  uint64_t length = fixed(&b, l->wide);
  l->program = b;
  skip(&l->program, length);
  l->least = (unsigned)fixed(&b, 1);
  if (l->version >= 4 && fixed(&b, 1) != 1)
    return false; /* more than one in an instruction */
  fixed(&b, 1);
  l->base = (signed char)fixed(&b, 1);
  l->range = (unsigned)fixed(&b, 1);
  l->base_opcode = (unsigned)fixed(&b, 1);
  l->lengths = b.at;
  skip(&b, l->base_opcode ? l->base_opcode - 1 : 0);
  l->tables = b;
  if (!l->program.short_of && l->tables.at <= l->program.at)
    l->tables.end = l->program.at;
  return !b.short_of && !l->program.short_of && l->range != 0 && l->base_opcode != 0 &&
         l->tables.at <= l->tables.end;
}

struct row {
  uint64_t address;
  unsigned line;
  uint64_t file;
  bool is, ends;
};

/* Is `next`, which comes behind it, behind it in order? The end of what is not there any more comes
   before what begins there. */
static bool is_behind(const struct row *next, const struct row *row) {
  return !row->is || next->address > row->address ||
         (next->address == row->address && (!next->ends || row->ends));
}

struct found {
  struct row row, last; /* the last one up to the address, and of all */
  bool row_is_last;
};

static void take(struct found *f, struct row row, uint64_t address, bool ends) {
  row.is = true;
  row.ends = ends;
  bool last = is_behind(&row, &f->last),
       nearer = row.address <= address && is_behind(&row, &f->row);
  if (last)
    f->last = row;
  if (nearer)
    f->row = row;
  if (last || nearer)
    f->row_is_last = last && nearer;
}

/* One of the opcodes that have a byte of their own. */
static void step(const struct lines *l, struct bytes *b, unsigned opcode, struct row *r) {
  switch (opcode) {
  case DW_LNS_advance_pc:
    r->address += variable(b) * l->least;
    break;
  case DW_LNS_advance_line:
    r->line += (unsigned)variable_signed(b);
    break;
  case DW_LNS_set_file:
    r->file = variable(b);
    break;
  case DW_LNS_const_add_pc:
    r->address += (uint64_t)((255 - l->base_opcode) / l->range) * l->least;
    break;
  case DW_LNS_fixed_advance_pc:
    r->address += fixed(b, 2);
    break;
  default:
    for (unsigned n = l->lengths[opcode - 1]; n > 0; n--)
      variable(b);
  }
}

static void run_lines(const struct lines *l, uint64_t address, struct found *f, bool *known) {
  static const struct row start = {.line = 1, .file = 1};
  struct bytes b = l->program;
  struct row r = start;
  while (b.at < b.end) {
    unsigned opcode = (unsigned)fixed(&b, 1);
    if (opcode >= l->base_opcode) {
      unsigned by = opcode - l->base_opcode;
      r.address += (uint64_t)(by / l->range) * l->least;
      r.line += (unsigned)(l->base + (int)(by % l->range));
      take(f, r, address, false);
    } else if (opcode == DW_LNS_copy) {
      take(f, r, address, false);
    } else if (opcode != 0) {
      step(l, &b, opcode, &r);
    } else {
      struct bytes inside = b;
      uint64_t length = variable(&inside);
      b = inside;
      skip(&b, length);
      switch (b.short_of ? 0 : fixed(&inside, 1)) {
      case DW_LNE_end_sequence:
        take(f, r, address, true);
        r = start;
        break;
      case DW_LNE_set_address:
        *known &= length == 9;
        r.address = fixed(&inside, 8);
        break;
      case DW_LNE_define_file:
        *known = false;
        break;
      default:;
      }
    }
  }
  *known &= !b.short_of;
}

/* -- its files ----------------------------------------------------------------------------- */

struct entry {
  const char *name;
  uint64_t directory;
};

static void read_form(const struct lines *l, struct bytes *b, uint64_t form, struct entry *e,
                      uint64_t content) {
  uint64_t number = 0;
  const char *name = NULL;
  switch (form) {
  case DW_FORM_string:
    name = text(b);
    break;
  case DW_FORM_line_strp:
    name = text_at(l->line_texts, fixed(b, l->wide));
    break;
  case DW_FORM_strp:
    name = text_at(l->texts, fixed(b, l->wide));
    break;
  case DW_FORM_udata:
    number = variable(b);
    break;
  case DW_FORM_data1:
    number = fixed(b, 1);
    break;
  case DW_FORM_data2:
    number = fixed(b, 2);
    break;
  case DW_FORM_data16:
    skip(b, 16);
    break;
  default:
    b->short_of = true;
  }
  if (content == DW_LNCT_path)
    e->name = name;
  if (content == DW_LNCT_directory_index)
    e->directory = number;
}

/* Entry `wanted` of the next table, of DWARF 5; reads all of it. */
static bool read_table(const struct lines *l, struct bytes *b, uint64_t wanted, struct entry *e) {
  uint64_t form[16][2], forms = fixed(b, 1);
  bool there = false;
  for (uint64_t i = 0; i < forms; i++) {
    if (i == 16)
      return false;
    form[i][0] = variable(b);
    form[i][1] = variable(b);
  }
  uint64_t count = variable(b);
  for (uint64_t n = 0; n < count && !b->short_of && forms != 0; n++) {
    struct entry here = {0};
    for (uint64_t i = 0; i < forms; i++)
      read_form(l, b, form[i][1], &here, form[i][0]);
    if (n == wanted) {
      *e = here;
      there = here.name != NULL;
    }
  }
  return there && !b->short_of;
}

/* The same of DWARF 2 to 4; `directory` is where it was compiled, or NULL. */
static bool read_old(const struct lines *l, uint64_t wanted, const char *directory, struct entry *e,
                     const char **in) {
  struct bytes b = l->tables, directories = b;
  const char *name;
  while ((name = text(&b)) && *name)
    ;
  for (uint64_t n = 1; (name = text(&b)) && *name; n++) {
    uint64_t of = variable(&b);
    variable(&b);
    variable(&b);
    if (n == wanted)
      *e = (struct entry){.name = name, .directory = of};
  }
  *in = directory;
  for (uint64_t n = 0; e->name && n < e->directory; n++)
    if (!(*in = text(&directories)) || !**in)
      return false;
  return e->name && !b.short_of;
}

static char *file_name(const struct lines *l, uint64_t file, const char *directory) {
  struct entry e = {0}, in = {0};
  if (l->version == 5) {
    struct bytes b = l->tables, files = b;
    if (!read_table(l, &files, UINT64_MAX, &in) && files.short_of)
      return NULL;
    if (!read_table(l, &files, file, &e) || !read_table(l, &b, e.directory, &in))
      return NULL;
  } else if (!read_old(l, file, directory, &e, &in.name)) {
    return NULL;
  }
  if (e.name[0] == '/' || !in.name)
    return print_string("%s", e.name);
  return print_string("%s/%s", in.name, e.name);
}

bool nearby_line(Dwarf *dwarf, uint64_t address, char **file, const char **directory,
                 uint32_t *line) {
  Elf *elf = dwarf_getelf(dwarf);
  struct bytes ranges, all;
  struct lines l = {0};
  uint64_t unit_at = 0, lines_at = 0;
  if (!nearby_native(elf) || !find_section(elf, ".debug_aranges", &ranges) ||
      !find_section(elf, ".debug_line", &all) || !find_unit(ranges, address, &unit_at) ||
      !read_unit(dwarf, unit_at, &lines_at, directory))
    return false;
  find_section(elf, ".debug_str", &l.texts);
  find_section(elf, ".debug_line_str", &l.line_texts);
  skip(&all, lines_at);
  struct found f = {0};
  bool known = true;
  if (!read_head(&l, all))
    return false;
  run_lines(&l, address, &f, &known);
  *file = NULL;
  if (!known || !f.row.is || f.row.ends || f.row_is_last)
    return false;
  *file = file_name(&l, f.row.file, *directory);
  *line = f.row.line;
  return *file != NULL;
}
