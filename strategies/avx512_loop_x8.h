/* Eight of the zmm registers 16 to 23 a turn, dst aligned. Wins over x4 where the loop is bound by its own
 * instructions; loses below 1 KiB. */
#define UCOPY_NAME avx512_loop_x8
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 8
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
