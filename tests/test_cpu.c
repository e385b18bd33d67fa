/* Who is this CPU and what may it execute: the truth table of OSXSAVE and XCR0, the dump reader on
 * four spellings, whole and damaged, and the codenames that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "machine/cpu.h"
#include "machine/cpu_parts.h"
#include "strategies/detect.h"
#include "strategies/isa.h"

#define OLD UCOPY_ISA_SSE2
#define ZEN (OLD | UCOPY_ISA_AVX2 | UCOPY_ISA_BMI2)
#define HASWELL (ZEN | UCOPY_ISA_ERMS)
#define ZEN3 (HASWELL | UCOPY_ISA_FSRM)
#define SKYLAKE_X (HASWELL | UCOPY_ISA_AVX512BW)
#define ALL (ZEN3 | UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2)

/* ---- usable instruction sets ---- */

enum {
    AVX = 1u << 28,
    OSXSAVE = 1u << 27,
    EBX_AVX2 = 1u << 5,
    EBX_BMI2 = 1u << 8,
    EBX_ERMS = 1u << 9,
    EBX_F = 1u << 16,
    EBX_DQ = 1u << 17,
    EBX_BW = 1u << 30,
    ECX_VBMI2 = 1u << 6,
    EDX_FSRM = 1u << 4,
    EDX1_SSE2 = 1u << 26,
};
#define EBX_VL (1u << 31)

/* A CPU that has everything; what the OS saves decides. */
static struct ucopy_cpuid rich(void)
{
    return (struct ucopy_cpuid){
        .max_leaf = 0x20,
        .leaf1_ecx = AVX | OSXSAVE,
        .leaf1_edx = EDX1_SSE2,
        .leaf7_ebx = EBX_AVX2 | EBX_BMI2 | EBX_ERMS | EBX_F | EBX_DQ | EBX_BW | EBX_VL,
        .leaf7_ecx = ECX_VBMI2,
        .leaf7_edx = EDX_FSRM,
        .xcr0 = 0xE7,
    };
}

/* XCR0: bit 0 x87, 1 SSE, 2 AVX, 5 to 7 the parts of AVX-512, 3 and 4 MPX, 9 PKRU, 17 and 18 AMX.
 */
static const struct {
    unsigned xcr0;
    bool avx, avx512;
} masks[] = {
    {0x0, false, false},      {0x1, false, false},  {0x2, false, false},   {0x3, false, false},
    {0x4, false, false},      {0x5, false, false},  {0x6, true, false},    {0x7, true, false},
    {0x1F, true, false},      {0x27, true, false},  {0x47, true, false},   {0x67, true, false},
    {0x87, true, false},      {0xA7, true, false},  {0xC7, true, false},   {0xE0, false, false},
    {0xE1, false, false},     {0xE3, false, false}, {0xE5, false, false},  {0xE6, true, true},
    {0xE7, true, true},       {0x2E7, true, true},  {0x602E7, true, true}, {0x60207, true, false},
    {0xFFFFFFFF, true, true},
};

static void check_mask(unsigned xcr0, unsigned leaf1_ecx, bool avx, bool avx512)
{
    struct ucopy_cpuid c = rich();
    unsigned want = ALL & ~(unsigned)(UCOPY_ISA_AVX2 | UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2);

    if (avx)
        want |= UCOPY_ISA_AVX2;
    if (avx512)
        want |= UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2;
    c.xcr0 = xcr0;
    c.leaf1_ecx = leaf1_ecx;
    if (ucopy_isa_usable(&c) != want)
        fail_msg("XCR0 %#x, leaf 1 ECX %#x: isa %#x, not %#x", xcr0, leaf1_ecx,
                 ucopy_isa_usable(&c), want);
}

static void test_masks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        check_mask(masks[i].xcr0, AVX | OSXSAVE, masks[i].avx, masks[i].avx512);
        check_mask(masks[i].xcr0, AVX, false, false);
        check_mask(masks[i].xcr0, OSXSAVE, false, false);
        check_mask(masks[i].xcr0, 0, false, false);
    }
}

/* avx512bw stands for F, VL, BW, DQ and BMI2: any of them away, and it is away. */
static void test_parts_of_avx512(void **state)
{
    const unsigned parts[] = {EBX_F, EBX_DQ, EBX_BW, EBX_VL, EBX_BMI2};
    struct ucopy_cpuid c;

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        c = rich();
        c.leaf7_ebx &= ~parts[i];
        assert_int_equal(ucopy_isa_usable(&c) &
                             (UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2 | UCOPY_ISA_AVX2),
                         UCOPY_ISA_AVX2);
    }
    c = rich();
    c.leaf7_ecx = 0;
    assert_int_equal(ucopy_isa_usable(&c), ALL & ~UCOPY_ISA_AVX512VBMI2);
    c.leaf7_edx = 0;
    assert_int_equal(ucopy_isa_usable(&c), SKYLAKE_X);
    c.leaf7_ebx = 0;
    assert_int_equal(ucopy_isa_usable(&c), OLD);
    c.leaf1_edx = 0;
    assert_int_equal(ucopy_isa_usable(&c), 0);
}

