/* Instruction sets that a strategy can need, one row each: bit, name everywhere (CLI, JSON, list),
 * the attribute that a compiler wants for it. "Usable" means CPUID says so and, for AVX and
 * AVX-512, that the OS has enabled the registers (OSXSAVE, XCR0).
 * avx512bw stands for F, VL, BW and DQ together with BMI2 (masks are made with bzhi). */
#ifndef UCOPY_ISA_H
#define UCOPY_ISA_H

#define UCOPY_ISA_LIST(X)                                                                          \
    X(ERMS, 0, "erms", "")                                                                         \
    X(FSRM, 1, "fsrm", "")                                                                         \
    X(SSE2, 2, "sse2", "sse2")                                                                     \
    X(AVX2, 3, "avx2", "avx2")                                                                     \
    X(BMI2, 4, "bmi2", "bmi2")                                                                     \
    X(AVX512BW, 5, "avx512bw", "avx512f,avx512vl,avx512bw,avx512dq,bmi2")                          \
    X(AVX512VBMI2, 6, "avx512vbmi2", "avx512vbmi2")

#define UCOPY_ISA_ENUM(id, bit, name, attribute) UCOPY_ISA_##id = 1u << (bit),
enum ucopy_isa { UCOPY_ISA_NONE = 0, UCOPY_ISA_LIST(UCOPY_ISA_ENUM) UCOPY_ISA_COUNT = 7 };

#endif
