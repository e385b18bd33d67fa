/* Four of the zmm registers 16 to 19 a turn, dst aligned: a full line a store. Wins in L1 and L2 on CPUs with
 * 64-byte stores; loses on CPUs that lower their clock for zmm, and to streaming on large copies. */
#define UCOPY_NAME avx512_loop_x4
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