static void test_family_and_model(void **state)
{
    static const struct {
        unsigned eax, family, model;
    } t[] = {
        {0x000306C3, 0x06, 0x3C}, {0x00050654, 0x06, 0x55},  {0x000906A3, 0x06, 0x9A},
        {0x000006D3, 0x06, 0x0D}, {0x00800F11, 0x17, 0x01},  {0x00A20F10, 0x19, 0x21},
        {0x00B00F21, 0x1A, 0x02}, {0x00000F4A, 0x0F, 0x04},  {0x00000543, 0x05, 0x04},
        {0x0FF10543, 0x05, 0x04}, {0x0FF00F00, 0x10E, 0x00},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        assert_int_equal(ucopy_cpu_family(t[i].eax), t[i].family);
        assert_int_equal(ucopy_cpu_model(t[i].eax), t[i].model);
    }
}

/* ---- dumps by the name of a descriptor, so that one can be cut or changed and read again ---- */

static int fd = -1;
static char fd_path[64];

static void set_dump(const char *text, size_t len)
{
    if (fd < 0) {
        fd = memfd_create("dump", 0);
        assert_true(fd >= 0);
        snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
    }
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, text, len, 0), len);
}

static int read_dump(struct uc_cpus *cpus)
{
    unsigned line;
    const char *why;

    return uc_cpus_from_dump(fd_path, cpus, &line, &why);
}

static int read_text(const char *text, struct uc_cpus *cpus)
{
    set_dump(text, strlen(text));
    return read_dump(cpus);
}

#define BODY(one, seven, kind)                                             \
    "CPUID 00000000: 00000020-756E6547-6C65746E-49656E69 [GenuineIntel]\n" \
    "CPUID 00000001: " one "-00800800-7FFAFBFF-BFEBFBFF\n"                 \
    "CPUID 00000004: FC004121-02C0003F-0000003F-00000000 [SL 00]\n"        \
    "CPUID 00000004: FC004122-01C0003F-0000003F-00000000 [SL 01]\n"        \
    "CPUID 00000004: FC01C143-0240003F-000007FF-00000000 [SL 02]\n"        \
    "CPUID 00000007: 00000001-239CA7EB-98C027AC-" seven " [SL 00]\n"       \
    "CPUID 0000001A: " kind "-00000000-00000000-00000000\n"
#define P_CORE BODY("00090672", "FC1CC410", "40000001")
#define E_CORE BODY("00090672", "FC1CC410", "20000001")
#define DAMAGED BODY("00090672", "FC1CC410", "00000000")
#define PLAIN BODY("00090672", "FC1C4410", "40000001")

/* The same registers in four spellings are the same CPU. */
static void test_spellings(void **state)
{
    static const char *const spellings[] = {
        PLAIN,
        "CPU#000 AffMask: 0x0000000000000001\n" PLAIN,
        "------[ Logical CPU #0 ]------\r\n" PLAIN,
        "------[ CPUID Registers / Logical CPU #0 ]------\n" PLAIN,
        "CPUID 00000000: 00000020-756e6547-6c65746e-49656e69\n"
        "CPUID 00000001: 00090672-00800800-7ffafbff-bfebfbff\n"
        "CPUID 00000004: fc004121-02c0003f-0000003f-00000000\n"
        "CPUID 00000004: fc004122-01c0003f-0000003f-00000000\n"
        "CPUID 00000004: fc01c143-0240003f-000007ff-00000000\n"
        "CPUID 00000007: 00000001-239ca7eb-98c027ac-fc1c4410\n",
        "version=0.6.2\n\n_________________ Logical CPU #0 _________________\n"
        "basic_cpuid[0]=00000020 756e6547 6c65746e 49656e69\n"
        "basic_cpuid[1]=00090672 00800800 7ffafbff bfebfbff\n"
        "basic_cpuid[7]=00000001 239ca7eb 98c027ac fc1c4410\n"
        "basic_cpuid[26]=40000001 00000000 00000000 00000000\n"
        "intel_fn4[0]=fc004121 02c0003f 0000003f 00000000\n"
        "intel_fn4[1]=fc004122 01c0003f 0000003f 00000000\n"
        "intel_fn4[2]=fc01c143 0240003f 000007ff 00000000\n",
    };
    struct uc_cpus first, cpus;

    (void)state;
    assert_int_equal(read_text(spellings[0], &first), 0);
    assert_int_equal(first.n, 1);
    assert_string_equal(first.kind[0].key, "intel-06-97");
    assert_int_equal(first.kind[0].isa, ZEN3);
    assert_int_equal(first.kind[0].l1d, 48 << 10);
    assert_int_equal(first.kind[0].l2, 1280 << 10);
    assert_int_equal(first.kind[0].l3, 0);
    assert_int_equal(first.kind[0].line, 64);
    assert_false(first.kind[0].xcr0_known);
    for (size_t i = 1; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        assert_int_equal(read_text(spellings[i], &cpus), 0);
        if (memcmp(&first, &cpus, sizeof(first)))
            fail_msg("spelling %zu gives another CPU: %s", i, cpus.kind[0].key);
    }
}

