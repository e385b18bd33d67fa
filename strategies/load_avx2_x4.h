/* A limit: the loads of avx2_loop_x4 without its stores. */
#define UCOPY_NAME load_avx2_x4
#define UCOPY_WIDTH 32
#define UCOPY_HIGH 0
#define UCOPY_UNROLL 4
#define UCOPY_STORES 0
#include "limit_template.h"
