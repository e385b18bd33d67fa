/* Detection, the strategies' texts, and the functions in front of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emit/header.h"

static uint32_t isa_of(const char *strategy)
{
    return ucopy_find(strategy)->isa;
}

static int add_isa(const char *name, void *isa)
{
    *(uint32_t *)isa |= isa_of(name);
    return 0;
}

uint32_t uc_header_isa(const struct uc_profile *p)
{
    uint32_t isa = 0;
    uc_profile_each_strategy(p, add_isa, &isa);
    return isa;
}

/* ---- what is compiled at all ---- */

void uc_header_switches(unsigned environment, FILE *out)
{
    fputs("#ifndef UCOPY_FALLBACK\n"
          "#define UCOPY_FALLBACK(d, s, n) ((n) ? __builtin_memcpy(d, s, n) : (d))\n"
          "#endif\n\n"
          "/* Sanitizers check memcpy and see nothing of assembly. */\n"
          "#if defined(UCOPY_NO_ASM) || defined(__SANITIZE_ADDRESS__) || \\\n"
          "    defined(__SANITIZE_THREAD__) || defined(__SANITIZE_HWADDRESS__)\n"
          "#define UCOPY_ONLY_FALLBACK 1\n",
          out);
    if (environment != UCOPY_KERNEL)
        fputs("#elif !defined(__SSE2__) /* as under -mgeneral-regs-only */\n"
              "#define UCOPY_ONLY_FALLBACK 1\n",
              out);
    fputs("#elif defined(__has_feature)\n"
          "#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \\\n"
          "    __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)\n"
          "#define UCOPY_ONLY_FALLBACK 1\n"
          "#endif\n"
          "#endif\n"
          "#ifndef UCOPY_ONLY_FALLBACK\n"
          "#define UCOPY_ONLY_FALLBACK 0\n"
          "#endif\n\n",
          out);
}

static void put_promised(const struct uc_profile *p, FILE *out)
{
    uint32_t isa = uc_header_isa(p);

    if (!isa) {
        fputs("#define UCOPY_PROMISED 1 /* no instruction set is needed beyond x86-64 */\n\n", out);
        return;
    }
    fputs("/* Was the compiler told that every CPU has what the code needs? Then nothing is "
          "tested. */\n"
          "#if ",
          out);
    uc_put_promised(isa, out);
    fputs("\n#define UCOPY_PROMISED 1\n#else\n#define UCOPY_PROMISED 0\n#endif\n\n", out);
}

/* ---- detection ---- */

unsigned uc_vendor_word(const char *vendor, int i)
{
    const unsigned char *c = (const unsigned char *)vendor + 4 * i;
    return c[0] | c[1] << 8 | c[2] << 16 | (unsigned)c[3] << 24;
}

/* The condition that c is this CPU; 0 where the profile does not say which. */
static void put_identity(const struct uc_profile *p, FILE *out)
{
    const struct uc_cpu *cpu = &p->cpu;

    if (!p->has_cpu || strlen(cpu->vendor) != 12) {
        fputs("0", out);
        return;
    }
    for (int i = 0; i < 3; i++)
        fprintf(out, "c.vendor[%d] == 0x%08xu &&%s", i, uc_vendor_word(cpu->vendor, i),
                i < 2 ? " " : "\n        ");
    fprintf(out,
            "ucopy_cpu_family(c.leaf1_eax) == 0x%xu &&\n        "
            "ucopy_cpu_model(c.leaf1_eax) == 0x%xu",
            cpu->family, cpu->model);
}

