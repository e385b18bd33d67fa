/* Eight ymm registers a turn, dst aligned, vzeroupper behind. Wins over x4 where loop overhead shows; loses
 * below 512 bytes. */
#define UCOPY_NAME avx2_loop_x8
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 8
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