static void test_core_kinds(void **state)
{
    static const struct {
        const char *text, *keys[3];
    } t[] = {
        {"CPU#0\n" P_CORE "CPU#1\n" E_CORE "CPU#2\n" P_CORE, {"intel-06-97-p", "intel-06-97-e"}},
        {"CPU#0\n" E_CORE "CPU#1\n" P_CORE, {"intel-06-97-e", "intel-06-97-p"}},
        {P_CORE E_CORE, {"intel-06-97-p", "intel-06-97-e"}}, /* no headings */
        {"CPU#0\n" DAMAGED "CPU#1\n" P_CORE "CPU#2\n" E_CORE, {"intel-06-97-p", "intel-06-97-e"}},
        {"CPU#0\n" DAMAGED "CPU#1\n" DAMAGED, {"intel-06-97"}},
        {"CPU#0\n" PLAIN "CPU#1\n" PLAIN, {"intel-06-97"}}, /* leaf 0x1A without the hybrid bit */
    };
    struct uc_cpus cpus;

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        assert_int_equal(read_text(t[i].text, &cpus), 0);
        for (size_t k = 0; k < 3; k++)
            if (t[i].keys[k] ? k >= cpus.n || strcmp(cpus.kind[k].key, t[i].keys[k]) : k < cpus.n)
                fail_msg("text %zu, entry %zu of %zu: %s", i, k, cpus.n, cpus.kind[k].key);
    }
}

/* A heading ends its CPU, also before one that lacks leaf 0: leaves never wander to another. */
static void test_headings(void **state)
{
    static const char *const headings[] = {
        "CPU#001 AffMask: 0x2\n", "------[ Logical CPU #1 ]------\n", "___ Logical CPU #1 ___\n"};
    struct uc_cpus cpus;
    char text[512];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof(text),
                 "CPUID 00000000: 00000020-756E6547-6C65746E-49656E69\n"
                 "CPUID 00000001: 00090672-00800800-7FFAFBFF-BFEBFBFF\n%s"
                 "CPUID 00000007: 00000001-239CA7EB-98C027AC-FC1C4410\n",
                 headings[i]);
        assert_int_equal(read_text(text, &cpus), 0);
        assert_int_equal(cpus.kind[0].isa, OLD);
    }
}

static void test_vendor_keys(void **state)
{
    static const struct {
        const char *leaf0, *vendor, *key;
    } t[] = {
        {"756E6547-6C65746E-49656E69", "GenuineIntel", "intel-06-97"},
        {"68747541-444D4163-69746E65", "AuthenticAMD", "amd-06-97"},
        {"6F677948-656E6975-6E65476E", "HygonGenuine", "hygon-06-97"},
        {"746E6543-736C7561-48727561", "CentaurHauls", "centaur-06-97"},
        {"68532020-20206961-68676E61", "  Shanghai  ", "zhaoxin-06-97"},
        {"68747541-0A224163-69FF6E65", "Authen?icA\"?", NULL},
        {"20202020-20202020-20202020", "            ", "unknown-06-97"},
        {"2D2D3156-2F2E2E2F-414D4163", "V1--cAMA/../", "v1cama-06-97"},
    };
    struct uc_cpus cpus;
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        snprintf(text, sizeof(text),
                 "CPUID 00000000: 00000001-%s\n"
                 "CPUID 00000001: 00090672-00000000-00000000-00000000\n",
                 t[i].leaf0);
        assert_int_equal(read_text(text, &cpus), 0);
        if (!t[i].key) {
            for (const char *p = cpus.kind[0].vendor; *p; p++)
                assert_in_range(*p, ' ', '~');
            continue;
        }
        assert_string_equal(cpus.kind[0].vendor, t[i].vendor);
        assert_string_equal(cpus.kind[0].key, t[i].key);
    }
}

