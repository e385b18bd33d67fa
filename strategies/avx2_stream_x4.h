/* Streaming stores by ymm, two lines a turn, sfence and vzeroupper behind. Wins as sse2_stream_x4; loses the
 * same way. */
#define UCOPY_NAME avx2_stream_x4
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 1
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
