/* Generated headers through the compilers at hand: they hold every candidate strategy, share units,
 * give no warning in any standard, and copy. Compilers that are absent are skipped by name.
 * Standards and flags are combined so that each standard meets two sets of flags and each set every
 * compiler. With a folder as its argument the program writes the headers there and tests nothing:
 * test_disassembly.py takes them from it. */
#include <cpuid.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "emit/emit.h"
#include "made_up.h"

static char made[] = "/tmp/test_headers.XXXXXX";
static const char *folder = made;

#define WARNINGS "-Wall -Wextra -Wpedantic -Wconversion -Wundef -Werror -nostdinc"

/* ---- made-up profiles that hold all candidates between them ---- */

#define MAX_PROFILES 80
static struct uc_profile *profiles[MAX_PROFILES];
static char prefixes[MAX_PROFILES][UC_PREFIX];
static size_t user_profiles, all_profiles;

static bool is_candidate(const struct ucopy_strategy *s, unsigned environment, bool dispatch)
{
    return s->role == UCOPY_CANDIDATE && s->environments & environment &&
           !(s->flags & UCOPY_DISPATCH) == !dispatch;
}

/* The i-th candidate, in a circle. */
static const struct ucopy_strategy *candidate(unsigned environment, bool dispatch, size_t i)
{
    size_t n = 0;

    for (size_t k = 0; k < ucopy_strategy_count; k++)
        n += is_candidate(ucopy_strategies + k, environment, dispatch);
    i %= n;
    for (size_t k = 0;; k++)
        if (is_candidate(ucopy_strategies + k, environment, dispatch) && !i--)
            return ucopy_strategies + k;
}

static size_t count(unsigned environment, bool dispatch)
{
    size_t n = 1;
    const struct ucopy_strategy *first = candidate(environment, dispatch, 0);

    while (candidate(environment, dispatch, n) != first)
        n++;
    return n;
}

static void guard(struct uc_segment *s, size_t i)
{
    static const struct uc_guard guards[] = {{"page_distance", 1, 63, "rep_movsb"},
                                             {"page_end", 0, 63, "unrolled"},
                                             {"dst_align", 1, 62, "rep_movsb"}};
    if (i % 4 < 3)
        s->guard = guards[i % 4];
}

/* Gives s a range behind the others, with rep_movsb before it where it serves only larger sizes. */
static void place(struct uc_profile *p, enum uc_entry entry, const struct ucopy_strategy *s,
                  size_t i)
{
    const struct uc_ladder *l = &p->entry[entry].ladder;
    size_t from = l->n ? l->segment[l->n - 1].max + 1 : 0;

    if (s->min > from) {
        made_up_segment(p, entry, s->min - 1, "rep_movsb");
        from = s->min;
    }
    guard(made_up_segment(p, entry, s->max == UCOPY_NO_LIMIT ? 2 * from + 300 : s->max, s->name),
          i);
}

static void name_part(struct uc_inline_part *part, const struct ucopy_strategy *s)
{
    snprintf(part->strategy, sizeof part->strategy, "%s", s->name);
    part->max = s->max;
}

static const struct ucopy_strategy *baseline(unsigned environment, size_t i)
{
    while (candidate(environment, true, i)->isa & ~(unsigned)UCOPY_ISA_SSE2)
        i++;
    return candidate(environment, true, i);
}

/* Who this is, by CPUID: the first profile is of this CPU. */
static void this_cpu(struct uc_cpu *c)
{
    unsigned a, b, cx, d;

    __cpuid(0, a, b, cx, d);
    memcpy(c->vendor, &b, 4);
    memcpy(c->vendor + 4, &d, 4);
    memcpy(c->vendor + 8, &cx, 4);
    __cpuid(1, a, b, cx, d);
    c->family = a >> 8 & 15;
    c->model = a >> 4 & 15;
    if (c->family == 15 || c->family == 6)
        c->model |= a >> 12 & 0xF0;
    if (c->family == 15)
        c->family += a >> 20 & 255;
}

