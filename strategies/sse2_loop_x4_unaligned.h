/* Four xmm registers a turn, dst where it lies. Wins for short loops, where aligning costs more than
 * split stores; loses above. */
#define UCOPY_NAME sse2_loop_x4_unaligned
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 0
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
