/* Two zmm registers a turn, dst aligned. Wins from 128 bytes where the tail of longer blocks is wasted;
 * loses on long copies. */
#define UCOPY_NAME avx512_loop_x2
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 2
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
