/* Register files for the vector templates: UCOPY_REG(i) is the i-th register's name in the asm text
 * and UCOPY_CLOBBER_4 or _8 what the block writes. Parameters:
 *   UCOPY_WIDTH  16, 32 or 64 bytes: xmm, ymm, zmm
 *   UCOPY_HIGH   0: registers 0 to 7 (SSE or VEX; upper halves are cleaned with vzeroupper)
 *                1: registers 16 to 23 (AVX-512VL; nothing to clean, since vzeroupper's rule covers 0 to 15) */
#define UCOPY_PASTE_(a, b) a##b
#define UCOPY_PASTE(a, b) UCOPY_PASTE_(a, b)
#define UCOPY_TEXT_(x) #x
#define UCOPY_TEXT(x) UCOPY_TEXT_(x)

#define UCOPY_KIND UCOPY_PASTE(UCOPY_KIND_, UCOPY_WIDTH)
#define UCOPY_KIND_16 "xmm"
#define UCOPY_KIND_32 "ymm"
#define UCOPY_KIND_64 "zmm"

#if UCOPY_HIGH
#define UCOPY_NUMBER_0 "16"
#define UCOPY_NUMBER_1 "17"
#define UCOPY_NUMBER_2 "18"
#define UCOPY_NUMBER_3 "19"
#define UCOPY_NUMBER_4 "20"
#define UCOPY_NUMBER_5 "21"
#define UCOPY_NUMBER_6 "22"
#define UCOPY_NUMBER_7 "23"
#define UCOPY_CLOBBER_2 "xmm16", "xmm17"
#define UCOPY_CLOBBER_4 UCOPY_CLOBBER_2, "xmm18", "xmm19"
#define UCOPY_CLOBBER_8 UCOPY_CLOBBER_4, "xmm20", "xmm21", "xmm22", "xmm23"
#else
#define UCOPY_NUMBER_0 "0"
#define UCOPY_NUMBER_1 "1"
#define UCOPY_NUMBER_2 "2"
#define UCOPY_NUMBER_3 "3"
#define UCOPY_NUMBER_4 "4"
#define UCOPY_NUMBER_5 "5"
#define UCOPY_NUMBER_6 "6"
#define UCOPY_NUMBER_7 "7"
#if UCOPY_WIDTH == 16
#define UCOPY_CLOBBER_2 "xmm0", "xmm1"
#define UCOPY_CLOBBER_4 UCOPY_CLOBBER_2, "xmm2", "xmm3"
#define UCOPY_CLOBBER_8 UCOPY_CLOBBER_4, "xmm4", "xmm5", "xmm6", "xmm7"
#else /* vzeroupper writes the upper half of all sixteen */
#define UCOPY_CLOBBER_8                                                                            \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define UCOPY_CLOBBER_4 UCOPY_CLOBBER_8
#define UCOPY_CLOBBER_2 UCOPY_CLOBBER_8
#endif
#endif
#define UCOPY_REG(i) "%%" UCOPY_KIND UCOPY_NUMBER_##i

/* Moves of any alignment, aligned stores and streaming stores of this register file. */
#if UCOPY_WIDTH == 16 && !UCOPY_HIGH
#define UCOPY_MOVE "movups"
#define UCOPY_MOVE_ALIGNED "movaps"
#define UCOPY_MOVE_STREAM "movntps"
#define UCOPY_CLEAN
#elif UCOPY_HIGH
#define UCOPY_MOVE "vmovdqu64"
#define UCOPY_MOVE_ALIGNED "vmovdqa64"
#define UCOPY_MOVE_STREAM "vmovntdq"
#define UCOPY_CLEAN
#elif UCOPY_WIDTH == 32
#define UCOPY_MOVE "vmovdqu"
#define UCOPY_MOVE_ALIGNED "vmovdqa"
#define UCOPY_MOVE_STREAM "vmovntdq"
#define UCOPY_CLEAN "\n\tvzeroupper"
#else
#define UCOPY_MOVE "vmovdqu64"
#define UCOPY_MOVE_ALIGNED "vmovdqa64"
#define UCOPY_MOVE_STREAM "vmovntdq"
#define UCOPY_CLEAN "\n\tvzeroupper"
#endif
