/* 4 to 32 and 4 to 64 bytes without a branch on the size, by xmm registers from 16 up;
 * see moves_step_gpr.h. */
#define UCOPY_SUFFIX avx512
#define UCOPY_MOVE "vmovdqu64"
#define UCOPY_X(i) "%%xmm" UCOPY_X_##i
#define UCOPY_X_0 "16"
#define UCOPY_X_1 "17"
#define UCOPY_X_2 "18"
#define UCOPY_X_3 "19"
#define UCOPY_CLOBBER_2 "xmm16", "xmm17"
#define UCOPY_CLOBBER_4 "xmm16", "xmm17", "xmm18", "xmm19"
#include "moves_step_template.h"
