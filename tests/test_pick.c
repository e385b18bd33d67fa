/* Which copies a CPU gets, by the text that merged headers hold: on every CPUID dump at hand, whole
 * and mangled, as the rules in the header's comment say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "tests/pick_dumps.h"

static void check_pick(const char *file, struct ucopy_cpuid c, const char *key, unsigned why)
{
    unsigned picked = ucopy_pick(&c, cpus, COUNT(cpus));

    if (strcmp(keys[picked >> 3], key) != 0 || (picked & 7) != why)
        fail_msg("%s, XCR0 %#x: %s (%u), not %s (%u)", file, c.xcr0, keys[picked >> 3], picked & 7,
                 key, why);
}

static void dumps_get_what_the_rules_say(void **state)
{
    for (const struct dump *d = dumps; d < dumps + COUNT(dumps); d++) {
        struct ucopy_cpuid c = read_dump(d->file);
        check_pick(d->file, enabled(c, 0xE7), d->all.key, d->all.why);
        check_pick(d->file, enabled(c, 0x7), d->avx.key, d->avx.why);
        check_pick(d->file, c, d->none.key, d->none.why);
    }
}

/* A hybrid CPU has AVX-512 on one kind of core, or on both: only its own profiles know. */
static void hybrid_cpus_get_no_avx512_by_guess(void **state)
{
    struct ucopy_measured wide = {{0x756e6547, 0x49656e69, 0x6c65746e}, 6, 0x97, AVX512, 1};
    struct ucopy_cpuid c = enabled(read_dump("alder-lake-12900k"), 0xE7);

    assert_int_equal(ucopy_pick(&c, &wide, 1), LACKS);
    c.leaf7_ebx |= 0xD0030000; /* AVX-512 on this core too */
    assert_int_equal(ucopy_pick(&c, &wide, 1), 1 << 3 | SAME);
    wide.both = 0;
    assert_int_equal(ucopy_pick(&c, &wide, 1), LACKS);
    c.leaf7_edx &= ~(1u << 15);
    assert_int_equal(ucopy_pick(&c, &wide, 1), 1 << 3 | SAME);
    wide.both = 1;
    wide.model = 0x9a;
    assert_int_equal(ucopy_pick(&c, &wide, 1), 1 << 3 | NEAR);
    c.leaf7_edx |= 1u << 15;
    assert_int_equal(ucopy_pick(&c, &wide, 1), NONE);
}

/* ---- mangled ---- */

static unsigned apart(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

static bool may(const struct ucopy_cpuid *c, const struct ucopy_measured *m)
{
    bool hybrid = c->leaf7_edx >> 15 & 1;
    bool same = !memcmp(c->vendor, m->vendor, 12) && ucopy_cpu_family(c->leaf1_eax) == m->family &&
                ucopy_cpu_model(c->leaf1_eax) == m->model;
    unsigned usable = ucopy_isa_usable(c);

    if (hybrid && !(same && m->both))
        usable &= ~(unsigned)(UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2);
    return (m->isa & usable) == m->isa;
}

/* The rules once more, said another way: what was picked may be executed, and nothing that may be
 * is nearer. */
static void must_obey(const struct ucopy_cpuid *c)
{
    unsigned picked = ucopy_pick(c, cpus, COUNT(cpus)), place = picked >> 3, why = picked & 7;
    unsigned family = ucopy_cpu_family(c->leaf1_eax), model = ucopy_cpu_model(c->leaf1_eax);
    const struct ucopy_measured *m = place ? &cpus[place - 1] : NULL;
    bool own = false, wrong = m && (!may(c, m) || memcmp(c->vendor, m->vendor, 12));

    for (size_t i = 0; i < COUNT(cpus); i++) {
        const struct ucopy_measured *o = &cpus[i];
        if (memcmp(c->vendor, o->vendor, 12) != 0)
            continue;
        own |= o->family == family && o->model == model;
        if (may(c, o))
            wrong |= !m || apart(family, o->family) < apart(family, m->family) ||
                     (apart(family, o->family) == apart(family, m->family) &&
                      apart(model, o->model) < apart(model, m->model));
    }
    bool same = m && m->family == family && m->model == model;
    wrong |= why != (unsigned)(same ? SAME : own ? LACKS : m ? NEAR : NONE);
    if (wrong || place > COUNT(cpus))
        fail_msg("vendor %08x, leaf 1 %08x %08x, leaf 7 %08x %08x, XCR0 %#x: %s (%u)", c->vendor[0],
                 c->leaf1_eax, c->leaf1_ecx, c->leaf7_ebx, c->leaf7_edx, c->xcr0, keys[place], why);
}

/* Words of a dump zeroed, set, given one other bit or taken from another dump. */
static void mangled_dumps_obey_the_rules(void **state)
{
    struct ucopy_cpuid from[COUNT(dumps)];
    const size_t words = sizeof(from[0]) / sizeof(unsigned);
    struct uc_rng r = {5};

    for (size_t i = 0; i < COUNT(dumps); i++)
        from[i] = enabled(read_dump(dumps[i].file), 0xE7);
    for (size_t i = 0; i < 200000; i++) {
        unsigned v[sizeof(from[0]) / sizeof(unsigned)], other[sizeof(v) / sizeof(v[0])];
        struct ucopy_cpuid c;
        memcpy(v, &from[uc_rng_below(&r, COUNT(dumps))], sizeof(v));
        memcpy(other, &from[uc_rng_below(&r, COUNT(dumps))], sizeof(v));
        for (size_t k = uc_rng_below(&r, 4); k--;) {
            size_t w = uc_rng_below(&r, words);
            unsigned to[] = {0, ~0u, v[w] ^ 1u << uc_rng_below(&r, 32), other[w]};
            v[w] = to[uc_rng_below(&r, 4)];
        }
        memcpy(&c, v, sizeof(c));
        must_obey(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dumps_get_what_the_rules_say),
        cmocka_unit_test(hybrid_cpus_get_no_avx512_by_guess),
        cmocka_unit_test(mangled_dumps_obey_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