static void put_detection(const struct uc_profile *p, FILE *out)
{
    uint32_t isa = uc_header_isa(p);

    fputs("#ifndef UCOPY_NO_ASM\n", out);
    fputs(ucopy_part_text("detect"), out);
    fputs("\n/* 1: looked; 2: is this CPU; 4: is usable. Looked at once, since CPUID can trap and\n"
          " * take thousands of ticks; two threads that look at once find the same. */\n"
          "static int ucopy_state __attribute__((unused));\n\n"
          "__attribute__((noinline, cold, unused)) static int ucopy_look(void)\n"
          "{\n"
          "    struct ucopy_cpuid c;\n"
          "    int state = 1;\n\n"
          "    ucopy_cpuid_read(&c);\n"
          "    if (",
          out);
    put_identity(p, out);
    fputs(")\n        state |= 2;\n", out);
    if (isa)
        fprintf(out, "    if ((ucopy_isa_usable(&c) & 0x%xu) == 0x%xu)\n        state |= 4;\n", isa,
                isa);
    else
        fputs("    state |= 4;\n", out);
    fputs("    __atomic_store_n(&ucopy_state, state, __ATOMIC_RELAXED);\n"
          "    return state;\n"
          "}\n\n"
          "static __inline__ __attribute__((unused)) int ucopy_is_this_cpu(void)\n"
          "{\n"
          "    int state = __atomic_load_n(&ucopy_state, __ATOMIC_RELAXED);\n"
          "    return ((state ? state : ucopy_look()) & 2) != 0;\n"
          "}\n\n"
          "static __inline__ __attribute__((unused)) int ucopy_usable(void)\n"
          "{\n"
          "    int state = __atomic_load_n(&ucopy_state, __ATOMIC_RELAXED);\n"
          "    return ((state ? state : ucopy_look()) & 4) != 0;\n"
          "}\n"
          "#else /* without assembly there is no CPUID */\n"
          "static __inline__ __attribute__((unused)) int ucopy_is_this_cpu(void)\n"
          "{\n"
          "    return 0;\n"
          "}\n\n"
          "static __inline__ __attribute__((unused)) int ucopy_usable(void)\n"
          "{\n"
          "    return 0;\n"
          "}\n"
          "#endif\n\n",
          out);
}

/* ---- the strategies' texts, each once ---- */

static bool is_new(struct uc_embedding *e, const char *kind, const char *name)
{
    char key[UC_NAME + 16];

    snprintf(key, sizeof key, "%s %s", kind, name);
    if (json_object_get(e->done, key))
        return false;
    json_object_set_new(e->done, key, json_true());
    return true;
}

static int put_parts(struct uc_embedding *e, const char *includes)
{
    char *names = strdup(includes), *rest = names, *name;

    if (!names)
        return -ENOMEM;
    while ((name = strsep(&rest, " ")))
        if (*name && is_new(e, "part", name))
            fprintf(e->out, "%s\n", ucopy_part_text(name));
    free(names);
    return 0;
}

int uc_header_strategy(struct uc_embedding *e, const char *name)
{
    const struct ucopy_strategy *s = ucopy_find(name);

    if (!is_new(e, "strategy", name))
        return 0;
    int rc = put_parts(e, s->includes);
    fprintf(e->out, "%s\n", s->text);
    return rc;
}

static int put_strategy(const char *name, void *state)
{
    return uc_header_strategy(state, name);
}

int uc_header_strategies(struct uc_embedding *e, const struct uc_profile *p)
{
    return uc_profile_each_strategy(p, put_strategy, e);
}

/* ---- the called functions ---- */

/* Registers 16 and up and masks are clobbers only where the attribute stands. Below AVX-512 none is
 * wanted: with AVX2's, gcc adds a vzeroupper of its own to every path. */
static bool wants_attribute(uint32_t isa)
{
    return isa & (UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2);
}

static void put_called_head(const struct uc_profile *p, uint32_t isa, const char *name, FILE *out)
{
    char target[UC_TARGET];

    fputs("__attribute__((noinline, unused, aligned(64)", out);
    if (p->environment != UCOPY_KERNEL && wants_attribute(isa))
        fprintf(out, ", target(\"%s\")", uc_target_text(isa, target));
    fprintf(out, "))\nstatic void *ucopy_%s_called(void *dst, const void *src, ucopy_size n)\n{\n",
            name);
}

/* Is the strategy inlined into its entry's called function? Its instruction sets are those of the
 * first range: the short sizes, which a jump would cost most. */
static bool in_ladder(const struct uc_ladder *l, const char *strategy)
{
    return isa_of(l->segment[0].strategy) == isa_of(strategy);
}

