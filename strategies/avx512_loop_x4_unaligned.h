/* Four of the zmm registers 16 to 19 a turn, dst where it lies. Wins where dst is aligned anyway; loses
 * elsewhere: every store splits a line. */
#define UCOPY_NAME avx512_loop_x4_unaligned
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 0
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