/* Two dispatches a header: one behind copy, one behind nocache. */
static size_t profiles_of(unsigned environment)
{
    return (count(environment, true) + 1) / 2;
}

static void add_profile(unsigned environment, size_t i)
{
    char variant[24];
    snprintf(variant, sizeof variant, "m%zu", i);
    struct uc_profile *p = profiles[all_profiles] = made_up_profile(environment, variant);
    const struct ucopy_strategy *dispatch = candidate(environment, true, i),
                                *second =
                                    candidate(environment, true, i + profiles_of(environment)),
                                *loop = candidate(environment, false, 2 * i + 1);
    size_t loops = count(environment, false);

    if (!all_profiles)
        this_cpu(&p->cpu);
    place(p, UC_COPY, dispatch, 3);
    place(p, UC_COPY, candidate(environment, false, 2 * i), i);
    if (loop->max > second->max) /* else nothing would be left for it */
        place(p, UC_NOCACHE, second, 3);
    place(p, UC_NOCACHE, loop, i + 1);
    if (2 * i >= loops)
        place(p, UC_COPY, ucopy_find("unrolled"), i);
    made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, i % 2 ? "rep_movsb" : "movnti");
    if (i % 3)
        name_part(&p->entry[UC_COPY].inline_baseline, baseline(environment, i));
    if (i % 3 != 1)
        name_part(&p->entry[UC_COPY].inline_wide, dispatch);
    uc_emit_prefix(p, prefixes[all_profiles], UC_PREFIX);
    all_profiles++;
}

/* ---- files and compilers ---- */

static void write_in_folder(const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
}

/* Not inlined: gcc 12 then takes what is in the file for a local array. */
__attribute__((noinline)) static char *read_in_folder(const char *name)
{
    char path[160], *text = NULL;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(uc_read_file(path, 64 << 20, &text, NULL), 0);
    return text;
}

__attribute__((format(printf, 1, 2))) static int shell(const char *fmt, ...)
{
    char command[2048];
    size_t n = (size_t)snprintf(command, sizeof command, "cd %s && { ", folder);
    va_list ap;

    va_start(ap, fmt);
    n += (size_t)vsnprintf(command + n, sizeof command - n, fmt, ap);
    va_end(ap);
    assert_true(n < sizeof command - 16);
    strcat(command, "; } >log 2>&1");
    return system(command);
}

__attribute__((format(printf, 1, 2))) static void must_work(const char *fmt, ...)
{
    char command[1024], *log;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    if (!shell("%s", command))
        return;
    log = read_in_folder("log");
    print_message("%.3000s\n", log);
    free(log);
    fail_msg("failed: %s", command);
}

static void need(const char *compiler)
{
    if (!shell("command -v %s", compiler))
        return;
    print_message("%s: not installed\n", compiler);
    skip();
}

/* ---- the units ---- */

static void put_use(FILE *out, size_t i)
{
    const char *p = prefixes[i];

    fprintf(out,
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
            "void *use_%s(void *, const void *, __SIZE_TYPE__, int);\n"
            "int cpu_%s(int);\n"
            "#ifdef __cplusplus\n}\n#endif\n"
            "void *use_%s(void *d, const void *s, __SIZE_TYPE__ n, int entry)\n"
            "{\n    return entry == 0 ? %s(d, s, n) : entry == 1 ? %s_nocache(d, s, n) : %s(d, s, "
            "17);\n}\n"
            "int cpu_%s(int which)\n{\n    return which ? %s_usable() : %s_is_this_cpu();\n}\n",
            p, p, p, p, p, p, p, p, p);
}

/* A unit with every step-th header of a range, used or not. */
static void write_unit(const char *name, size_t from, size_t to, size_t step, bool used)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    for (size_t i = from; i < to; i += step)
        fprintf(out, "#include \"%s.h\"\n#include \"%s.h\"\n", prefixes[i], prefixes[i]);
    for (size_t i = from; used && i < to; i += step)
        put_use(out, i);
    fputs("extern int nothing;\n", out);
    fclose(out);
    write_in_folder(name, text);
    free(text);
}

