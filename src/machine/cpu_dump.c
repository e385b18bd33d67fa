/* CPUID dumps in four spellings, read by one reader: the headings `CPU#000 AffMask: ...`,
 * `------[ Logical CPU #0 ]------` and `------[ CPUID Registers / Logical CPU #0 ]------`
 * (InstLatX64 and AIDA64) over lines `CPUID <leaf>: <eax>-<ebx>-<ecx>-<edx> [SL <subleaf>]`, and
 * libcpuid's own `basic_cpuid[<leaf>]=<eax> <ebx> <ecx> <edx>`. Lines of another form are passed
 * over, so that a damaged dump gives what is left of it. */
#include "machine/cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/cpu_parts.h"

/* The largest dump at hand has 150 KB for 32 CPUs. */
#define MAX_DUMP ((size_t)16 << 20)

struct reader {
    struct uc_cpus *out;
    struct uc_cpu kindless; /* the first CPU without a core kind */
    bool has_kindless;
    struct uc_leaves leaves;
    unsigned line, bad; /* the line being read; the first register line that could not be */
};

/* ---- one line ---- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Eight hexadecimal digits, no more. Returns what follows, or NULL; NULL in, NULL out. */
static const char *hex8(const char *p, uint32_t *v)
{
    *v = 0;
    for (int i = 0; p && i < 8; i++) {
        int d = digit(p[i]);
        if (d < 0)
            return NULL;
        *v = *v << 4 | (uint32_t)d;
    }
    return p && digit(p[8]) < 0 ? p + 8 : NULL;
}

static const char *skip(const char *p, const char *text)
{
    return p && !strncmp(p, text, strlen(text)) ? p + strlen(text) : NULL;
}

/* Four registers with one character between two of them. */
static const char *registers(const char *p, const char *between, uint32_t r[4])
{
    for (int i = 0; i < 4; i++)
        p = hex8(i ? skip(p, between) : p, &r[i]);
    return p;
}

static uint32_t next_subleaf(const struct uc_leaves *l, uint32_t leaf)
{
    uint32_t n = 0;

    while (uc_leaves_find(l, leaf, n))
        n++;
    return n;
}

/* Where "[SL nn]" is absent, a leaf's lines are its subleaves in order. */
static uint32_t subleaf_of(const struct uc_leaves *l, uint32_t leaf, const char *rest)
{
    const char *at = strstr(rest, "[SL ");

    return at ? (uint32_t)strtoul(at + 4, NULL, 16) : next_subleaf(l, leaf);
}

static bool read_cpuid_line(const struct uc_leaves *l, const char *text, struct uc_leaf *out)
{
    const char *p = skip(hex8(skip(text, "CPUID "), &out->leaf), ": ");

    p = registers(p, "-", out->r);
    if (!p)
        return false;
    out->subleaf = subleaf_of(l, out->leaf, p);
    return true;
}

static const struct {
    const char *name;
    uint32_t leaf;
    bool counts_leaves; /* the index counts leaves, else subleaves */
} libcpuid_rows[] = {
    {"basic_cpuid[", 0, true},
    {"ext_cpuid[", 0x80000000u, true},
    {"intel_fn4[", 4, false},
    {"intel_fn11[", 0xB, false},
    {"intel_fn12h[", 0x12, false},
    {"intel_fn14h[", 0x14, false},
    {"amd_fn8000001dh[", 0x8000001Du, false},
    {"amd_fn80000026h[", 0x80000026u, false},
};

static bool read_libcpuid_line(size_t row, const char *rest, struct uc_leaf *out)
{
    char *end;
    unsigned long index = strtoul(rest, &end, 10);
    const char *p = registers(skip(end, "]="), " ", out->r);

    if (!p || index > 255)
        return false;
    out->leaf = libcpuid_rows[row].leaf + (libcpuid_rows[row].counts_leaves ? (uint32_t)index : 0);
    out->subleaf = libcpuid_rows[row].counts_leaves ? 0 : (uint32_t)index;
    return true;
}

enum kind { OTHER, REGISTERS, DAMAGED };

static enum kind read_registers(const struct uc_leaves *l, const char *text, struct uc_leaf *out)
{
    if (skip(text, "CPUID "))
        return read_cpuid_line(l, text, out) ? REGISTERS : DAMAGED;
    for (size_t i = 0; i < sizeof(libcpuid_rows) / sizeof(libcpuid_rows[0]); i++) {
        const char *rest = skip(text, libcpuid_rows[i].name);
        if (rest)
            return read_libcpuid_line(i, rest, out) ? REGISTERS : DAMAGED;
    }
    return OTHER;
}

static bool is_heading(const char *text)
{
    return skip(text, "CPU#") || strstr(text, "Logical CPU #");
}

/* ---- one CPU ---- */

static bool has_kind(const struct uc_cpus *cpus, const char *kind)
{
    for (size_t i = 0; i < cpus->n; i++)
        if (!strcmp(cpus->kind[i].core_kind, kind))
            return true;
    return false;
}

/* One entry a core kind. A CPU without one is kept aside: beside CPUs that have a kind it is one
 * whose record is damaged. */
static void end_cpu(struct reader *r)
{
    struct uc_cpu cpu;
    int rc = uc_cpu_from_leaves(&r->leaves, &cpu);

    r->leaves.n = 0;
    if (rc)
        return;
    if (!cpu.core_kind[0]) {
        if (!r->has_kindless)
            r->kindless = cpu;
        r->has_kindless = true;
    } else if (r->out->n < UC_MAX_CORE_KINDS && !has_kind(r->out, cpu.core_kind)) {
        r->out->kind[r->out->n++] = cpu;
    }
}

/* A second leaf 0 begins a CPU too: its heading may be damaged. */
static void read_line(struct reader *r, const char *text)
{
    struct uc_leaf leaf;

    if (is_heading(text)) {
        end_cpu(r);
        return;
    }
    switch (read_registers(&r->leaves, text, &leaf)) {
    case REGISTERS:
        if (leaf.leaf == 0 && uc_leaves_find(&r->leaves, 0, 0)) {
            end_cpu(r);
            leaf.subleaf = 0;
        }
        uc_leaves_add(&r->leaves, leaf.leaf, leaf.subleaf, leaf.r);
        break;
    case DAMAGED:
        if (!r->bad)
            r->bad = r->line;
        break;
    case OTHER:
        break;
    }
}

/* Bytes may be anything: a NUL ends its line early, and that is all. */
static void read_text(struct reader *r, char *text, size_t len)
{
    for (char *p = text; p < text + len;) {
        char *end = memchr(p, '\n', (size_t)(text + len - p));
        if (!end)
            end = text + len;
        *end = 0;
        r->line++;
        read_line(r, p);
        p = end + 1;
    }
    end_cpu(r);
}

int uc_cpus_from_dump(const char *path, struct uc_cpus *out, unsigned *line, const char **why)
{
    struct reader r = {.out = out};
    char *text;
    size_t len;
    int rc = uc_read_file(path, MAX_DUMP, &text, &len);

    *line = 0;
    *why = "";
    memset(out, 0, sizeof(*out));
    if (rc)
        return rc;
    read_text(&r, text, len);
    free(text);
    if (!out->n && r.has_kindless)
        out->kind[out->n++] = r.kindless;
    if (out->n)
        return 0;
    *line = r.bad ? r.bad : r.line;
    *why = r.bad ? "not the registers of a CPUID leaf" : "no CPU with leaves 0 and 1 up to here";
    return -EINVAL;
}