static void test_hypervisors(void **state)
{
    static const struct {
        const char *leaf1_ecx, *signature, *name;
        bool hypervisor;
    } t[] = {
        {"80000000", "4B4D564B-564B4D56-0000004D", "KVM", true},
        {"80000000", "7263694D-666F736F-76482074", "Hyper-V", true},
        {"80000000", "54474354-43544743-47435447", "QEMU TCG", true},
        {"80000000", "64646F4F-64646F4F-00000000", "OoddOodd", true},
        {"80000000", "00000000-00000000-00000000", "", true},
        {"00000000", "4B4D564B-564B4D56-0000004D", "", false},
    };
    struct uc_cpus cpus;
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        snprintf(text, sizeof(text),
                 "CPUID 00000000: 00000001-756E6547-6C65746E-49656E69\n"
                 "CPUID 00000001: 00090672-00000000-%s-00000000\n"
                 "CPUID 40000000: 40000001-%s\n",
                 t[i].leaf1_ecx, t[i].signature);
        assert_int_equal(read_text(text, &cpus), 0);
        assert_int_equal(cpus.kind[0].hypervisor, t[i].hypervisor);
        assert_string_equal(cpus.kind[0].hypervisor_name, t[i].name);
        assert_int_equal(uc_cpu_emulated(&cpus.kind[0]), !strcmp(t[i].name, "QEMU TCG"));
    }
}

/* Leaves above the announced maximum are not of this CPU: Intel parts give the highest one again.
 */
static void test_beyond_maximum(void **state)
{
    struct uc_cpus cpus;

    (void)state;
    assert_int_equal(read_text("CPUID 00000000: 00000004-756E6547-6C65746E-49656E69\n"
                               "CPUID 00000001: 00090672-00800800-7FFAFBFF-BFEBFBFF\n"
                               "CPUID 00000007: FFFFFFFF-FFFFFFFF-FFFFFFFF-FFFFFFFF\n"
                               "CPUID 80000000: 80000001-00000000-00000000-00000000\n"
                               "CPUID 80000002: 41414141-41414141-41414141-41414141\n",
                               &cpus),
                     0);
    assert_int_equal(cpus.kind[0].isa, OLD);
    assert_string_equal(cpus.kind[0].name, "");
    assert_string_equal(cpus.kind[0].core_kind, "");
}

/* Leaf 0xB with a thread count of 0 is a division by zero inside libcpuid 0.6 to 0.8. */
static void test_zero_threads(void **state)
{
    struct uc_cpus cpus;

    (void)state;
    assert_int_equal(read_text(PLAIN
                               "CPUID 0000000B: 00000001-00010000-00000100-00000000 [SL 00]\n"
                               "CPUID 0000000B: 00000007-00000018-00000201-00000000 [SL 01]\n",
                               &cpus),
                     0);
    assert_string_equal(cpus.kind[0].key, "intel-06-97");
}

/* More caches than there are levels, found by fuzzing: libcpuid 0.6 smashes its stack. */
static void test_too_many_caches(void **state)
{
    char text[2048] = PLAIN;
    struct uc_cpus cpus;

    (void)state;
    for (unsigned i = 3; i < 16; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "CPUID 00000004: 3C07C163-0280003F-00004FFF-00000000 [SL %02X]\n", i);
    assert_int_equal(read_text(text, &cpus), 0);
    assert_string_equal(cpus.kind[0].key, "intel-06-97");
    assert_int_equal(cpus.kind[0].l1d, 48 << 10);
}

static void check_error(const char *text, unsigned want_line, const char *want_why)
{
    struct uc_cpus cpus;
    unsigned line = 99;
    const char *why = NULL;

    set_dump(text, strlen(text));
    assert_int_equal(uc_cpus_from_dump(fd_path, &cpus, &line, &why), -EINVAL);
    assert_int_equal(line, want_line);
    assert_non_null(strstr(why, want_why));
    assert_int_equal(cpus.n, 0);
}