static void write_headers(void)
{
    for (size_t i = 0; i < all_profiles; i++) {
        char *text, name[UC_PREFIX + 8], why[256] = "";
        size_t n;
        FILE *out = open_memstream(&text, &n);
        if (uc_emitter_find("c")->emit(profiles[i], out, why, sizeof why))
            fail_msg("%s: %s", prefixes[i], why);
        fclose(out);
        snprintf(name, sizeof name, "%.*s.h", UC_PREFIX, prefixes[i]);
        write_in_folder(name, text);
        free(text);
    }
}

static const char *const support[UCOPY_ISA_COUNT] = {
    [3] = "&& __builtin_cpu_supports(\"avx2\")",
    [4] = "&& __builtin_cpu_supports(\"bmi2\")",
    [5] = "&& __builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512vl\") && "
          "__builtin_cpu_supports(\"avx512bw\") && __builtin_cpu_supports(\"avx512dq\")",
    [6] = "&& __builtin_cpu_supports(\"avx512vbmi2\")",
};

static int add_need(const char *name, void *isa)
{
    *(uint32_t *)isa |= ucopy_find(name)->isa;
    return 0;
}

static void put_row(FILE *out, size_t i)
{
    uint32_t isa = 0;

    uc_profile_each_strategy(profiles[i], add_need, &isa);
    fprintf(out, "    failed |= check(\"%s\", use_%s, cpu_%s, %d, 1", prefixes[i], prefixes[i],
            prefixes[i], i == 0);
    for (unsigned bit = 0; bit < UCOPY_ISA_COUNT; bit++)
        if (isa >> bit & 1 && support[bit])
            fprintf(out, " %s", support[bit]);
    fputs(");\n", out);
}

/* Copies by every header's functions: all sizes to 4352 and some larger ones that reach the last
 * ranges. */
static const char checker[] =
    "static unsigned char from[1 << 19], to[1 << 19];\n"
    "static int wrong(use_fn *use, size_t n, size_t a, size_t b, int entry)\n"
    "{\n"
    "    unsigned char *d = to + 4096 + a;\n"
    "    const unsigned char *s = from + 4096 + b;\n"
    "    size_t copied = entry == 2 ? 17 : n;\n"
    "    memset(d - 64, 0xEE, copied + 128);\n"
    "    if (use(d, s, n, entry) != d || memcmp(d, s, copied))\n"
    "        return 1;\n"
    "    for (size_t i = 1; i <= 64; i++)\n"
    "        if (d[-(ptrdiff_t)i] != 0xEE || d[copied + i - 1] != 0xEE)\n"
    "            return 1;\n"
    "    return 0;\n"
    "}\n"
    "static int check(const char *name, use_fn *use, int (*cpu)(int), int is_this, int usable)\n"
    "{\n"
    "    static const size_t large[] = {4353, 5000, 8191, 8192, 8193, 16383, 16384, 16385, 20000,\n"
    "                                   32768, 33069, 33070, 65537, 131072, 262145, 400003};\n"
    "    static const size_t aligns[][2] = {{0, 0}, {1, 0}, {0, 63}, {33, 7}, {4000, 17}};\n"
    "    for (size_t i = 0; i < 4353 + sizeof large / sizeof *large; i++) {\n"
    "        size_t n = i < 4353 ? i : large[i - 4353];\n"
    "        for (size_t k = 0; k < (i < 700 || i >= 4353 ? 5u : 1u); k++)\n"
    "            for (int entry = 0; entry < 3; entry++)\n"
    "                if (wrong(use, n, aligns[k][0], aligns[k][1], entry)) {\n"
    "                    printf(\"%s: entry %d, size %zu, dst + %zu, src + %zu\\n\", name, entry, "
    "n,\n"
    "                           aligns[k][0], aligns[k][1]);\n"
    "                    return 1;\n"
    "                }\n"
    "    }\n"
    "    if (use(NULL, NULL, 0, 0) || use(NULL, NULL, 0, 1)) {\n"
    "        printf(\"%s: size 0\\n\", name);\n"
    "        return 1;\n"
    "    }\n"
    "    for (int again = 0; again < 2; again++)\n"
    "        if (cpu(0) != (NO_ASM ? 0 : is_this) || cpu(1) != (NO_ASM ? 0 : !!usable)) {\n"
    "            printf(\"%s: is_this_cpu %d, usable %d\\n\", name, cpu(0), cpu(1));\n"
    "            return 1;\n"
    "        }\n"
    "    return 0;\n"
    "}\n";

