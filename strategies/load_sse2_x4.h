/* A limit: the loads of sse2_loop_x4 without its stores. */
#define UCOPY_NAME load_sse2_x4
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_STORES 0
#include "limit_template.h"
