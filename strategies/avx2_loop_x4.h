/* Four ymm registers a turn, dst aligned, vzeroupper behind. Wins on CPUs with 32-byte stores; loses to
 * 64-byte stores where the store port is that wide. */
#define UCOPY_NAME avx2_loop_x4
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
