/* Streaming stores by xmm, one line a turn, sfence behind. Wins for copies whose dst is not read soon;
 * loses by a factor where it is. */
#define UCOPY_NAME sse2_stream_x4
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 1
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
