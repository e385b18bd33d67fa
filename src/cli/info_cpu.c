/* The CPU and its caches as `info` tells them. */
#include "cli/info.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "profile/json_io.h"
#include "profile/profile.h"
#include "strategies/registry.h"

static const char *isa_or_none(uint32_t isa, char *buf, size_t cap)
{
    return isa ? ucopy_isa_text(isa, buf, cap) : "none";
}

static void add_identity(struct uc_facts *f, const struct uc_cpu *c)
{
    uc_fact_set(uc_fact_add(f, "key", "vendor, family, model, core kind"), NULL, "%s", c->key);
    uc_fact_set(uc_fact_add(f, "vendor", "CPUID leaf 0"), NULL, "%s", c->vendor);
    uc_fact_set(uc_fact_add(f, "family", "CPUID leaf 1"), NULL, "%u (%#x)", c->family, c->family);
    uc_fact_set(uc_fact_add(f, "model", "CPUID leaf 1"), NULL, "%u (%#x)", c->model, c->model);
    uc_fact_set(uc_fact_add(f, "stepping", "CPUID leaf 1"), NULL, "%u", c->stepping);
    uc_fact_set(uc_fact_add(f, "name", "CPUID leaves 0x80000002 to 4"), NULL, "%s", c->name);
    uc_fact_set(
        uc_fact_add(f, "codename",
                    *c->codename ? "libcpuid" : "libcpuid's does not fit the model, or is none"),
        NULL, "%s", c->codename);
    uc_fact_set(uc_fact_add(f, "core_kind", "CPUID leaves 7 and 0x1A"), NULL, "%s",
                !strcmp(c->core_kind, "p")   ? "performance"
                : !strcmp(c->core_kind, "e") ? "efficiency"
                                             : "one kind");
    uc_fact_set(uc_fact_add(f, "hypervisor", "CPUID leaves 1 and 0x40000000"), NULL, "%s",
                !c->hypervisor        ? "none"
                : *c->hypervisor_name ? c->hypervisor_name
                                      : "one that does not name itself");
}

static void add_isa(struct uc_facts *f, const struct uc_cpu *c, uint32_t disabled)
{
    const char *source = c->xcr0_known ? "CPUID, OSXSAVE and XCR0" : "CPUID alone";
    char text[256];

    uc_fact_set(uc_fact_add(f, "instruction_sets", "%s", source), NULL, "%s",
                isa_or_none(c->isa & ~disabled, text, sizeof(text)));
    if (c->isa & disabled)
        uc_fact_set(uc_fact_add(f, "disabled", "--disable-isa or UCOPY_DISABLE_ISA"), NULL, "%s",
                    ucopy_isa_text(c->isa & disabled, text, sizeof(text)));
    if (c->isa_cpuid & ~c->isa)
        uc_fact_set(uc_fact_add(f, "not_enabled", "CPUID has them, the OS has not enabled them"),
                    NULL, "%s", ucopy_isa_text(c->isa_cpuid & ~c->isa, text, sizeof(text)));
    uc_fact_set(uc_fact_add(f, "erms", "CPUID leaf 7 EBX bit 9"), NULL, "%s",
                c->isa_cpuid & UCOPY_ISA_ERMS ? "yes" : "no");
    uc_fact_set(uc_fact_add(f, "fsrm", "CPUID leaf 7 EDX bit 4"), NULL, "%s",
                c->isa_cpuid & UCOPY_ISA_FSRM ? "yes" : "no");
    if (c->xcr0_known)
        uc_fact_set(uc_fact_add(f, "xcr0", "XGETBV"), NULL, "%#llx", (unsigned long long)c->xcr0);
}

/* A core kind has caches of its own; the root's "caches" are those of the core looked from. */
static json_t *libcpuid_caches_json(const struct uc_cpu *c)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "l1d", uc_json_size(c->l1d, 0), "l2",
                     uc_json_size(c->l2, 0), "l3", uc_json_size(c->l3, 0), "line",
                     uc_json_size(c->line, 0));
}

