#include "measure/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct image {
    const char *at;
    size_t bytes;
};

/* A copy of what lies at an offset; false where the file ends before. */
static bool get(const struct image *f, size_t offset, void *out, size_t n)
{
    if (offset > f->bytes || n > f->bytes - offset)
        return false;
    memcpy(out, f->at + offset, n);
    return true;
}

static bool get_section(const struct image *f, const Elf64_Ehdr *h, size_t i, Elf64_Shdr *out)
{
    return i < h->e_shnum && get(f, h->e_shoff + i * sizeof(*out), out, sizeof(*out)) &&
           out->sh_offset <= f->bytes && out->sh_size <= f->bytes - out->sh_offset;
}

static int read_table(const struct image *f, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                      uc_symbol_each *each, void *ctx)
{
    const char *text = f->at + names->sh_offset;

    if (!names->sh_size || text[names->sh_size - 1])
        return -ENOEXEC;
    for (size_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        if (!get(f, symbols->sh_offset + i * sizeof(s), &s, sizeof(s)) ||
            s.st_name >= names->sh_size)
            return -ENOEXEC;
        if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF)
            each(ctx, text + s.st_name, s.st_size);
    }
    return 0;
}

int uc_symbols_functions(const char *image, size_t bytes, uc_symbol_each *each, void *ctx)
{
    const struct image f = {image, bytes};
    Elf64_Ehdr h;
    Elf64_Shdr symbols, names;

    if (!get(&f, 0, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64 ||
        h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff > bytes)
        return -ENOEXEC;
    for (size_t i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s;
        if (!get(&f, h.e_shoff + i * sizeof(s), &s, sizeof(s)))
            return -ENOEXEC;
        if (s.sh_type != SHT_SYMTAB)
            continue;
        return get_section(&f, &h, i, &symbols) && get_section(&f, &h, symbols.sh_link, &names)
                   ? read_table(&f, &symbols, &names, each, ctx)
                   : -ENOEXEC;
    }
    return -ENOEXEC;
}
