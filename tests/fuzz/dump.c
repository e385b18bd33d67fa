/* CPUID dumps: whatever is left of one names a CPU in plain text, or none. */
#include "tests/fuzz/fuzz.h"

#include "machine/cpu.h"

static void plain(const char *text, size_t cap)
{
    must(memchr(text, 0, cap) != NULL, "a text without its end");
    for (; *text; text++)
        must(*text >= ' ' && *text <= '~', "a text that is none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct uc_cpus cpus;
    const char *why = NULL;
    unsigned line;
    int rc = uc_cpus_from_dump(as_file(0, data, n), &cpus, &line, &why);

    must(rc ? why && *why : cpus.n > 0 && cpus.n <= UC_MAX_CORE_KINDS,
         "neither a CPU nor a reason");
    for (size_t i = 0; i < cpus.n; i++) {
        const struct uc_cpu *c = &cpus.kind[i];
        plain(c->vendor, sizeof(c->vendor));
        plain(c->name, sizeof(c->name));
        plain(c->codename, sizeof(c->codename));
        plain(c->hypervisor_name, sizeof(c->hypervisor_name));
        plain(c->key, sizeof(c->key));
        must(c->l1d <= (size_t)1 << 20 && c->l2 <= (size_t)256 << 20 && c->l3 <= (size_t)8 << 30,
             "a cache beyond belief");
    }
    return 0;
}
