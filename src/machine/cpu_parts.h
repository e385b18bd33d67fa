/* What the files behind cpu.h share: one CPU's leaves as read here or from a dump, and the decision
 * whether a codename fits. */
#ifndef UC_MACHINE_CPU_PARTS_H
#define UC_MACHINE_CPU_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/cpu.h"

enum { UC_EAX, UC_EBX, UC_ECX, UC_EDX };

struct uc_leaf {
    uint32_t leaf, subleaf;
    uint32_t r[4]; /* by UC_EAX and so on */
};

/* A dump of today's largest part has about 90 rows a CPU; what exceeds the room is
 * nothing that is looked at here. */
#define UC_MAX_LEAVES 256
struct uc_leaves {
    size_t n;
    struct uc_leaf v[UC_MAX_LEAVES];
};

/* The first of its leaf and subleaf stays; later ones and those beyond the room are ignored. */
void uc_leaves_add(struct uc_leaves *l, uint32_t leaf, uint32_t subleaf, const uint32_t r[4]);

/* NULL where it is not there. */
const uint32_t *uc_leaves_find(const struct uc_leaves *l, uint32_t leaf, uint32_t subleaf);

/* Decodes one CPU of a dump: isa is what CPUID alone says, xcr0 is not known. 0, or -ENODATA where
 * leaf 0 or leaf 1 is missing or zero: then nobody can say who it is. */
int uc_cpu_from_leaves(const struct uc_leaves *l, struct uc_cpu *out);

/* Does a codename of libcpuid agree with vendor, family, model, stepping and brand string of cpu?
 */
bool uc_codename_fits(const char *codename, const struct uc_cpu *cpu);

#endif
