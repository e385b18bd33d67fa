/* Streaming stores by ymm with src prefetched 512 bytes ahead past the caches. Wins and loses as
 * sse2_stream_x4_prefetch. */
#define UCOPY_NAME avx2_stream_x4_prefetch
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 1
#define UCOPY_PREFETCH 512
#include "vector_loop_template.h"
