/* 4 to 32 and 4 to 64 bytes without a branch on the size, by xmm registers in the VEX spelling, which leaves no upper half dirty;
 * see moves_step_gpr.h. */
#define UCOPY_SUFFIX avx2
#define UCOPY_MOVE "vmovdqu"
#define UCOPY_X(i) "%%xmm" UCOPY_X_##i
#define UCOPY_X_0 "0"
#define UCOPY_X_1 "1"
#define UCOPY_X_2 "2"
#define UCOPY_X_3 "3"
#define UCOPY_CLOBBER_2 "xmm0", "xmm1"
#define UCOPY_CLOBBER_4 "xmm0", "xmm1", "xmm2", "xmm3"
#include "moves_step_template.h"
