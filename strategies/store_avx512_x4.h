/* A limit: the stores of avx512_loop_x4 without its loads. */
#define UCOPY_NAME store_avx512_x4
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_STORES 1
#include "limit_template.h"
