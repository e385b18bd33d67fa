/* Streaming stores by zmm with src prefetched 1 KiB ahead past the caches. Wins and loses as
 * sse2_stream_x4_prefetch. */
#define UCOPY_NAME avx512_stream_x4_prefetch
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 1
#define UCOPY_PREFETCH 1024
#include "vector_loop_template.h"