static void write_checker(void)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    fputs("#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n"
          "#ifdef UCOPY_NO_ASM\n#define NO_ASM 1\n#else\n#define NO_ASM 0\n#endif\n"
          "typedef void *use_fn(void *, const void *, size_t, int);\n",
          out);
    for (size_t i = 0; i < all_profiles; i++)
        fprintf(out, "use_fn use_%s;\nint cpu_%s(int);\n", prefixes[i], prefixes[i]);
    fprintf(out, "%sint main(void)\n{\n    int failed = 0;\n", checker);
    fputs("    for (size_t i = 0; i < sizeof from; i++)\n"
          "        from[i] = (unsigned char)(i * 2654435761u >> 13);\n",
          out);
    for (size_t i = 0; i < all_profiles; i++)
        put_row(out, i);
    fputs("    return failed;\n}\n", out);
    fclose(out);
    write_in_folder("check.c", text);
    free(text);
}

static void make_profiles(void)
{
    user_profiles = profiles_of(UCOPY_USER);
    for (size_t i = 0; i < user_profiles; i++)
        add_profile(UCOPY_USER, i);
    for (size_t i = 0; i < profiles_of(UCOPY_KERNEL); i++)
        add_profile(UCOPY_KERNEL, i);
}

static int set_up(void **state)
{
    if (!mkdtemp(made))
        return -1;
    make_profiles();
    write_headers();
    write_unit("a.c", 0, all_profiles, 2, true);
    write_unit("b.c", 1, all_profiles, 2, true);
    write_unit("user.c", 0, user_profiles, 1, true);
    write_unit("kernel.c", user_profiles, all_profiles, 1, true);
    write_unit("unused.c", 0, all_profiles, 1, false);
    write_checker();
    return shell("for f in a b unused; do cp $f.c $f.cc; done");
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < all_profiles; i++)
        made_up_free(profiles[i]);
    return shell("rm -r %s", folder);
}

/* ---- the tests ---- */

static bool holds(const struct uc_profile *p, const char *name)
{
    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        for (size_t i = 0; i < p->entry[e].ladder.n; i++)
            if (!strcmp(p->entry[e].ladder.segment[i].strategy, name))
                return true;
    return false;
}

static void every_candidate_is_in_some_header(void **state)
{
    for (size_t k = 0; k < ucopy_strategy_count; k++) {
        const struct ucopy_strategy *s = ucopy_strategies + k;
        bool found = s->role != UCOPY_CANDIDATE;
        for (size_t i = 0; i < all_profiles && !found; i++)
            found = holds(profiles[i], s->name);
        if (!found)
            fail_msg("%s is in no header", s->name);
    }
}

static const char *const flags[] = {"-O2", "-O0", "-Os", "-O2 -march=native",
                                    "-O3 -march=x86-64-v3"};

struct combination {
    const char *compiler, *standard, *suffix;
    size_t index;
};

