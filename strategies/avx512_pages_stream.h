/* Streaming stores by zmm, two pages in parallel, two lines of each a turn. Wins and loses as
 * sse2_pages_stream. */
#define UCOPY_NAME avx512_pages_stream
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 2
#include "pages_template.h"
