/* The one table of strategies: the tuner's candidates, the test of each, `ucopy-tune list` and the
 * text that the C header embeds all come from strategies.def. Nothing here includes anything of
 * src/. */
#ifndef UCOPY_REGISTRY_H
#define UCOPY_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/isa.h"

/* memcpy's contract: buffers equal or apart, returns dst. */
typedef void *ucopy_fn(void *dst, const void *src, size_t n);

enum ucopy_role { UCOPY_CANDIDATE, UCOPY_BASELINE, UCOPY_REFERENCE, UCOPY_LIMIT };
extern const char *const ucopy_role_name[4]; /* "candidate", "baseline", ... */

enum {
    UCOPY_USER = 1u << 0, /* environments */
    UCOPY_KERNEL = 1u << 1,
    UCOPY_BOTH = UCOPY_USER | UCOPY_KERNEL,
};

enum {
    UCOPY_STREAMING = 1u << 0, /* non-temporal stores */
    UCOPY_DISPATCH = 1u << 1,  /* a short-size dispatch: tests n and picks a leaf */
    UCOPY_LIBC = 1u << 2,      /* the C library's own, no embedded text */
    UCOPY_MASKED = 1u << 3,    /* masked stores: later loads cannot be forwarded from them */
    UCOPY_LOADS = 1u << 4,     /* a limit: loads only */
    UCOPY_STORES = 1u << 5,    /* a limit: stores only */
};

#define UCOPY_NO_LIMIT SIZE_MAX
/* Where the second called form begins, in bytes behind a line of 64: a function of any program may,
 * since compilers align them to 16. Of 16, 32 and 48 this one moved the most strategies here (Zen 3:
 * vector loops by 10 %, short dispatches by 5 to 9 %). */
#define UCOPY_SHIFT 48

struct ucopy_strategy {
    const char *name;
    uint32_t isa;          /* UCOPY_ISA_* bits that must be usable */
    uint32_t environments; /* UCOPY_USER, UCOPY_KERNEL */
    size_t min, max;       /* sizes it serves, inclusive; max may be UCOPY_NO_LIMIT */
    uint32_t flags;
    enum ucopy_role role;
    unsigned rank; /* simplicity, for ties: fewer instruction sets, then narrower registers, then
                      less code; lower is simpler */
    const char *description; /* one line */
    ucopy_fn *fn;            /* the called form, which begins at a line of 64 bytes */
    ucopy_fn *shifted;       /* the same, UCOPY_SHIFT behind one; NULL for libc */
    const char *text;        /* expanded source of the leaf, as compiled here; NULL for libc */
    const char
        *includes; /* names of the parts that text needs before it, joined by blanks; "" none */
};

extern const struct ucopy_strategy ucopy_strategies[];
extern const size_t ucopy_strategy_count;

/* A strategy by name, or NULL. */
const struct ucopy_strategy *ucopy_find(const char *name);

/* Shared parts that a header embeds once, before the strategies that name them in includes
 * (and "detect", the detection text, "pick", the choice among CPUs, and "prelude", the macros that
 * every text uses). NULL: no such part. */
const char *ucopy_part_text(const char *name);

/* The isa bits as names joined by blanks ("avx2 bmi2"); "" for none. Returns buf. */
const char *ucopy_isa_text(uint32_t isa, char *buf, size_t cap);
/* The bit of a name, or 0. */
uint32_t ucopy_isa_bit(const char *name, size_t len);

#endif
