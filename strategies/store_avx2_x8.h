/* A limit: the stores of avx2_loop_x8 without its loads. */
#define UCOPY_NAME store_avx2_x8
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 8
#define UCOPY_STORES 1
#include "limit_template.h"