static void test_errors(void **state)
{
    struct uc_cpus cpus;
    unsigned line;
    const char *why;

    (void)state;
    check_error("", 0, "leaves 0 and 1");
    check_error("size,ns\n1,2\n3,4\n", 3, "leaves 0 and 1");
    check_error("\nCPUID 00000000: 00000020-756E6547-6C65746E-49656E6\n", 2, "registers");
    check_error("CPUID 00000000: 00000020-756E6547-6C65746E-49656E69\n\nCPUID 00000001: x\n", 3,
                "registers");
    check_error("basic_cpuid[0]=00000020 756e6547 6c65746e 49656e69\nbasic_cpuid[]=0 0 0 0\n", 2,
                "registers");
    check_error("CPUID 00000000: 00000020-756E6547-6C65746E-49656E69\n"
                "CPUID 00000001: 00090672-00800800-7FFAFBFF-BFEBFBFF0\n\n\n",
                2, "registers");
    /* There, but zero: nobody. */
    check_error("CPUID 00000000: 00000000-00000000-00000000-00000000\n"
                "CPUID 00000001: 00090672-00800800-7FFAFBFF-BFEBFBFF\n",
                2, "leaves 0 and 1");
    check_error("CPUID 00000000: 00000020-756E6547-6C65746E-49656E69\n"
                "CPUID 00000001: 00000000-00000000-00000000-00000000\n",
                2, "leaves 0 and 1");
    assert_int_equal(uc_cpus_from_dump("/nonexistent/dump", &cpus, &line, &why), -ENOENT);
    assert_int_equal(uc_cpus_from_dump("/", &cpus, &line, &why), -EISDIR);
    assert_int_equal(uc_cpus_from_dump("/dev/zero", &cpus, &line, &why), -EFBIG);
}

/* ---- codenames ---- */