static void compiles(void **state)
{
    const struct combination *c = *state;
    size_t f = c->index % 5, g = (c->index + 1 + c->index / 5 % 4) % 5;

    need(c->compiler);
    must_work("%s -std=%s " WARNINGS " %s -c a.%s -o a.o & a=$!; "
              "%s -std=%s " WARNINGS " %s -c b.%s -o b.o && wait $a",
              c->compiler, c->standard, flags[f], c->suffix, c->compiler, c->standard, flags[g],
              c->suffix);
    must_work("%s -std=%s " WARNINGS " %s -fsyntax-only unused.%s", c->compiler, c->standard,
              flags[g], c->suffix);
}

struct run {
    const char *compiler, *suffix, *flags;
};

static void copies(void **state)
{
    const struct run *r = *state;

    need(r->compiler);
    /* Without its runtime library a sanitizer cannot be run. */
    if (strstr(r->flags, "-fsanitize") &&
        shell("echo 'int main(void) { return 0; }' >e.c && %s %s e.c -o e", r->compiler,
              r->flags)) {
        print_message("%s %s: does not link here\n", r->compiler, r->flags);
        skip();
    }
    must_work("%s %s -c a.%s -o a.o & a=$!; %s %s -c b.%s -o b.o && wait $a", r->compiler, r->flags,
              r->suffix, r->compiler, r->flags, r->suffix);
    must_work("%s %s -xc check.c -xnone a.o b.o -o check && ./check",
              strstr(r->compiler, "clang") ? "clang" : "gcc", r->flags);
}

static void a_kernel_header_uses_no_vector_register(void **state)
{
    const char *compiler = *state;

    need(compiler);
    must_work("%s -std=gnu11 " WARNINGS
              " -ffreestanding -mgeneral-regs-only -O2 -S kernel.c -o k.s",
              compiler);
    char *text = read_in_folder("k.s");
    assert_non_null(strstr(text, "movsb"));
    assert_null(strstr(text, "%xmm"));
    assert_null(strstr(text, "%ymm"));
    assert_null(strstr(text, "%zmm"));
    free(text);
}

/* The text has nothing of the strategies, only the fallback. */
static void must_fall_back(const char *compiler, const char *options)
{
    must_work("%s -std=gnu11 " WARNINGS " %s -O2 -S user.c -o f.s", compiler, options);
    char *text = read_in_folder("f.s");
    assert_non_null(strstr(text, "memcpy"));
    assert_null(strstr(text, "_called"));
    assert_null(strstr(text, "rep movs"));
    free(text);
}

static void without_sse2_a_user_header_falls_back(void **state)
{
    need(*state);
    must_fall_back(*state, "-mgeneral-regs-only");
}

static void under_sanitizers_a_header_falls_back(void **state)
{
    bool clang = !strcmp(*state, "clang");

    need(*state);
    must_fall_back(*state, "-DUCOPY_NO_ASM");
    must_fall_back(*state, "-D__SANITIZE_HWADDRESS__=1");
    must_fall_back(*state, "-fsanitize=address");
    must_fall_back(*state, "-fsanitize=thread");
    if (clang)
        must_fall_back(*state, "-fsanitize=memory");
}

static void the_fallback_can_be_defined(void **state)
{
    need(*state);
    write_in_folder("mine.c", "void *mine(void *, const void *, __SIZE_TYPE__);\n"
                              "#define UCOPY_FALLBACK(d, s, n) mine(d, s, n)\n"
                              "#include \"user.c\"\n");
    must_work("%s " WARNINGS " -DUCOPY_NO_ASM -O2 -S mine.c -o mine.s", (const char *)*state);
    char *text = read_in_folder("mine.s");
    assert_non_null(strstr(text, "mine"));
    assert_null(strstr(text, "memcpy"));
    free(text);
}

static void overwrite(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);

    assert_non_null(at);
    memcpy(at, to, strlen(to));
}

