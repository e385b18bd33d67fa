/* Promises: identity, instruction sets and core kind come from the raw leaves by our own reader and
 * from the text that the generated headers carry (strategies/detect.h); libcpuid adds a codename
 * and cache sizes, and neither is believed without a check. Here and in a dump the same code
 * decides. */
#include "machine/cpu.h"

#include <ctype.h>
#include <errno.h>
#include <libcpuid/libcpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpu_parts.h"
#include "strategies/detect.h"
#include "strategies/isa.h"

enum {
    OSXSAVE = 1u << 27,    /* leaf 1 ECX */
    HYPERVISOR = 1u << 31, /* leaf 1 ECX */
    HYBRID = 1u << 15,     /* leaf 7 EDX */
};

/* ---- leaves ---- */

const uint32_t *uc_leaves_find(const struct uc_leaves *l, uint32_t leaf, uint32_t subleaf)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].leaf == leaf && l->v[i].subleaf == subleaf)
            return l->v[i].r;
    return NULL;
}

void uc_leaves_add(struct uc_leaves *l, uint32_t leaf, uint32_t subleaf, const uint32_t r[4])
{
    if (l->n == UC_MAX_LEAVES || uc_leaves_find(l, leaf, subleaf))
        return;
    l->v[l->n] = (struct uc_leaf){.leaf = leaf, .subleaf = subleaf};
    memcpy(l->v[l->n].r, r, sizeof(l->v[l->n].r));
    l->n++;
}

/* A leaf above the maximum that its range announces holds whatever the CPU likes (Intel returns the
 * highest basic leaf again): it counts as zero, and so does a missing one. */
static const uint32_t *leaf(const struct uc_leaves *l, uint32_t number, uint32_t subleaf)
{
    static const uint32_t zero[4];
    const uint32_t *first = uc_leaves_find(l, number & 0xC0000000u, 0);
    const uint32_t *r = uc_leaves_find(l, number, subleaf);

    return first && r && first[UC_EAX] >= number ? r : zero;
}

static void read_leaf(struct uc_leaves *l, uint32_t number, uint32_t subleaf)
{
    unsigned r[4];

    ucopy_cpuid_leaf(number, subleaf, r);
    uc_leaves_add(l, number, subleaf, r);
}

static void read_range(struct uc_leaves *l, uint32_t first, uint32_t count)
{
    read_leaf(l, first, 0);
    for (uint32_t i = 1; i < count && first + i <= leaf(l, first, 0)[UC_EAX]; i++)
        read_leaf(l, first + i, 0);
}

static void read_subleaves(struct uc_leaves *l, uint32_t number, uint32_t count)
{
    if (leaf(l, number & 0x80000000u, 0)[UC_EAX] >= number)
        for (uint32_t i = 1; i < count; i++)
            read_leaf(l, number, i);
}

/* What libcpuid looks at, and the hypervisor's signature: about 80 leaves, half a millisecond where
 * each of them traps. */
static void read_all(struct uc_leaves *l)
{
    l->n = 0;
    read_range(l, 0, MAX_CPUID_LEVEL);
    read_range(l, 0x80000000u, MAX_EXT_CPUID_LEVEL);
    read_subleaves(l, 4, MAX_INTELFN4_LEVEL);
    read_subleaves(l, 0xB, MAX_INTELFN11_LEVEL);
    read_subleaves(l, 0x8000001Du, MAX_AMDFN8000001DH_LEVEL);
    if (leaf(l, 1, 0)[UC_ECX] & HYPERVISOR)
        read_leaf(l, 0x40000000u, 0);
}

/* ---- text ---- */

/* Registers as the characters they hold: up to the first NUL, printable ASCII. */
static void text_of(const uint32_t *r, size_t bytes, char *out)
{
    memcpy(out, r, bytes);
    out[bytes] = 0;
    for (; *out; out++)
        if (!isascii((unsigned char)*out) || !isprint((unsigned char)*out))
            *out = '?';
}

static void trim(char *text)
{
    size_t n = strlen(text), skip = strspn(text, " ");

    while (n > skip && text[n - 1] == ' ')
        n--;
    memmove(text, text + skip, n - skip);
    text[n - skip] = 0;
}

/* ---- identity ---- */

static const struct {
    const char *vendor, *key;
} key_names[] = {
    {"GenuineIntel", "intel"},   {"AuthenticAMD", "amd"},     {"HygonGenuine", "hygon"},
    {"CentaurHauls", "centaur"}, {"  Shanghai  ", "zhaoxin"},
};

/* The vendor's part of the key: letters and digits, since it becomes part of C names. */
static void key_name(const char *vendor, char out[13])
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++)
        if (!strcmp(key_names[i].vendor, vendor)) {
            strcpy(out, key_names[i].key);
            return;
        }
    for (const char *p = vendor; *p; p++)
        if (isalnum((unsigned char)*p))
            out[n++] = (char)tolower((unsigned char)*p);
    out[n] = 0;
    if (!n)
        strcpy(out, "unknown");
}

