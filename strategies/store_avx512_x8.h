/* A limit: the stores of avx512_loop_x8 without its loads. */
#define UCOPY_NAME store_avx512_x8
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 8
#define UCOPY_STORES 1
#include "limit_template.h"
