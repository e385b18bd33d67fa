/* Four of the zmm registers 0 to 3 a turn, dst aligned, vzeroupper behind. Wins nowhere known: it is measured
 * to show what registers 16 to 31 save. */
#define UCOPY_NAME avx512_low_loop_x4
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
