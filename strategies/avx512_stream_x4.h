/* Streaming stores by zmm, four lines a turn, sfence behind: a write-combining buffer filled by one store.
 * Wins for large copies whose dst is not read soon; loses by a factor where it is. */
#define UCOPY_NAME avx512_stream_x4
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_ALIGN 1
#define UCOPY_STREAM 1
#define UCOPY_PREFETCH 0
#include "vector_loop_template.h"