static void test_codenames(void **state)
{
    static const struct {
        const char *codename, *vendor, *name;
        unsigned family, model, stepping;
        bool fits;
    } t[] = {
        {"Abu Dhabi", "AuthenticAMD", "Oxide Virtual Turin-like Processor", 0x1A, 0x02, 1, false},
        {"Turion X2 (Griffin/1024K)", "AuthenticAMD", "AMD Ryzen 9 9950X 16-Core Processor", 0x1A,
         0x44, 0, false},
        {"Pentium M (Dothan)", "GenuineIntel", "QEMU Virtual CPU version (cpu64-rhel6)", 0x06, 0x0D,
         3, false},
        {"Broadwell (Core i7)", "GenuineIntel", "12th Gen Intel(R) Core(TM) i7-12700KF", 0x06, 0x97,
         2, false},
        {"Alder Lake-S (Core i7)", "GenuineIntel", "12th Gen Intel(R) Core(TM) i7-12700KF", 0x06,
         0x97, 2, true},
        {"Alder Lake-S (Core i9)", "GenuineIntel", "12th Gen Intel(R) Core(TM) i7-12700KF", 0x06,
         0x97, 2, false},
        {"Core i7 (Haswell)", "GenuineIntel", "Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz", 0x06, 0x3C,
         3, true},
        {"Haswell-E", "GenuineIntel", "Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz", 0x06, 0x3C, 3,
         false},
        {"Haswell-E", "GenuineIntel", "Intel(R) Xeon(R) CPU E5-2670 v3", 0x06, 0x3F, 2, true},
        {"Skylake (Xeon Scalable)", "GenuineIntel", "Intel(R) Xeon(R) Gold 5120 CPU", 0x06, 0x55, 4,
         true},
        {"Skylake (Xeon Scalable)", "GenuineIntel", "Intel(R) Xeon(R) Gold 6230 CPU", 0x06, 0x55, 7,
         false},
        {"Ryzen 9 (Vermeer)", "AuthenticAMD", "AMD Ryzen 9 5950X 16-Core Processor", 0x19, 0x21, 0,
         true},
        {"Ryzen 9 (Vermeer)", "AuthenticAMD", "AMD EPYC 7763 64-Core Processor", 0x19, 0x21, 0,
         false},
        {"EPYC (Milan)", "AuthenticAMD", "AMD EPYC 7763 64-Core Processor", 0x19, 0x01, 1, true},
        {"EPYC (Milan)", "AuthenticAMD", "AMD EPYC 7742 64-Core Processor", 0x17, 0x31, 0, false},
        {"EPYC (Milan)", "HygonGenuine", "AMD EPYC 7763 64-Core Processor", 0x19, 0x01, 1, false},
        {"Unknown P6", "GenuineIntel", "Intel(R) Xeon(R) Processor", 0x06, 0xCF, 2, false},
        {"", "GenuineIntel", "Intel(R) Xeon(R) Processor", 0x06, 0xCF, 2, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct uc_cpu c = {.family = t[i].family, .model = t[i].model, .stepping = t[i].stepping};
        snprintf(c.vendor, sizeof(c.vendor), "%s", t[i].vendor);
        snprintf(c.name, sizeof(c.name), "%s", t[i].name);
        if (uc_codename_fits(t[i].codename, &c) != t[i].fits)
            fail_msg("\"%s\" %s \"%s\"", t[i].codename, t[i].fits ? "should fit" : "fits",
                     t[i].name);
    }
}

/* ---- the CPU at hand, against the compiler's own reading of it ---- */

static void test_this_cpu(void **state)
{
    struct uc_cpu c;

    (void)state;
    memset(&c, 0xFF, sizeof(c));
    assert_int_equal(uc_cpu_identify(&c), 0);
    __builtin_cpu_init();
    assert_int_equal(!!(c.isa & UCOPY_ISA_SSE2), 1);
    assert_int_equal(!!(c.isa & UCOPY_ISA_AVX2), !!__builtin_cpu_supports("avx2"));
    assert_int_equal(!!(c.isa & UCOPY_ISA_BMI2), !!__builtin_cpu_supports("bmi2"));
    assert_int_equal(!!(c.isa & UCOPY_ISA_AVX512BW),
                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2"));
    assert_int_equal(c.isa & ~c.isa_cpuid, 0);
    assert_true(c.xcr0_known);
    if (__builtin_cpu_is("amd"))
        assert_memory_equal(c.key, "amd-", 4);
    if (__builtin_cpu_is("intel"))
        assert_memory_equal(c.key, "intel-", 6);
}

/* ---- published dumps ---- */

#define KIB(n) ((size_t)(n) << 10)

struct published {
    const char *file;
    struct {
        const char *key;
        uint32_t isa;
        size_t l1d, l2, l3;
    } kind[2];
    const char *codename; /* what a library that knows the part may call it; NULL: none fits */
    bool hypervisor;
};

static const struct published published[] = {
    {"alder-lake-12900k.txt",
     {{"intel-06-97-p", ZEN3, KIB(48), KIB(1280), KIB(30720)},
      {"intel-06-97-e", ZEN3, KIB(32), KIB(2048), KIB(30720)}},
     "Alder Lake",
     false},
    {"haswell-4770.txt",
     {{"intel-06-3c", HASWELL, KIB(32), KIB(256), KIB(8192)}},
     "Haswell",
     false},
    {"ice-lake-1065g7.txt",
     {{"intel-06-7e", ALL, KIB(48), KIB(512), KIB(8192)}},
     "Ice Lake",
     false},
    {"qemu-virtual.txt", {{"intel-06-0d", OLD, KIB(32), KIB(4096), 0}}, NULL, true},
    {"skylake-x-7900x.txt",
     {{"intel-06-55", SKYLAKE_X, KIB(32), KIB(1024), KIB(14080)}},
     "Skylake",
     false},
    {"zen-1800x.txt", {{"amd-17-01", ZEN, KIB(32), KIB(512), KIB(8192)}}, "Summit Ridge", false},
    {"zen2-3950x.txt", {{"amd-17-71", ZEN, KIB(32), KIB(512), KIB(16384)}}, "Matisse", false},
    {"zen3-5950x.txt", {{"amd-19-21", ZEN3, KIB(32), KIB(512), KIB(32768)}}, "Vermeer", false},
    {"zen4-7700x.txt", {{"amd-19-61", ALL, KIB(32), KIB(1024), KIB(32768)}}, "Raphael", false},
    {"zen5-9950x.txt",
     {{"amd-1a-44", ALL, KIB(48), KIB(1024), KIB(32768)}},
     "Granite Ridge",
     false},
    {"zen5-guest-zeroed-cache-leaf.txt",
     {{"amd-1a-02", ALL, KIB(48), KIB(1024), KIB(520192)}},
     "Turin",
     true},
};

enum { PUBLISHED = sizeof(published) / sizeof(published[0]) };

static char *load(const char *file, size_t *len)
{
    const char *data = getenv("UCOPY_TEST_DATA");
    char path[4096], *text;

    if (!data || !*data) {
        print_message("skipped: UCOPY_TEST_DATA is not set\n");
        skip();
    }
    snprintf(path, sizeof(path), "%s/cpuid/%s", data, file);
    if (uc_read_file(path, (size_t)1 << 20, &text, len)) {
        print_message("skipped: cannot read %s\n", path);
        skip();
    }
    return text;
}

static void check_codename(const struct published *p, const struct uc_cpu *c)
{
    if (c->codename[0] && (!p->codename || !strstr(c->codename, p->codename)))
        fail_msg("%s: codename %s", p->file, c->codename);
}

static void check_kind(const struct published *p, size_t i, const struct uc_cpu *c)
{
    assert_string_equal(c->key, p->kind[i].key);
    if (c->isa != p->kind[i].isa)
        fail_msg("%s: isa %#x, not %#x", c->key, c->isa, p->kind[i].isa);
    assert_int_equal(c->isa_cpuid, c->isa);
    assert_int_equal(c->l1d, p->kind[i].l1d);
    assert_int_equal(c->l2, p->kind[i].l2);
    assert_int_equal(c->l3, p->kind[i].l3);
    assert_int_equal(c->line, 64);
    assert_int_equal(c->hypervisor, p->hypervisor);
    assert_false(c->xcr0_known);
    assert_string_equal(c->microcode, "");
    check_codename(p, c);
}

static void test_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < PUBLISHED; i++) {
        const struct published *p = &published[i];
        struct uc_cpus cpus;
        size_t len;
        char *text = load(p->file, &len);
        set_dump(text, len);
        free(text);
        assert_int_equal(read_dump(&cpus), 0);
        assert_int_equal(cpus.n, p->kind[1].key ? 2 : 1);
        for (size_t k = 0; k < cpus.n; k++)
            check_kind(p, k, &cpus.kind[k]);
    }
}