/* The last user header as on a CPU that lacks what it needs. */
static void an_unusable_cpu_falls_back(void **state)
{
    char *text, name[UC_PREFIX + 2], program[2048];

    need(*state);
    snprintf(name, sizeof name, "%s.h", prefixes[user_profiles - 1]);
    text = read_in_folder(name);
    overwrite(text, "state |= 4;", "state |= 8;");
    write_in_folder("lacking.h", text);
    free(text);
    snprintf(program, sizeof program,
             "static int calls;\n"
             "static void *mine(void *d) { calls++; return d; }\n"
             "#define UCOPY_FALLBACK(d, s, n) ((void)(s), (void)(n), mine(d))\n"
             "#include \"lacking.h\"\n"
             "int main(void)\n{\n    static char d[100000], s[100000];\n"
             "    volatile __SIZE_TYPE__ n = sizeof s;\n"
             "    for (int i = 0; i < 3; i++) %s(d, s, n);\n"
             "    %s_nocache(d, s, n);\n"
             "    return calls == 4 && !%s_usable() ? 0 : 1;\n}\n",
             prefixes[user_profiles - 1], prefixes[user_profiles - 1], prefixes[user_profiles - 1]);
    write_in_folder("lacking.c", program);
    must_work("%s -O2 lacking.c -o lacking && ./lacking", (const char *)*state);
}

/* A header of this CPU that needs these strategies, its detection followed by MASK(c), which the
 * unit defines. */
static void write_maskable(const char *dispatch, const char *loop)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "lacking");
    char why[256] = "", *text, *at, *masked;
    size_t n, m;
    FILE *out = open_memstream(&text, &n);

    this_cpu(&p->cpu);
    made_up_segment(p, UC_COPY, 256, dispatch);
    made_up_segment(p, UC_COPY, SIZE_MAX, loop);
    if (uc_emitter_find("c")->emit(p, out, why, sizeof why))
        fail_msg("%s", why);
    fclose(out);
    made_up_free(p);
    at = strstr(text, "_cpuid_read(&c);");
    assert_non_null(at);
    at = strchr(at, '\n');
    out = open_memstream(&masked, &m);
    fprintf(out, "%.*s\n    MASK(c);%s", (int)(at - text), text, at);
    fclose(out);
    write_in_folder("masked.h", masked);
    free(masked);
    free(text);
}

/* One feature after the other taken from what CPUID and XGETBV say: the header is not usable, and
 * every copy is the fallback's. */