static void put_called(struct uc_embedding *e, const struct uc_profile *p,
                       const struct uc_ladder *l, const char *strategy)
{
    if (in_ladder(l, strategy) || !is_new(e, "called", strategy))
        return;
    put_called_head(p, isa_of(strategy), strategy, e->out);
    fprintf(e->out, "    return ucopy_%s(dst, src, n);\n}\n\n", strategy);
}

static void put_all_called(struct uc_embedding *e, const struct uc_profile *p,
                           const struct uc_ladder *l)
{
    for (size_t i = 0; i < l->n; i++) {
        put_called(e, p, l, l->segment[i].strategy);
        if (*l->segment[i].guard.test)
            put_called(e, p, l, l->segment[i].guard.otherwise);
    }
}

static void put_return(const struct uc_ladder *l, const char *strategy, const char *indent,
                       FILE *out)
{
    fprintf(out, "%sreturn ucopy_%s%s(dst, src, n);\n", indent, strategy,
            in_ladder(l, strategy) ? "" : "_called");
}

/* Where a pointer lies, as the words of a profile define it. */
static const char *guard_values[][3] = {
    {"page_distance", "((ucopy_size)dst - (ucopy_size)src) & 4095", NULL},
    {"dst_align", "(ucopy_size)dst & 63", NULL},
    {"page_end", "-((ucopy_size)dst + n) & 4095", "-((ucopy_size)src + n) & 4095"},
};

/* lo <= value <= hi as one comparison of unsigned numbers. */
static void put_inside(const struct uc_guard *g, const char *value, FILE *out)
{
    fprintf(out, "(%s) - %ld <= %ld", value, g->lo, g->hi - g->lo);
}

static void put_guard(const struct uc_ladder *l, const struct uc_guard *g, const char *indent,
                      FILE *out)
{
    char inner[16];

    for (size_t i = 0; i < sizeof guard_values / sizeof *guard_values; i++) {
        if (strcmp(guard_values[i][0], g->test))
            continue;
        fprintf(out, "%sif (", indent);
        put_inside(g, guard_values[i][1], out);
        if (guard_values[i][2]) {
            fputs(" ||\n            ", out);
            put_inside(g, guard_values[i][2], out);
        }
        fputs(")\n", out);
        snprintf(inner, sizeof inner, "%s    ", indent);
        put_return(l, g->otherwise, inner, out);
    }
}

static void put_range(const struct uc_ladder *l, size_t i, const char *entry, FILE *out)
{
    const struct uc_segment *s = l->segment + i;
    bool last = i + 1 == l->n;

    if (!last)
        fprintf(out, "    if (n <= UCOPY_%s_%zu_MAX)%s\n", entry, i + 1,
                *s->guard.test ? " {" : "");
    put_guard(l, &s->guard, last ? "    " : "        ", out);
    put_return(l, s->strategy, last ? "    " : "        ", out);
    if (!last && *s->guard.test)
        fputs("    }\n", out);
}

void uc_header_ladder(struct uc_embedding *e, const struct uc_profile *p, const char *key,
                      int entry)
{
    const struct uc_ladder *l = &p->entry[entry].ladder;
    struct uc_entry_names names = uc_entry_names(key, entry);

    put_all_called(e, p, l);
    fprintf(e->out, "/* The ladder of %s%s%s. */\n", uc_entry_name[entry], *key ? " on " : "",
            *key ? p->cpu.key : "");
    put_called_head(p, isa_of(l->segment[0].strategy), names.name, e->out);
    for (size_t i = 0; i < l->n; i++)
        put_range(l, i, names.macro, e->out);
    fputs("}\n\n", e->out);
}

/* ---- the inlined functions ---- */

void uc_header_inline_part(const struct uc_inline_part *part, int entry, FILE *out)
{
    struct uc_entry_names names = uc_entry_names("", entry);

    fprintf(out,
            "#define UCOPY_%s_INLINE_MAX %zu\n"
            "#define UCOPY_%s_INLINE_STRATEGY \"%s\"\n"
            "#define UCOPY_%s_INLINE(d, s, n) ucopy_%s(d, s, n)\n",
            names.macro, part->max, names.macro, part->strategy, names.macro, part->strategy);
}

