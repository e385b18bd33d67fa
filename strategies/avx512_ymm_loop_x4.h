/* Four of the ymm registers 16 to 23 a turn, dst aligned. Wins over avx2_loop_x4 by the vzeroupper that it
 * does not need, with no change of the clock on CPUs where zmm lowers it; loses to zmm elsewhere. */
#define UCOPY_NAME avx512_ymm_loop_x4
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
