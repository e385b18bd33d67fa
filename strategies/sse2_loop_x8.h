/* Eight xmm registers a turn, dst aligned: one line written in one go twice. Wins where four in flight do
 * not hide the load latency; loses to wider registers. */
#define UCOPY_NAME sse2_loop_x8
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 8
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 0
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
