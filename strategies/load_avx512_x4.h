/* A limit: the loads of avx512_loop_x4 without its stores. */
#define UCOPY_NAME load_avx512_x4
#define UCOPY_WIDTH 64
#define UCOPY_HIGH 1
#define UCOPY_UNROLL 4
#define UCOPY_STORES 0
#include "limit_template.h"