static json_t *cpu_json(const struct uc_cpu *c, uint32_t disabled)
{
    struct uc_cpu shown = *c;
    json_t *o;
    char xcr0[24];

    shown.isa &= ~disabled;
    o = uc_cpu_to_json(&shown);
    snprintf(xcr0, sizeof(xcr0), "%#llx", (unsigned long long)c->xcr0);
    if (!json_object_set_new(o, "isa_cpuid", uc_json_isa(c->isa_cpuid)) &&
        !json_object_set_new(o, "xcr0", c->xcr0_known ? json_string(xcr0) : json_null()) &&
        !json_object_set_new(o, "microcode", uc_json_string(c->microcode)) &&
        !json_object_set_new(o, "libcpuid_caches", libcpuid_caches_json(c)))
        return o;
    json_decref(o);
    return NULL;
}

json_t *uc_info_cpus_json(const struct uc_cpus *cpus, uint32_t disabled)
{
    json_t *list = json_array();
    int rc = !list;

    for (size_t i = 0; i < cpus->n; i++)
        rc |= json_array_append_new(list, cpu_json(&cpus->kind[i], disabled));
    if (!rc)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- caches ---- */

static const char *const cache_name[] = {"l1d", "l2", "l3"};

static void cache_list(const struct uc_caches *c, const struct uc_cache *list[3])
{
    list[0] = &c->l1d;
    list[1] = &c->l2;
    list[2] = &c->l3;
}

/* "libcpuid 48 KiB, hwloc unknown, ...", those with a value that was asked for. */
static void said_text(const struct uc_cache *c, char *buf, size_t cap)
{
    char size[UC_SIZE_TEXT];
    size_t used = 0;

    for (int i = 0; i < UC_CACHE_SOURCES && used < cap; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s %s", i ? ", " : "",
                                 uc_cache_source_name[i],
                                 c->by[i] ? uc_size_text(c->by[i], size) : "unknown");
}

static void add_cache(struct uc_facts *f, const char *name, const struct uc_cache *c)
{
    char said[128], size[UC_SIZE_TEXT];
    struct uc_fact *fact;

    said_text(c, said, sizeof(said));
    fact = uc_fact_add(f, name, "%s is used; %s%s", uc_cache_source_name[c->source], said,
                       c->disagree ? ": they differ twofold" : "");
    if (c->bytes)
        uc_fact_set(fact, NULL, "%s", uc_size_text(c->bytes, size));
}

static json_t *cache_json(const struct uc_cache *c)
{
    json_t *said = json_object();

    for (int i = 0; i < UC_CACHE_SOURCES; i++)
        json_object_set_new(said, uc_cache_source_name[i], uc_json_size(c->by[i], 0));
    return json_pack("{s:o, s:s?, s:o, s:b}", "bytes", uc_json_size(c->bytes, 0), "source",
                     c->bytes ? uc_cache_source_name[c->source] : NULL, "said", said, "disagree",
                     c->disagree);
}

json_t *uc_info_caches_json(const struct uc_caches *c)
{
    const struct uc_cache *list[3];
    json_t *o = json_object();

    cache_list(c, list);
    for (int i = 0; i < 3; i++)
        json_object_set_new(o, cache_name[i], cache_json(list[i]));
    json_object_set_new(o, "line", uc_json_size(c->line, 0));
    return o;
}

void uc_info_add_caches(struct uc_facts *f, const struct uc_caches *c)
{
    const struct uc_cache *list[3];

    cache_list(c, list);
    for (int i = 0; i < 3; i++)
        add_cache(f, cache_name[i], list[i]);
    uc_fact_set(uc_fact_add(f, "line", "libcpuid, else sysfs, else assumed"), NULL, "%zu B",
                c->line);
}

/* Of a dump's CPU nobody but libcpuid can be asked. */
static void add_dump_caches(struct uc_facts *f, const struct uc_cpu *c)
{
    const size_t bytes[] = {c->l1d, c->l2, c->l3};
    char size[UC_SIZE_TEXT];

    for (int i = 0; i < 3; i++) {
        struct uc_fact *fact = uc_fact_add(f, cache_name[i], "libcpuid");
        if (bytes[i])
            uc_fact_set(fact, NULL, "%s", uc_size_text(bytes[i], size));
    }
    if (c->line)
        uc_fact_set(uc_fact_add(f, "line", "libcpuid"), NULL, "%zu B", c->line);
}

void uc_info_print_cpu(const struct uc_cpu *c, uint32_t disabled)
{
    struct uc_facts f = {0};

    puts("cpu");
    add_identity(&f, c);
    add_isa(&f, c, disabled);
    if (!c->xcr0_known)
        add_dump_caches(&f, c);
    uc_facts_print(&f, stdout);
    uc_facts_free(&f);
}
