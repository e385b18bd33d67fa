/* A limit: the stores of avx2_loop_x4 without its loads. */
#define UCOPY_NAME store_avx2_x4
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_STORES 1
#include "limit_template.h"