/* The wide part where the compiler was told its instruction sets, else the baseline. */
static void put_inline_parts(const struct uc_profile_entry *e, int entry, FILE *out)
{
    bool base = *e->inline_baseline.strategy, wide = *e->inline_wide.strategy;

    if (wide) {
        fputs("#if ", out);
        if (isa_of(e->inline_wide.strategy))
            uc_put_promised(isa_of(e->inline_wide.strategy), out);
        else
            fputs("1", out);
        fputs("\n", out);
        uc_header_inline_part(&e->inline_wide, entry, out);
    }
    if (wide && base)
        fputs("#else\n", out);
    if (base)
        uc_header_inline_part(&e->inline_baseline, entry, out);
    if (wide)
        fputs("#endif\n", out);
    if (wide || base)
        fputs("\n", out);
}

void uc_header_function_head(int entry, FILE *out)
{
    struct uc_entry_names names = uc_entry_names("", entry);

    fprintf(out,
            "%s\n"
            "static __inline__ __attribute__((unused)) void *\n"
            "ucopy_%s(void *dst, const void *src, ucopy_size n)\n"
            "{\n"
            "#if UCOPY_ONLY_FALLBACK\n"
            "    return UCOPY_FALLBACK(dst, src, n);\n"
            "#else\n"
            "    if (__builtin_constant_p(n) && n <= 64)\n"
            "        return n ? __builtin_memcpy(dst, src, n) : dst;\n"
            "#ifdef UCOPY_%s_INLINE_MAX\n"
            "    if (n <= UCOPY_%s_INLINE_MAX)\n"
            "        return UCOPY_%s_INLINE(dst, src, n);\n"
            "#endif\n",
            entry == UC_COPY
                ? "/* Copies n bytes from src to dst, which is used soon. Returns dst. */"
                : "/* Copies n bytes from src to dst, which is not used soon: caches "
                  "stay as they are\n * where that pays. Returns dst. */",
            entry == UC_COPY ? "" : "nocache", names.macro, names.macro, names.macro);
}

void uc_header_function_tail(FILE *out)
{
    fputs("#endif\n}\n\n", out);
}

static void put_function(int entry, FILE *out)
{
    uc_header_function_head(entry, out);
    fprintf(out,
            "#if !UCOPY_PROMISED\n"
            "    if (__builtin_expect(!(__atomic_load_n(&ucopy_state, __ATOMIC_RELAXED) & 4), 0))\n"
            "        return ucopy_%s_unsure(dst, src, n);\n"
            "#endif\n"
            "    return ucopy_%s_called(dst, src, n);\n",
            uc_entry_name[entry], uc_entry_name[entry]);
    uc_header_function_tail(out);
}

/* Before the first look, and where it was in vain. By itself, or its call would make the copy in
 * front of it save registers each time. */
static void put_unsure(int entry, FILE *out)
{
    const char *name = uc_entry_name[entry];

    fprintf(out,
            "#if !UCOPY_PROMISED\n"
            "__attribute__((noinline, cold, unused))\n"
            "static void *ucopy_%s_unsure(void *dst, const void *src, ucopy_size n)\n"
            "{\n"
            "    if (!ucopy_usable())\n"
            "        return UCOPY_FALLBACK(dst, src, n);\n"
            "    return ucopy_%s_called(dst, src, n);\n"
            "}\n"
            "#endif\n\n",
            name, name);
}

int uc_header_code(const struct uc_profile *p, FILE *out)
{
    struct uc_embedding e = {json_object(), out};
    int rc = e.done ? 0 : -ENOMEM;

    uc_header_switches(p->environment, out);
    put_promised(p, out);
    fprintf(out, "%s\n", ucopy_part_text("prelude"));
    put_detection(p, out);
    fputs("#if !UCOPY_ONLY_FALLBACK\n\n", out);
    rc = rc ? rc : uc_header_strategies(&e, p);
    for (int i = 0; i < UC_ENTRY_COUNT && !rc; i++) {
        if (!p->entry[i].present)
            continue;
        uc_header_ladder(&e, p, "", i);
        put_unsure(i, out);
        put_inline_parts(p->entry + i, i, out);
    }
    fputs("#endif /* !UCOPY_ONLY_FALLBACK */\n\n", out);
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        if (p->entry[i].present)
            put_function(i, out);
    json_decref(e.done);
    return rc;
}