/* ---- damaged dumps ---- */

static void check_text(const char *text, size_t cap)
{
    size_t n = strnlen(text, cap);

    assert_true(n < cap);
    for (size_t i = 0; i < n; i++)
        assert_in_range(text[i], ' ', '~');
}

/* Whatever was read: the texts are texts, the key is one, and no size is -1 or beyond belief. */
static void check_sane(const struct uc_cpus *cpus)
{
    assert_true(cpus->n >= 1 && cpus->n <= UC_MAX_CORE_KINDS);
    for (size_t i = 0; i < cpus->n; i++) {
        const struct uc_cpu *c = &cpus->kind[i];
        check_text(c->vendor, sizeof(c->vendor));
        check_text(c->name, sizeof(c->name));
        check_text(c->codename, sizeof(c->codename));
        check_text(c->hypervisor_name, sizeof(c->hypervisor_name));
        check_text(c->key, sizeof(c->key));
        assert_int_equal(strspn(c->key, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(c->key));
        assert_int_equal(c->isa & ~(uint32_t)ALL, 0);
        assert_true(c->l1d <= KIB(1024) && c->l2 <= KIB(262144) && c->l3 <= KIB(8388608));
        assert_true(c->line <= 1024);
    }
}

/* Reads what the descriptor holds; true where it is a CPU. */
static bool read_damaged(struct uc_cpus *cpus)
{
    int rc = read_dump(cpus);

    assert_true(rc == 0 || rc == -EINVAL);
    if (!rc)
        check_sane(cpus);
    return !rc;
}

/* Offset behind the n-th line, or len. */
static size_t behind_line(const char *text, size_t len, size_t n)
{
    const char *p = text;

    while (n-- && (p = memchr(p, '\n', len - (size_t)(p - text))))
        p++;
    return p ? (size_t)(p - text) : len;
}

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

/* What is left of a dump cut at this byte names its CPU or none. */
static void check_cut(const struct published *p, size_t cut)
{
    struct uc_cpus cpus;

    assert_int_equal(ftruncate(fd, (off_t)cut), 0);
    if (!read_damaged(&cpus))
        return;
    if (strcmp(cpus.kind[0].key, p->kind[0].key) && !p->kind[1].key)
        fail_msg("%s cut at byte %zu: %s", p->file, cut, cpus.kind[0].key);
    check_codename(p, &cpus.kind[0]);
}

/* At every line of the first two CPUs (the largest has 80) and at two places within each; then at
 * every 25th line, since all CPUs look alike. */
static void truncate_one(const struct published *p)
{
    size_t len, at, lines;
    char *text = load(p->file, &len);

    set_dump(text, len);
    lines = count_lines(text, len);
    for (size_t n = lines; n > 170; n = n > 195 ? n - 25 : 170)
        check_cut(p, behind_line(text, len, n));
    for (size_t n = lines < 170 ? lines : 170; n; n--) {
        at = behind_line(text, len, n);
        check_cut(p, at);
        check_cut(p, at - 5);
        check_cut(p, at - 1 - (at - behind_line(text, len, n - 1)) / 2);
    }
    free(text);
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < PUBLISHED; i++)
        truncate_one(&published[i]);
}

/* The hexadecimal digits of registers in one line become 0. */
static void zero_registers(char *line, size_t len)
{
    size_t i = 0;

    while (i < len && line[i] != ':' && line[i] != '=')
        i++;
    for (; i < len && line[i] != '['; i++)
        if (strchr("123456789abcdefABCDEF", line[i]))
            line[i] = '0';
}

