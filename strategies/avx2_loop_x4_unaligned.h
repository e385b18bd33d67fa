/* Four ymm registers a turn, dst where it lies, vzeroupper behind. Wins for short loops; loses above, every
 * second store splitting a line. */
#define UCOPY_NAME avx2_loop_x4_unaligned
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 0
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