/* Leaf 0x1A means something only on hybrid parts: others have a value there too. */
static const char *core_kind(const struct uc_leaves *l)
{
    if (!(leaf(l, 7, 0)[UC_EDX] & HYBRID))
        return "";
    switch (leaf(l, 0x1A, 0)[UC_EAX] >> 24) {
    case 0x40:
        return "p";
    case 0x20:
        return "e";
    default:
        return "";
    }
}

static void set_key(struct uc_cpu *c)
{
    char vendor[13];

    key_name(c->vendor, vendor);
    snprintf(c->key, sizeof(c->key), "%s-%02x-%02x%s%s", vendor, c->family, c->model,
             c->core_kind[0] ? "-" : "", c->core_kind);
}

static void set_identity(struct uc_cpu *c, const struct uc_leaves *l, const struct ucopy_cpuid *id)
{
    uint32_t brand[12];

    text_of(id->vendor, sizeof(id->vendor), c->vendor);
    c->family = ucopy_cpu_family(id->leaf1_eax);
    c->model = ucopy_cpu_model(id->leaf1_eax);
    c->stepping = id->leaf1_eax & 15;
    for (uint32_t i = 0; i < 3; i++)
        memcpy(brand + 4 * i, leaf(l, 0x80000002u + i, 0), 16);
    text_of(brand, sizeof(brand), c->name);
    trim(c->name);
    strcpy(c->core_kind, core_kind(l));
    set_key(c);
}

/* ---- hypervisor ---- */

static const struct {
    const char *signature, *name;
} hypervisors[] = {
    {"KVMKVMKVM", "KVM"},           {"Linux KVM Hv", "KVM"},  {"Microsoft Hv", "Hyper-V"},
    {"VMwareVMware", "VMware"},     {"XenVMMXenVMM", "Xen"},  {"TCGTCGTCGTCG", "QEMU TCG"},
    {"VBoxVBoxVBox", "VirtualBox"}, {"bhyve bhyve", "bhyve"}, {"prl hyperv", "Parallels"},
    {"lrpepyh  vr", "Parallels"},   {"ACRNACRNACRN", "ACRN"}, {"OpenBSDVMM58", "OpenBSD vmm"},
    {"VirtualApple", "Rosetta"},    {"___ NVMM ___", "NVMM"},
};

/* Leaf 0x40000000 does not announce itself in the basic range: the hypervisor bit vouches for it.
 */
static void set_hypervisor(struct uc_cpu *c, const struct uc_leaves *l, unsigned leaf1_ecx)
{
    const uint32_t *r = uc_leaves_find(l, 0x40000000u, 0);

    c->hypervisor = leaf1_ecx & HYPERVISOR;
    if (!c->hypervisor || !r)
        return;
    text_of(r + UC_EBX, 12, c->hypervisor_name);
    trim(c->hypervisor_name);
    for (size_t i = 0; i < sizeof(hypervisors) / sizeof(hypervisors[0]); i++)
        if (!strcmp(hypervisors[i].signature, c->hypervisor_name))
            strcpy(c->hypervisor_name, hypervisors[i].name);
}

/* TCG translates; so does Rosetta, for which arm64 Macs run x86-64 Linux programs. */
bool uc_cpu_emulated(const struct uc_cpu *cpu)
{
    return !strcmp(cpu->hypervisor_name, "QEMU TCG") || !strcmp(cpu->hypervisor_name, "Rosetta") ||
           !strcmp(cpu->vendor, "VirtualApple") || strstr(cpu->name, "QEMU TCG");
}

/* ---- libcpuid ---- */

/* 0 and -1 are libcpuid's words for unknown; a size above the limit comes from a damaged leaf. */
static size_t from_kib(int32_t kib, size_t limit)
{
    size_t bytes = kib > 0 ? (size_t)kib * 1024 : 0;

    return bytes <= limit ? bytes : 0;
}

static size_t line_of(int32_t bytes)
{
    return bytes >= 16 && bytes <= 1024 && !(bytes & (bytes - 1)) ? (size_t)bytes : 0;
}

/* Left out on purpose: leaves 0x12 and 0x14 (for SGX, libcpuid 0.6 to 0.8 executes CPUID on this
 * machine, up to a million times, whatever CPU the raw data is of), and rows of leaf 0xB that count
 * 0 threads, by which those versions divide; and of leaf 4 what follows the five caches that there
 * are (two of L1, L2, L3, L4), beyond which they write behind an array on their stack. */
