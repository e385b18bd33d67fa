/* Four xmm registers a turn, dst aligned. Wins above the short sizes on CPUs without wider moves;
 * loses to them by the width, and on large copies to streaming. */
#define UCOPY_NAME sse2_loop_x4
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