/* Each line of the first two CPUs zeroed alone. Where leaf 0 and leaf 1 are left, the key's part
 * before the core kind stands. */
static void zero_one(const struct published *p)
{
    struct uc_cpus cpus;
    size_t len, end;
    char *text = load(p->file, &len), *copy;

    end = behind_line(text, len, 170);
    copy = malloc(end);
    assert_non_null(copy);
    for (size_t a = 0, b; a < end; a = b) {
        char *newline = memchr(text + a, '\n', end - a);
        b = newline ? (size_t)(newline - text) + 1 : end;
        memcpy(copy, text, end);
        zero_registers(copy + a, b - a);
        set_dump(copy, end);
        if (read_damaged(&cpus)) {
            size_t same = strlen(p->kind[0].key) - (p->kind[1].key ? 2 : 0);
            if (strncmp(cpus.kind[0].key, p->kind[0].key, same))
                fail_msg("%s with zeros at byte %zu: %s", p->file, a, cpus.kind[0].key);
            check_codename(p, &cpus.kind[0]);
        }
    }
    free(copy);
    free(text);
}

static void test_zeroed(void **state)
{
    (void)state;
    for (size_t i = 0; i < PUBLISHED; i++)
        zero_one(&published[i]);
}

/* Half of the changes keep a line's form (another hexadecimal digit), so that they get through to
 * what decodes the registers. */
static void mangle(char *text, size_t len, struct uc_rng *rng)
{
    uint64_t changes = 1 + uc_rng_below(rng, 40);

    while (changes--) {
        size_t at = uc_rng_below(rng, len);
        if (uc_rng_below(rng, 2))
            text[at] = (char)uc_rng_below(rng, 256);
        else if (strchr("0123456789abcdefABCDEF", text[at]) && text[at])
            text[at] = "0123456789ABCDEF"[uc_rng_below(rng, 16)];
    }
}

static void mangle_one(const struct published *p, unsigned tries)
{
    struct uc_cpus cpus;
    size_t len, end, read = 0;
    char *text = load(p->file, &len), *copy;

    end = behind_line(text, len, 170);
    copy = malloc(end);
    assert_non_null(copy);
    for (unsigned seed = 1; seed <= tries; seed++) {
        struct uc_rng rng = {seed};
        memcpy(copy, text, end);
        mangle(copy, end, &rng);
        set_dump(copy, end);
        read += read_damaged(&cpus);
    }
    assert_true(read > tries / 4);
    free(copy);
    free(text);
}

static void test_mangled(void **state)
{
    (void)state;
    for (size_t i = 0; i < PUBLISHED; i++)
        mangle_one(&published[i], 400);
}

/* The same without published data: the registers of a small dump, every digit changed at random. */
static void test_mangled_small(void **state)
{
    const char *text =
        "CPU#0\n" P_CORE "CPUID 0000000B: 00000001-00000002-00000100-00000000 [SL 00]\n"
        "CPUID 0000000B: 00000007-00000018-00000201-00000000 [SL 01]\n"
        "CPUID 00000012: 00000003-00000000-00000000-00002F1F [SL 00]\n"
        "CPUID 80000000: 80000008-00000000-00000000-00000000\n"
        "CPUID 80000002: 65746E49-2952286C-726F4320-4D542865\n"
        "CPUID 80000003: 37692029-3737342D-50432030-20402055\n"
        "CPUID 80000004: 30342E33-007A4847-00000000-00000000\n"
        "CPUID 80000006: 00000000-00000000-01006040-00000000\n" E_CORE;
    size_t len = strlen(text);
    struct uc_cpus cpus;
    char copy[4096];

    (void)state;
    assert_true(len < sizeof(copy));
    for (unsigned seed = 1; seed <= 20000; seed++) {
        struct uc_rng rng = {seed};
        memcpy(copy, text, len);
        mangle(copy, len, &rng);
        set_dump(copy, len);
        read_damaged(&cpus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_parts_of_avx512),
        cmocka_unit_test(test_family_and_model),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_core_kinds),
        cmocka_unit_test(test_headings),
        cmocka_unit_test(test_vendor_keys),
        cmocka_unit_test(test_hypervisors),
        cmocka_unit_test(test_beyond_maximum),
        cmocka_unit_test(test_zero_threads),
        cmocka_unit_test(test_too_many_caches),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_codenames),
        cmocka_unit_test(test_this_cpu),
        cmocka_unit_test(test_mangled_small),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_zeroed),
        cmocka_unit_test(test_mangled),
    };

    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