static const char masker[] =
    "#include <string.h>\n#include <stdio.h>\n"
    "static const struct mask { const char *what; unsigned ecx1, edx1, ebx7, xcr0, family; } masks[] = {\n"
    "    {\"nothing\", 0, 0, 0, 0, 0}, {\"an unused feature\", 1, 0, 1, 1u << 9, 0},\n"
    "    {\"another family\", 0, 0, 0, 0, 1u << 8},\n"
    "    {\"SSE2\", 0, 1u << 26, 0, 0, 0}, {\"OSXSAVE\", 1u << 27, 0, 0, ~0u, 0},\n"
    "    {\"AVX\", 1u << 28, 0, 0, 0, 0}, {\"AVX2\", 0, 0, 1u << 5, 0, 0},\n"
    "    {\"SSE state\", 0, 0, 0, 2, 0}, {\"AVX state\", 0, 0, 0, 4, 0}, {\"leaf 7\", 0, 0, ~0u, 0, 0},\n"
    "#ifdef AVX512\n"
    "    {\"AVX512F\", 0, 0, 1u << 16, 0, 0}, {\"AVX512BW\", 0, 0, 1u << 30, 0, 0},\n"
    "    {\"opmask state\", 0, 0, 0, 1u << 5, 0}, {\"ZMM state\", 0, 0, 0, 1u << 6, 0},\n"
    "    {\"high ZMM state\", 0, 0, 0, 1u << 7, 0}, {\"BMI2\", 0, 0, 1u << 8, 0, 0},\n"
    "#endif\n"
    "};\n"
    "static const struct mask *mask = masks;\n"
    "#define MASK(c) (c.leaf1_ecx &= ~mask->ecx1, c.leaf1_edx &= ~mask->edx1, c.leaf7_ebx &= ~mask->ebx7, "
    "c.xcr0 &= ~mask->xcr0, c.leaf1_eax ^= mask->family)\n"
    "static unsigned fallen;\n"
    "static void *fall(void *d, const void *s, size_t n) { fallen++; return memcpy(d, s, n); }\n"
    "#define UCOPY_FALLBACK(d, s, n) fall(d, s, n)\n"
    "#include \"masked.h\"\n"
    "int main(void)\n"
    "{\n"
    "    static unsigned char from[70000], to[70000];\n"
    "    for (size_t i = 0; i < sizeof from; i++)\n"
    "        from[i] = (unsigned char)(i * 2654435761u >> 13);\n"
    "    for (; mask < masks + sizeof masks / sizeof *masks; mask++) {\n"
    "        int usable = (SUPPORTED) && mask < masks + 3;\n"
    "        PREFIX_(state) = 0;\n"
    "        fallen = 0;\n"
    "        for (volatile size_t n = 1; n < 65536; n += n / 3 + 1) {\n"
    "            size_t size = n;\n"
    "            memset(to, 0xEE, size + 1);\n"
    "            if (PREFIX(to, from, size) != to || memcmp(to, from, size) || to[size] != 0xEE)\n"
    "                return printf(\"without %s: wrong copy of %zu\\n\", mask->what, size), 1;\n"
    "            if (!fallen != usable)\n"
    "                return printf(\"without %s: fallback %u\\n\", mask->what, fallen), 1;\n"
    "        }\n"
    "        if (PREFIX_(usable)() != usable || PREFIX_(is_this_cpu)() != (mask != masks + 2))\n"
    "            return printf(\"without %s: usable %d\\n\", mask->what, PREFIX_(usable)()), 1;\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static void features_masked_off_fall_back(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "lacking");
    char prefix[UC_PREFIX];

    need(*state);
    write_in_folder("masked.c", masker);
    uc_emit_prefix(p, prefix, sizeof prefix);
    made_up_free(p);
    write_maskable("short_tree_avx2_256", "avx2_loop_x4");
    must_work(
        "%s -O2 -DPREFIX=%s '-DPREFIX_(x)=%s_##x' '-DSUPPORTED=__builtin_cpu_supports(\"avx2\")' "
        "masked.c -o masked && ./masked",
        (const char *)*state, prefix, prefix);
    write_maskable("short_half_avx512_512", "avx512_loop_x4");
    must_work("%s -O2 -DAVX512 -DPREFIX=%s '-DPREFIX_(x)=%s_##x' "
              "'-DSUPPORTED=__builtin_cpu_supports(\"avx512bw\") && "
              "__builtin_cpu_supports(\"avx512vl\") && __builtin_cpu_supports(\"avx512dq\")' "
              "masked.c -o masked && ./masked",
              (const char *)*state, prefix, prefix);
}

static void the_assembler_takes_the_numbers(void **state)
{
    char text[4 * UC_PREFIX + 256];
    char capitals[UC_PREFIX];

    need(*state);
    for (size_t i = 0; i < UC_PREFIX; i++)
        capitals[i] = (char)(prefixes[0][i] >= 'a' && prefixes[0][i] <= 'z' ? prefixes[0][i] - 32
                                                                            : prefixes[0][i]);
    snprintf(text, sizeof text,
             "#include \"%s.h\"\n.quad %s_COPY_1_MAX, %s_COPY_STREAMS\n"
             "#ifdef %s_COPY_1_STRATEGY\n#error a string\n#endif\n",
             prefixes[0], capitals, capitals, capitals);
    write_in_folder("s.S", text);
    must_work("%s -Wundef -Werror -c s.S -o s.o", (const char *)*state);
}