static void fill_raw(struct cpu_raw_data_t *raw, const struct uc_leaves *l)
{
    memset(raw, 0, sizeof(*raw));
    for (uint32_t i = 0; i < MAX_CPUID_LEVEL; i++)
        memcpy(raw->basic_cpuid[i], leaf(l, i, 0), 16);
    for (uint32_t i = 0; i < MAX_EXT_CPUID_LEVEL; i++)
        memcpy(raw->ext_cpuid[i], leaf(l, 0x80000000u + i, 0), 16);
    for (uint32_t i = 0; i < MAX_INTELFN4_LEVEL && i < 5; i++)
        memcpy(raw->intel_fn4[i], leaf(l, 4, i), 16);
    for (uint32_t i = 0; i < MAX_INTELFN11_LEVEL && leaf(l, 0xB, i)[UC_EBX] & 0xFFFF; i++)
        memcpy(raw->intel_fn11[i], leaf(l, 0xB, i), 16);
    for (uint32_t i = 0; i < MAX_AMDFN8000001DH_LEVEL; i++)
        memcpy(raw->amd_fn8000001dh[i], leaf(l, 0x8000001Du, i), 16);
    memset(raw->basic_cpuid[0x12], 0, 16);
}

static void ask_libcpuid(struct uc_cpu *c, const struct uc_leaves *l)
{
    struct cpu_raw_data_t raw;
    struct cpu_id_t id;

    fill_raw(&raw, l);
    cpuid_set_warn_function(NULL); /* it would print on stderr */
    if (cpu_identify(&raw, &id) < 0)
        return;
    c->l1d = from_kib(id.l1_data_cache, (size_t)1 << 20);
    c->l2 = from_kib(id.l2_cache, (size_t)256 << 20);
    c->l3 = from_kib(id.l3_cache, (size_t)8 << 30);
    c->line = line_of(id.l1_data_cacheline);
    id.cpu_codename[sizeof(id.cpu_codename) - 1] = 0;
    if (uc_codename_fits(id.cpu_codename, c))
        snprintf(c->codename, sizeof(c->codename), "%s", id.cpu_codename);
}

/* ---- the two ways in ---- */

static uint32_t isa_by_cpuid(struct ucopy_cpuid id)
{
    id.leaf1_ecx |= OSXSAVE;
    id.xcr0 = 0xE7; /* x87, SSE, AVX and the three AVX-512 states */
    return ucopy_isa_usable(&id);
}

static void decode(struct uc_cpu *c, const struct uc_leaves *l, const struct ucopy_cpuid *id)
{
    memset(c, 0, sizeof(*c));
    set_identity(c, l, id);
    set_hypervisor(c, l, id->leaf1_ecx);
    c->isa_cpuid = isa_by_cpuid(*id);
    c->isa = c->isa_cpuid;
    ask_libcpuid(c, l);
}

int uc_cpu_from_leaves(const struct uc_leaves *l, struct uc_cpu *out)
{
    const uint32_t *r0 = uc_leaves_find(l, 0, 0), *r1 = uc_leaves_find(l, 1, 0);
    const uint32_t *r7 = leaf(l, 7, 0);
    struct ucopy_cpuid id;

    if (!r0 || !r1 || !(r0[UC_EBX] | r0[UC_ECX] | r0[UC_EDX]) || !r1[UC_EAX])
        return -ENODATA;
    id = (struct ucopy_cpuid){
        .max_leaf = r0[UC_EAX],
        .vendor = {r0[UC_EBX], r0[UC_EDX], r0[UC_ECX]},
        .leaf1_eax = r1[UC_EAX],
        .leaf1_ecx = r1[UC_ECX],
        .leaf1_edx = r1[UC_EDX],
        .leaf7_ebx = r7[UC_EBX],
        .leaf7_ecx = r7[UC_ECX],
        .leaf7_edx = r7[UC_EDX],
    };
    decode(out, l, &id);
    return 0;
}

/* Many hypervisors say 0x1 or 0xffffffff, which is no revision. */
static bool is_revision(const char *text)
{
    unsigned long v = strtoul(text, NULL, 16);

    return v > 1 && v != 0xFFFFFFFFul;
}

static void read_microcode(char *out, size_t cap)
{
    char line[512], value[24];
    FILE *f = fopen("/proc/cpuinfo", "re");

    if (!f)
        return;
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "microcode : %23s", value) == 1) {
            if (is_revision(value))
                snprintf(out, cap, "%s", value);
            break;
        }
    fclose(f);
}

int uc_cpu_identify(struct uc_cpu *out)
{
    struct ucopy_cpuid id;
    struct uc_leaves l;

    ucopy_cpuid_read(&id);
    if (id.max_leaf < 1)
        return -ENOTSUP;
    read_all(&l);
    decode(out, &l, &id);
    out->isa = ucopy_isa_usable(&id);
    out->xcr0_known = true;
    out->xcr0 = id.xcr0;
    read_microcode(out->microcode, sizeof(out->microcode));
    return 0;
}
