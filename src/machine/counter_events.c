/* The models' own names first, the kernel's generic name last. Event numbers are in the vendors'
 * manuals (Intel SDM vol. 3 and perfmon events; AMD BKDG and PPR); the names are libpfm4 4.13's. */
#include "machine/counter_events.h"

#define CYCLES                                                      \
    "CPU_CLK_UNHALTED:THREAD_P|"   /* Nehalem and newer, Knights */ \
    "CPU_CLK_UNHALTED:CORE_P|"     /* Core 2, Atom */               \
    "CYCLES_NOT_IN_HALT|"          /* Zen */                        \
    "UNHALTED_CORE_CYCLES|"        /* Intel's architected name */   \
    "CPU_CLK_UNHALTED|"            /* AMD before Zen */             \
    "GLOBAL_POWER_EVENTS:RUNNING|" /* NetBurst */                   \
    "perf::CYCLES"

#define INSTRUCTIONS                                           \
    "INST_RETIRED:ANY_P|"       /* Intel */                    \
    "RETIRED_INSTRUCTIONS|"     /* AMD */                      \
    "INSTRUCTION_RETIRED|"      /* Intel's architected name */ \
    "INSTR_RETIRED:NBOGUSNTAG|" /* NetBurst */                 \
    "perf::INSTRUCTIONS"

/* Lines brought into L1D, by demand or prefetch, where a model counts them; else the loads or
 * accesses that missed. Zen 1 counts the reads that L1D sends to L2. */
#define L1D_MISSES                                                                            \
    "L1D:REPLACEMENT|"                /* Sandy Bridge and newer */                            \
    "L1D:REPL|"                       /* Nehalem, Westmere */                                 \
    "L1D_REPL|"                       /* Core 2 */                                            \
    "MEM_LOAD_UOPS_RETIRED:L1_MISS|"  /* Goldmont, Tremont */                                 \
    "MEM_UOPS_RETIRED:L1_MISS_LOADS|" /* Knights */                                           \
    "MEM_UOP_RETIRED:LD_DCU_MISS|"    /* Silvermont */                                        \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:LOCAL_CCX:NEAR_FAR_CACHE_NEAR:DRAM_IO_NEAR:"     \
    "NEAR_FAR_CACHE_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR|" /* Zen 5 */                            \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"     \
    "FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR|" /* Zen 4 */                            \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL:"             \
    "EXT_CACHE_RMT:MEM_IO_RMT|" /* Zen 3 */                                                   \
    "DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2:LS_MABRESP_LCL_CACHE:LS_MABRESP_LCL_DRAM:" \
    "LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM|"              /* Zen 2 */                      \
    "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S|" /* Zen 1 */                      \
    "DATA_CACHE_MISSES|"                                     /* AMD before Zen */             \
    "perf::L1-DCACHE-LOAD-MISSES"

/* Retired ones; Nehalem counts those that were executed. */
#define BRANCH_MISSES                                                                           \
    "BR_MISP_RETIRED:ALL_BRANCHES|"             /* Westmere and newer */                        \
    "MISPREDICTED_BRANCH_RETIRED|"              /* Intel's architected name: Core 2, Knights */ \
    "BR_MISP_EXEC:ANY|"                         /* Nehalem */                                   \
    "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED|" /* Zen */                                       \
    "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS|" /* AMD before Zen */                            \
    "perf::BRANCH-MISSES"

/* Lines that came from beyond L2: into L2 where a model counts them there, else into L1D; loads
 * alone on Goldmont and Tremont. The kernel has no generic name for them. */
#define L2_MISSES                                                                        \
    "L2_LINES_IN:ALL|"               /* Haswell and newer */                             \
    "L2_LINES_IN:ANY|"               /* Nehalem to Ivy Bridge */                         \
    "L2_LINES_IN:SELF|"              /* Core 2, Bonnell */                               \
    "MEM_LOAD_UOPS_RETIRED:L2_MISS|" /* Goldmont, Tremont */                             \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:NEAR_FAR_CACHE_NEAR:DRAM_IO_NEAR:"       \
    "NEAR_FAR_CACHE_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR|" /* Zen 5 */                       \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"       \
    "FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR|" /* Zen 4 */                       \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:" \
    "MEM_IO_RMT|" /* Zen 3 */                                                            \
    "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE:LS_MABRESP_LCL_DRAM:"           \
    "LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM|"                 /* Zen 2 */              \
    "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C|"   /* Zen 1 */              \
    "L2_CACHE_MISS:DATA:HW_PREFETCH_FROM_DC|L2_CACHE_MISS:DATA" /* AMD before Zen */

const char *const uc_event_names[UC_EVENTS] = {[UC_CYCLES] = CYCLES,
                                               [UC_INSTRUCTIONS] = INSTRUCTIONS,
                                               [UC_BRANCH_MISSES] = BRANCH_MISSES,
                                               [UC_L1D_MISSES] = L1D_MISSES,
                                               [UC_L2_MISSES] = L2_MISSES};