/* Names of functions are free there. */
static void another_architecture_gets_defines_only(void **state)
{
    char text[3 * UC_PREFIX + 64];

    need(*state);
    snprintf(text, sizeof text, "#include \"%s.h\"\nextern int %s, %s_usable;\n", prefixes[0],
             prefixes[0], prefixes[0]);
    write_in_folder("other.c", text);
    must_work("%s " WARNINGS " %s -fsyntax-only other.c", (const char *)*state,
              !strcmp(*state, "clang") ? "--target=aarch64-linux-gnu" : "-m32");
    must_work("%s " WARNINGS " -mx32 -fsyntax-only other.c", (const char *)*state);
}

#define EACH_STANDARD(X)        \
    X("gcc", "c99", "c")        \
    X("gcc", "c11", "c")        \
    X("gcc", "c17", "c")        \
    X("gcc", "c2x", "c")        \
    X("g++", "c++11", "cc")     \
    X("g++", "c++14", "cc")     \
    X("g++", "c++17", "cc")     \
    X("g++", "c++20", "cc")     \
    X("clang", "c99", "c")      \
    X("clang", "c11", "c")      \
    X("clang", "c17", "c")      \
    X("clang", "c2x", "c")      \
    X("clang++", "c++11", "cc") \
    X("clang++", "c++14", "cc") \
    X("clang++", "c++17", "cc") \
    X("clang++", "c++20", "cc")

#define EACH_RUN(X)                          \
    X("gcc", "c", "-O2")                     \
    X("gcc", "c", "-O0")                     \
    X("g++", "cc", "-O2 -march=native")      \
    X("clang", "c", "-O2")                   \
    X("clang++", "cc", "-Os -march=native")  \
    X("clang", "c", "-O0")                   \
    X("gcc", "c", "-O1 -fsanitize=address")  \
    X("clang", "c", "-O1 -fsanitize=memory") \
    X("gcc", "c", "-O2 -DUCOPY_NO_ASM")

#define EACH_COMPILER(f)                            \
    {#f " gcc", f, NULL, NULL, (void *)"gcc"},      \
    {                                               \
#f " clang", f, NULL, NULL, (void *)"clang" \
    }

#define COMBINATION(compiler, standard, suffix) {compiler, standard, suffix, __COUNTER__},
static struct combination combinations[] = {EACH_STANDARD(COMBINATION)};
#define RUN(compiler, suffix, options) {compiler, suffix, options},
static struct run runs[] = {EACH_RUN(RUN)};

enum {
    COMBINATIONS = sizeof combinations / sizeof *combinations,
    RUNS = sizeof runs / sizeof *runs
};

int main(int argc, char **argv)
{
    if (argc > 1) {
        folder = argv[1];
        make_profiles();
        write_headers();
        return 0;
    }
#define COMPILE_ROW(compiler, standard, suffix) \
    {"compiles " compiler " " standard, compiles, NULL, NULL, NULL},
#define RUN_ROW(compiler, suffix, options) \
    {"copies " compiler " " options, copies, NULL, NULL, NULL},
    struct CMUnitTest tests[] = {cmocka_unit_test(every_candidate_is_in_some_header),
                                 EACH_COMPILER(a_kernel_header_uses_no_vector_register),
                                 EACH_COMPILER(without_sse2_a_user_header_falls_back),
                                 EACH_COMPILER(under_sanitizers_a_header_falls_back),
                                 EACH_COMPILER(the_fallback_can_be_defined),
                                 EACH_COMPILER(an_unusable_cpu_falls_back),
                                 EACH_COMPILER(features_masked_off_fall_back),
                                 EACH_COMPILER(the_assembler_takes_the_numbers),
                                 EACH_COMPILER(another_architecture_gets_defines_only),
                                 EACH_STANDARD(COMPILE_ROW) EACH_RUN(RUN_ROW)};
    size_t n = sizeof tests / sizeof *tests;

    for (size_t i = 0; i < COMBINATIONS; i++)
        tests[n - RUNS - COMBINATIONS + i].initial_state = combinations + i;
    for (size_t i = 0; i < RUNS; i++)
        tests[n - RUNS + i].initial_state = runs + i;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
