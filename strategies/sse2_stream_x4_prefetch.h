/* Streaming stores by xmm with src prefetched 512 bytes ahead past the caches. Wins over sse2_stream_x4
 * where the hardware prefetcher stops at pages; loses where it does not. */
#define UCOPY_NAME sse2_stream_x4_prefetch
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 1
#define UCOPY_PREFETCH 512
#include "vector_loop_template.h"
