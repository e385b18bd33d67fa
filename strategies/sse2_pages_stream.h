/* Streaming stores by xmm, two pages in parallel, a line of each a turn. Wins for copies beyond the last
 * level cache where one stream leaves memory idle; loses below, and where dst is read soon. */
#define UCOPY_NAME sse2_pages_stream
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#include "pages_template.h"
