/* Every CPUID dump of the shared data, and what its CPU gets of a header of the made-up CPUs of
 * merge_boxes.h. */
#ifndef TESTS_PICK_DUMPS_H
#define TESTS_PICK_DUMPS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "strategies/detect.h"
#include "strategies/pick.h"

#include "strategies/isa.h"

enum { /* what CPUs have, or copies need */
       SSE2 = UCOPY_ISA_SSE2,
       AVX2 = SSE2 | UCOPY_ISA_AVX2 | UCOPY_ISA_BMI2,
       AVX512 = AVX2 | UCOPY_ISA_AVX512BW,
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What the header of the boxes above holds, in its order. */
static const struct ucopy_measured cpus[] = {
    {{0x68747541, 0x69746e65, 0x444d4163}, 0x17, 0x01, SSE2 | UCOPY_ISA_AVX2, 0},
    {{0x68747541, 0x69746e65, 0x444d4163}, 0x1a, 0x02, AVX512, 0},
    {{0x756e6547, 0x49656e69, 0x6c65746e}, 6, 0x1a, SSE2, 0},
    {{0x756e6547, 0x49656e69, 0x6c65746e}, 6, 0x3c, SSE2 | UCOPY_ISA_AVX2, 0},
    {{0x756e6547, 0x49656e69, 0x6c65746e}, 6, 0x97, SSE2 | UCOPY_ISA_AVX2, 1},
};
static const char *const keys[] = {"fallback",    "amd-17-01",   "amd-1a-02",
                                   "intel-06-1a", "intel-06-3c", "intel-06-97"};

#define SAME UCOPY_PICK_SAME
#define NEAR UCOPY_PICK_NEAR
#define LACKS UCOPY_PICK_LACKS
#define NONE UCOPY_PICK_NONE

/* What each dump gets with all registers enabled by the OS, with those of AVX alone, and with none.
 */
static const struct dump {
    const char *file;
    struct {
        const char *key;
        unsigned why;
    } all, avx, none;
} dumps[] = {
    {"alder-lake-12900k", {"intel-06-97", SAME}, {"intel-06-97", SAME}, {"intel-06-1a", LACKS}},
    {"haswell-4770", {"intel-06-3c", SAME}, {"intel-06-3c", SAME}, {"intel-06-1a", LACKS}},
    {"ice-lake-1065g7", {"intel-06-97", NEAR}, {"intel-06-97", NEAR}, {"intel-06-1a", NEAR}},
    {"qemu-virtual", {"intel-06-1a", NEAR}, {"intel-06-1a", NEAR}, {"intel-06-1a", NEAR}},
    {"skylake-x-7900x", {"intel-06-3c", NEAR}, {"intel-06-3c", NEAR}, {"intel-06-1a", NEAR}},
    {"zen-1800x", {"amd-17-01", SAME}, {"amd-17-01", SAME}, {"fallback", LACKS}},
    {"zen2-3950x", {"amd-17-01", NEAR}, {"amd-17-01", NEAR}, {"fallback", NONE}},
    {"zen3-5950x", {"amd-17-01", NEAR}, {"amd-17-01", NEAR}, {"fallback", NONE}},
    {"zen4-7700x", {"amd-1a-02", NEAR}, {"amd-17-01", NEAR}, {"fallback", NONE}},
    {"zen5-9950x", {"amd-1a-02", NEAR}, {"amd-17-01", NEAR}, {"fallback", NONE}},
    {"zen5-guest-zeroed-cache-leaf",
     {"amd-1a-02", SAME},
     {"amd-17-01", LACKS},
     {"fallback", LACKS}},
};

static inline bool read_leaf(const char *text, unsigned leaf, unsigned r[4])
{
    char line[3][40];
    const char *at = NULL;

    snprintf(line[0], sizeof(line[0]), "CPUID %08X: ", leaf);
    snprintf(line[1], sizeof(line[1]), "basic_cpuid[%u]=", leaf);
    for (int i = 0; i < 2 && !at; i++)
        if ((at = strstr(text, line[i])))
            at += strlen(line[i]);
    return at && sscanf(at, "%8x%*1[- ]%8x%*1[- ]%8x%*1[- ]%8x", r, r + 1, r + 2, r + 3) == 4;
}

/* The first CPU of a dump, as ucopy_cpuid_read would find it where the OS has enabled nothing. */
static inline struct ucopy_cpuid read_dump(const char *name)
{
    const char *data = getenv("UCOPY_TEST_DATA");
    struct ucopy_cpuid c = {0};
    char path[400], *text;
    unsigned r[4];

    if (!data || !*data) {
        print_message("UCOPY_TEST_DATA: not set\n");
        skip();
    }
    snprintf(path, sizeof(path), "%s/cpuid/%s.txt", data, name);
    assert_int_equal(uc_read_file(path, 1 << 20, &text, NULL), 0);
    assert_true(read_leaf(text, 0, r));
    c.max_leaf = r[0];
    c.vendor[0] = r[1];
    c.vendor[1] = r[3];
    c.vendor[2] = r[2];
    assert_true(read_leaf(text, 1, r));
    c.leaf1_eax = r[0];
    c.leaf1_ecx = r[2] & ~(1u << 27);
    c.leaf1_edx = r[3];
    if (c.max_leaf >= 7 && read_leaf(text, 7, r)) {
        c.leaf7_ebx = r[1];
        c.leaf7_ecx = r[2];
        c.leaf7_edx = r[3];
    }
    free(text);
    return c;
}

static inline struct ucopy_cpuid enabled(struct ucopy_cpuid c, unsigned xcr0)
{
    c.leaf1_ecx |= 1u << 27;
    c.xcr0 = xcr0;
    return c;
}

#endif
