/* The choice among the copies of several CPUs, by the registers of the one at hand. Headers of
 * several CPUs embed this text, and the tests run it on CPUID dumps. */

/* A CPU whose copies are there. */
struct ucopy_measured {
    unsigned vendor[3]; /* as in struct ucopy_cpuid */
    unsigned family, model;
    unsigned isa;  /* what its copies need: bits as ucopy_isa_usable gives them */
    unsigned both; /* 1: a hybrid CPU, measured on both kinds of its cores */
};

/* What a choice rests on, in its three low bits. Above them stands its place, from 1; 0: no copy. */
enum {
    UCOPY_PICK_SAME = 1,  /* vendor, family and model are the same */
    UCOPY_PICK_NEAR = 2,  /* nobody measured this CPU: the nearest of its vendor */
    UCOPY_PICK_LACKS = 3, /* somebody did, but it lacks here what the copies need: the nearest */
    UCOPY_PICK_NONE = 4   /* nothing of its vendor that it may execute */
};

/* 0: the same CPU; all ones: another vendor's. Families count before models. */
__attribute__((unused)) static unsigned ucopy_pick_distance(const struct ucopy_cpuid *c,
                                                            const struct ucopy_measured *m)
{
    unsigned family = ucopy_cpu_family(c->leaf1_eax), model = ucopy_cpu_model(c->leaf1_eax);

    if (c->vendor[0] != m->vendor[0] || c->vendor[1] != m->vendor[1] ||
        c->vendor[2] != m->vendor[2])
        return ~0u;
    family = family > m->family ? family - m->family : m->family - family;
    model = model > m->model ? model - m->model : m->model - model;
    return family << 12 | model;
}

/* A thread moves between the two kinds of cores of a hybrid CPU (leaf 7 EDX bit 15), and CPUID tells
 * of the one it is on: AVX-512, which some have on one kind alone, counts only where both were
 * measured. */
__attribute__((unused)) static unsigned ucopy_pick_usable(const struct ucopy_cpuid *c,
                                                          const struct ucopy_measured *m,
                                                          unsigned distance)
{
    unsigned isa = ucopy_isa_usable(c);

    if ((c->leaf7_edx >> 15 & 1) && (distance || !m->both))
        isa &= ~0x60u;
    return !(m->isa & ~isa);
}

/* Of n, in an order in which the first of two as near is taken. */
__attribute__((unused)) static unsigned
ucopy_pick(const struct ucopy_cpuid *c, const struct ucopy_measured *m, unsigned n)
{
    unsigned i, distance, place = 0, nearest = ~0u, lacks = 0;

    for (i = 0; i < n; i++) {
        distance = ucopy_pick_distance(c, m + i);
        if (distance < nearest && ucopy_pick_usable(c, m + i, distance)) {
            nearest = distance;
            place = i + 1;
        } else if (!distance) {
            lacks = 1;
        }
    }
    if (!place)
        return lacks ? UCOPY_PICK_LACKS : UCOPY_PICK_NONE;
    return place << 3 | (lacks ? UCOPY_PICK_LACKS : nearest ? UCOPY_PICK_NEAR : UCOPY_PICK_SAME);
}
