/* Who is this CPU, and what may it execute? The one user of libcpuid.
 * Names and caches come from libcpuid; vendor, family, model, features and core kind are read from
 * the raw leaves by our own reader, since libcpuid 0.6.2 knows neither ERMS nor FSRM nor newer
 * codenames. A codename is shown only where vendor, family and model agree with it. */
#ifndef UC_MACHINE_CPU_H
#define UC_MACHINE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uc_cpu {
    char key[32];    /* amd-1a-02, intel-06-b7-p; other vendors by a short lower-case name */
    char vendor[13]; /* the 12 characters of leaf 0 */
    unsigned family, model, stepping;
    char name[49];            /* brand string, trimmed; "" where the leaves are absent */
    char codename[64];        /* "" unless it fits vendor, family and model */
    char core_kind[4];        /* "p", "e", or "" where the CPU has one kind */
    bool hypervisor;          /* leaf 1 ECX bit 31 */
    char hypervisor_name[32]; /* "KVM", "Hyper-V", ..., or the raw signature; "" if none told */
    uint32_t isa; /* UCOPY_ISA_* bits (strategies/isa.h) usable here: CPUID, OSXSAVE and XCR0 */
    uint32_t isa_cpuid; /* the same bits by CPUID alone: isa lacks what the OS has not enabled */
    bool xcr0_known;    /* false for a dump: isa is then what CPUID alone says */
    uint64_t xcr0;      /* its low 32 bits; 0 where OSXSAVE is clear */
    char microcode[24]; /* from /proc/cpuinfo, "" if not told (0x1 and 0xffffffff, said by many
                           hypervisors, are not) */
    size_t l1d, l2, l3; /* bytes by libcpuid; 0: unknown (0, -1 and implausible sizes from the
                           library are unknown) */
    size_t line;        /* cache line, bytes; 0: unknown */
};

#define UC_MAX_CORE_KINDS 4
struct uc_cpus {
    struct uc_cpu kind[UC_MAX_CORE_KINDS]; /* one a core kind, in order of first appearance */
    size_t n;
};

/* The CPU that this thread runs on now (pin first: on hybrid CPUs the answer depends on the core).
 * Executes CPUID: up to 13,000 ticks each in a guest. 0 or a negative errno. */
int uc_cpu_identify(struct uc_cpu *out);

/* Is it an emulator that executes the code, so that times say nothing about any CPU? Told by what
 * the emulator says of itself; also of a CPU read from a profile. */
bool uc_cpu_emulated(const struct uc_cpu *cpu);

/* From a CPUID dump in any of the four spellings of DESIGN.md, also damaged ones (leaves missing,
 * zeroed, mangled). 0; -EINVAL where no leaf 0 and 1 can be read, with *line and *why set for the
 * message; or the errno of reading. Never crashes on any input. */
int uc_cpus_from_dump(const char *path, struct uc_cpus *out, unsigned *line, const char **why);

#endif
