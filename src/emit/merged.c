/* The code of a merged header: the strategies, each once; a ladder for each CPU; and behind one
 * pointer for each entry the ladder that was picked. */
#include "emit/merged.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emit/header.h"

static const char *key_of(const struct uc_merged *m, size_t i, char buf[UC_KEY_CAP])
{
    return uc_header_key(m->cpu[i].p->cpu.key, buf);
}

int uc_merged_check(const struct uc_profile *p, char *why, size_t why_cap)
{
    return uc_header_check(p, why, why_cap);
}

/* Those with a _ in them, of C to C2x and C++ to C++20, and names that are macros or types in
 * nearly every unit. */
static bool is_keyword(const char *name)
{
    static const char *const words[] = {
        "and_eq",        "char16_t",         "char32_t",    "char8_t",       "co_await",
        "co_return",     "co_yield",         "const_cast",  "dynamic_cast",  "not_eq",
        "or_eq",         "reinterpret_cast", "static_cast", "static_assert", "thread_local",
        "typeof_unqual", "wchar_t",          "xor_eq",      "size_t",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], name))
            return true;
    return false;
}

bool uc_merged_name_valid(const char *name)
{
    size_t n = strlen(name);

    return n && n <= UC_MERGED_NAME && name[0] >= 'a' && name[0] <= 'z' && name[n - 1] != '_' &&
           strchr(name, '_') && !strstr(name, "__") && !is_keyword(name) &&
           !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* ---- who is there, and the look at the CPU ---- */

static void put_row(const struct uc_merged_cpu *c, FILE *out)
{
    const struct uc_cpu *cpu = &c->p->cpu;

    fprintf(out, "    {{0x%08xu, 0x%08xu, 0x%08xu}, 0x%xu, 0x%xu, 0x%xu, %du}, /* %s */\n",
            uc_vendor_word(cpu->vendor, 0), uc_vendor_word(cpu->vendor, 1),
            uc_vendor_word(cpu->vendor, 2), cpu->family, cpu->model, uc_header_isa(c->p),
            c->kind[0] != NULL, cpu->key);
}

static void put_look(const struct uc_merged *m, FILE *out)
{
    fprintf(out, "%s\n%s\n", ucopy_part_text("detect"), ucopy_part_text("pick"));
    fputs("/* Smaller families and models first. */\n"
          "static const struct ucopy_measured ucopy_cpus[] __attribute__((unused)) = {\n",
          out);
    for (size_t i = 0; i < m->n; i++)
        put_row(m->cpu + i, out);
    fputs("};\n\n"
          "static const char *const ucopy_keys[] __attribute__((unused)) = {\n    \"fallback\",\n",
          out);
    for (size_t i = 0; i < m->n; i++)
        fprintf(out, "    \"%s\",\n", m->cpu[i].p->cpu.key);
    fputs(
        "};\n\n"
        "/* What ucopy_pick says; 0: not looked yet. Looked at once, since CPUID can trap and take\n"
        " * thousands of ticks; two threads that look at once find the same. */\n"
        "static unsigned ucopy_state __attribute__((unused));\n\n"
        "__attribute__((noinline, cold, unused)) static unsigned ucopy_look(void)\n"
        "{\n"
        "    struct ucopy_cpuid c;\n"
        "    unsigned state;\n\n"
        "    ucopy_cpuid_read(&c);\n"
        "    state = ucopy_pick(&c, ucopy_cpus, sizeof(ucopy_cpus) / sizeof(ucopy_cpus[0]));\n"
        "    __atomic_store_n(&ucopy_state, state, __ATOMIC_RELAXED);\n"
        "    return state;\n"
        "}\n\n"
        "static __inline__ __attribute__((unused)) unsigned ucopy_picked(void)\n"
        "{\n"
        "    unsigned state = __atomic_load_n(&ucopy_state, __ATOMIC_RELAXED);\n"
        "    return state ? state : ucopy_look();\n"
        "}\n\n",
        out);
}

/* ---- the questions ---- */

static void put_question(const char *type, const char *name, const char *without, FILE *out)
{
    fprintf(out,
            "static __inline__ __attribute__((unused)) %sucopy_%s(void)\n"
            "{\n"
            "#if UCOPY_ONLY_FALLBACK\n"
            "    return %s;\n"
            "#else\n",
            type, name, without);
}

static void put_questions(FILE *out)
{
    fputs("/* The key of the CPU whose copies are used here, or \"fallback\". */\n", out);
    put_question("const char *", "chosen", "\"fallback\"", out);
    fputs("    return ucopy_keys[ucopy_picked() >> 3];\n#endif\n}\n\n"
          "/* Why. */\n",
          out);
    put_question("const char *", "why", "\"compiled without assembly\"", out);
    fputs("    unsigned state = ucopy_picked();\n\n"
          "    switch (state & 7) {\n"
          "    case UCOPY_PICK_SAME:\n"
          "        return \"vendor, family and model are the same\";\n"
          "    case UCOPY_PICK_NEAR:\n"
          "        return \"this CPU was not measured: the nearest of its vendor\";\n"
          "    case UCOPY_PICK_LACKS:\n"
          "        return state >> 3 ? \"its own copies need what this CPU lacks: the nearest\"\n"
          "                          : \"its own copies need what this CPU lacks\";\n"
          "    default:\n"
          "        return \"no copies of its vendor that this CPU may execute\";\n"
          "    }\n"
          "#endif\n}\n\n"
          "/* Were the copies that are used measured on a CPU of this family and model? */\n",
          out);
    put_question("int ", "is_this_cpu", "0", out);
    fputs("    return (ucopy_picked() & 7) == UCOPY_PICK_SAME;\n#endif\n}\n\n", out);
}

/* ---- the entries ---- */

/* The pointer first leads to the function that looks, and from then on to what was picked. */
static void put_way(const struct uc_merged *m, int entry, FILE *out)
{
    char key[UC_KEY_CAP];
    const char *name = uc_entry_name[entry];

    fprintf(out,
            "static ucopy_way *const ucopy_%s_ways[] __attribute__((unused)) = {\n"
            "    ucopy_none_called,\n",
            name);
    for (size_t i = 0; i < m->n; i++)
        fprintf(out, "    ucopy_%s_called,\n", uc_entry_names(key_of(m, i, key), entry).name);
    fprintf(out,
            "};\n\n"
            "/* Leads to the look at the CPU first, and then to what was picked. */\n"
            "__attribute__((cold, unused))\n"
            "static void *ucopy_%s_first(void *dst, const void *src, ucopy_size n);\n"
            "static ucopy_way *ucopy_%s_way __attribute__((unused)) = ucopy_%s_first;\n\n"
            "static void *ucopy_%s_first(void *dst, const void *src, ucopy_size n)\n"
            "{\n"
            "    ucopy_way *way = ucopy_%s_ways[ucopy_picked() >> 3];\n\n"
            "    __atomic_store_n(&ucopy_%s_way, way, __ATOMIC_RELAXED);\n"
            "    return way(dst, src, n);\n"
            "}\n\n",
            name, name, name, name, name, name);
}

static void put_function(int entry, FILE *out)
{
    uc_header_function_head(entry, out);
    fprintf(out, "    return __atomic_load_n(&ucopy_%s_way, __ATOMIC_RELAXED)(dst, src, n);\n",
            uc_entry_name[entry]);
    uc_header_function_tail(out);
}

static int put_strategies(const struct uc_merged *m, struct uc_embedding *e)
{
    int rc = 0;

    for (size_t i = 0; i < m->n && !rc; i++)
        rc = uc_header_strategies(e, m->cpu[i].p);
    for (int i = 0; i < UC_ENTRY_COUNT && !rc; i++)
        if (*m->inlined[i].part.strategy)
            rc = uc_header_strategy(e, m->inlined[i].part.strategy);
    return rc;
}

static void put_entry(const struct uc_merged *m, struct uc_embedding *e, int entry)
{
    char key[UC_KEY_CAP];

    for (size_t i = 0; i < m->n; i++)
        uc_header_ladder(e, m->cpu[i].p, key_of(m, i, key), entry);
    put_way(m, entry, e->out);
    if (*m->inlined[entry].part.strategy) {
        uc_header_inline_part(&m->inlined[entry].part, entry, e->out);
        fputc('\n', e->out);
    }
}

static int put_code(const struct uc_merged *m, FILE *out)
{
    struct uc_embedding e = {json_object(), out};
    int rc = e.done ? 0 : -ENOMEM;

    uc_header_switches(m->cpu[0].p->environment, out);
    fprintf(out, "%s\n#if !UCOPY_ONLY_FALLBACK\n\n", ucopy_part_text("prelude"));
    put_look(m, out);
    rc = rc ? rc : put_strategies(m, &e);
    fputs("typedef void *ucopy_way(void *dst, const void *src, ucopy_size n);\n\n"
          "__attribute__((unused))\n"
          "static void *ucopy_none_called(void *dst, const void *src, ucopy_size n)\n"
          "{\n"
          "    return UCOPY_FALLBACK(dst, src, n);\n"
          "}\n\n",
          out);
    for (int i = 0; i < UC_ENTRY_COUNT && !rc; i++)
        if (m->entry[i])
            put_entry(m, &e, i);
    fputs("#endif /* !UCOPY_ONLY_FALLBACK */\n\n", out);
    put_questions(out);
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        if (m->entry[i])
            put_function(i, out);
    json_decref(e.done);
    return rc;
}

static int put_all(const struct uc_merged *m, FILE *out)
{
    char key[UC_KEY_CAP];
    int rc;

    uc_merged_comment(m, out);
    fputs("#ifndef UCOPY_H\n#define UCOPY_H\n\n", out);
    for (size_t i = 0; i < m->n; i++)
        uc_header_numbers(m->cpu[i].p, key_of(m, i, key), out);
    fputs("\n#ifndef __ASSEMBLER__\n", out);
    for (size_t i = 0; i < m->n; i++)
        uc_header_names(m->cpu[i].p, key_of(m, i, key), out);
    fputs("\n#if defined(__x86_64__) && !defined(__ILP32__)\n\n", out);
    rc = put_code(m, out);
    fputs("\n#endif /* x86-64 */\n#endif /* not the assembler */\n#endif\n", out);
    return rc;
}

int uc_emit_merged(const struct uc_merged *m, FILE *out)
{
    char *text = NULL;
    size_t n;
    FILE *plain = open_memstream(&text, &n);
    int rc = plain ? put_all(m, plain) : -ENOMEM;

    if (plain && fclose(plain) && !rc)
        rc = -ENOMEM;
    if (!rc)
        uc_rename(text, m->name, out);
    free(text);
    return rc;
}
