/* A limit: the stores of sse2_loop_x8 without its loads. */
#define UCOPY_NAME store_sse2_x8
#define UCOPY_WIDTH 16
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 8
#define UCOPY_STORES 1
#include "limit_template.h"
