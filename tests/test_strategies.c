/* The long form of the check of every strategy. The list is the tuner's own table, a test a
 * strategy and property; a strategy that this machine cannot execute is skipped by name. Signals,
 * the return value, the direction flag and the callee-saved registers are looked at in every call
 * (machine/call.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "machine/call.h"
#include "strategies/detect.h"
#include "strategies/registry.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define PAGE 4096u
#define MI ((size_t)1 << 20)
#define GI ((size_t)1 << 30)
/* Bytes looked at on both sides of dst: the widest register and one more. */
#define MARGIN 128u
/* Never in a source, nor is its complement. */
#define POISON 0xA5

/* Two sources, each the other's complement: copied from in turn to the same place, every byte that
 * the second copy leaves out is still the first one's and wrong, so that dst need not be filled in
 * between. */
static uint8_t *dst_area, *src_area[2], *src_copy[2];
#define AREA (MI + 4 * PAGE)

static uint8_t poison[MARGIN];
static unsigned usable;

/* length bytes between two pages that fault. */
static uint8_t *guarded(size_t length)
{
    uint8_t *map = mmap(NULL, length + 2 * PAGE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED || mprotect(map + PAGE, length, PROT_READ | PROT_WRITE))
        return NULL;
    return map + PAGE;
}

static void fill_random(uint8_t *bytes, size_t n, uint64_t seed)
{
    struct uc_rng rng = {seed};

    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)uc_rng_next(&rng);
        if (bytes[i] == POISON || bytes[i] == (uint8_t)~POISON)
            bytes[i] ^= 1;
    }
}

static int open_areas(void **state)
{
    struct ucopy_cpuid c;

    ucopy_cpuid_read(&c);
    usable = ucopy_isa_usable(&c);
    memset(poison, POISON, sizeof(poison));
    dst_area = guarded(AREA);
    for (int i = 0; i < 2; i++) {
        src_area[i] = guarded(AREA);
        src_copy[i] = malloc(AREA);
        if (!dst_area || !src_area[i] || !src_copy[i])
            return -1;
    }
    fill_random(src_copy[0], AREA, 0);
    for (size_t i = 0; i < AREA; i++)
        src_copy[1][i] = (uint8_t)~src_copy[0][i];
    return 0;
}

struct copy {
    const struct ucopy_strategy *s;
    uint8_t *dst;
    const uint8_t *src;
    size_t n;
};

static void failed(const struct copy *c, const char *what)
{
    fail_msg("%s of %zu bytes, dst mod 4096 %zu, src mod 4096 %zu: %s", c->s->name, c->n,
             (size_t)c->dst % PAGE, (size_t)c->src % PAGE, what);
}

/* A test stops at its first failure, and the harness takes signals back after each test. What a
 * failed one did to the sources is no fault of the next. */
static const struct ucopy_strategy *start(void **state)
{
    const struct ucopy_strategy *s = *state;

    if (s->isa & ~usable)
        skip();
    for (int i = 0; i < 2; i++)
        memcpy(src_area[i], src_copy[i], AREA);
    assert_int_equal(uc_call_begin(), 0);
    return s;
}

static bool serves(const struct ucopy_strategy *s, size_t n)
{
    return n >= s->min && n <= s->max;
}

static void call(const struct copy *c)
{
    struct uc_call left;
    char what[80];

    uc_call(c->s->fn, c->dst, c->src, c->n, &left);
    if (left.signal) {
        snprintf(what, sizeof(what), "signal %d at %p (dst %p, src %p)", left.signal, left.address,
                 (void *)c->dst, (const void *)c->src);
        failed(c, what);
    }
    if (left.direction)
        failed(c, "left the direction flag set");
    if (left.changed)
        failed(c, left.changed);
    if (left.returned != c->dst)
        failed(c, "did not return dst");
}

/* Bytes of margin on a side that end before the area does. */
static size_t room(size_t bytes)
{
    return bytes < MARGIN ? bytes : MARGIN;
}

static void poison_dst(const struct copy *c)
{
    size_t before = room((size_t)(c->dst - dst_area));
    size_t behind = room((size_t)(dst_area + AREA - c->dst) - c->n);

    memset(c->dst - before, POISON, before + c->n + behind);
}

static void around_is_left(const struct copy *c)
{
    size_t before = room((size_t)(c->dst - dst_area));
    size_t behind = room((size_t)(dst_area + AREA - c->dst) - c->n);

    if (memcmp(c->dst - before, poison, before))
        failed(c, "wrote before dst");
    if (memcmp(c->dst + c->n, poison, behind))
        failed(c, "wrote behind dst");
}

static void wrong_byte(const struct copy *c)
{
    size_t i = 0;
    char what[80];

    while (c->dst[i] == c->src[i])
        i++;
    snprintf(what, sizeof(what), "byte %zu is %#x, not %#x", i, c->dst[i], c->src[i]);
    failed(c, what);
}

static void copied(const struct copy *c)
{
    call(c);
    around_is_left(c);
    if (memcmp(c->dst, c->src, c->n))
        wrong_byte(c);
}

static void sources_are_left(const struct copy *c, size_t n)
{
    for (int i = 0; i < 2; i++)
        if (memcmp(src_area[i], src_copy[i], n))
            failed(c, "changed src (this size or a smaller one)");
}

/* All sizes to 320 that the strategy serves, from one alignment to another. Upwards, so that what
 * lies behind dst is poison still. */
static void every_short_size(const struct ucopy_strategy *s, size_t dst_align, size_t src_align)
{
    struct copy c = {s, dst_area + MARGIN + dst_align, NULL, 320};

    poison_dst(&c);
    for (c.n = s->min; c.n <= 320 && c.n <= s->max; c.n++) {
        c.src = src_area[c.n & 1] + MARGIN + src_align;
        copied(&c);
    }
    sources_are_left(&c, 2 * MARGIN + 64 + 320);
}

static void to_320_at_every_alignment(void **state)
{
    const struct ucopy_strategy *s = start(state);

    for (size_t pair = 0; pair < 64 * 64; pair++)
        every_short_size(s, pair / 64, pair % 64);
    uc_call_end();
}

/* The i-th size around the powers of two from 256 to 1 MiB, upwards; 0 behind the last. */
static size_t size_around(size_t i)
{
    static const int off[] = {-63, -1, 0, 1, 63};
    size_t power = (size_t)256 << i / COUNT(off);

    return power > MI ? 0 : power + (size_t)(ptrdiff_t)off[i % COUNT(off)];
}

static void around_powers_of_two(void **state)
{
    /* Both at a line, one or both off it by a byte, by a word, by whole registers of each width,
     * and dst a little behind and before src in the line. */
    static const struct {
        unsigned dst, src;
    } align[] = {{0, 0},  {0, 1},   {1, 0},   {1, 1},   {63, 63}, {63, 0}, {8, 0},
                 {0, 56}, {16, 48}, {32, 16}, {31, 33}, {17, 5},  {40, 39}};
    const struct ucopy_strategy *s = start(state);

    for (size_t a = 0; a < COUNT(align); a++) {
        struct copy c = {s, dst_area + PAGE + align[a].dst, NULL, MI + 63};
        poison_dst(&c);
        for (size_t i = 0; (c.n = size_around(i)); i++) {
            c.src = src_area[i & 1] + PAGE + align[a].src;
            if (serves(s, c.n))
                copied(&c);
        }
        sources_are_left(&c, AREA);
    }
    uc_call_end();
}

/* Sizes to 320, then those around powers of two. SIZE_MAX behind the last. */
static size_t guarded_size(size_t i)
{
    size_t n = i <= 320 ? i : size_around(i - 321);

    return i && !n ? SIZE_MAX : n;
}

/* The first byte of a buffer that starts where its area does, or that ends with it. */
static uint8_t *placed(uint8_t *area, size_t n, unsigned at_end)
{
    return at_end ? area + AREA - n : area;
}

static void between_guard_pages(void **state)
{
    struct copy c = {start(state), NULL, NULL, 0};

    for (size_t i = 0; (c.n = guarded_size(i)) != SIZE_MAX; i++)
        for (unsigned ends = 0; ends < 4 && serves(c.s, c.n); ends++) {
            c.dst = placed(dst_area, c.n, ends & 1);
            c.src = placed(src_area[0], c.n, ends >> 1);
            poison_dst(&c);
            copied(&c);
        }
    sources_are_left(&c, AREA);
    uc_call_end();
}

static void from_itself(const struct ucopy_strategy *s, size_t n, size_t at)
{
    struct copy c = {s, src_area[0] + at, src_area[0] + at, n};

    call(&c);
    if (memcmp(c.dst - MARGIN, src_copy[0] + at - MARGIN, n + 2 * MARGIN))
        failed(&c, "changed a buffer copied to itself");
}

static void equal_buffers(void **state)
{
    const struct ucopy_strategy *s = start(state);
    size_t n;

    for (size_t i = 0; (n = guarded_size(i)) != SIZE_MAX; i++)
        for (size_t at = MARGIN; at < MARGIN + 64 && serves(s, n); at += n <= 320 ? 1 : 21)
            from_itself(s, n, at);
    uc_call_end();
}

/* Nothing may be touched: null, or pages that fault. */
static void nothing_from_nowhere(void **state)
{
    const struct ucopy_strategy *s = start(state);
    uint8_t *pointers[] = {NULL,     dst_area - PAGE,    dst_area - 1, dst_area + AREA,
                           dst_area, dst_area + AREA - 1};

    for (size_t d = 0; d < COUNT(pointers); d++)
        for (size_t i = 0; i < COUNT(pointers); i++) {
            struct copy c = {s, pointers[d], pointers[i], 0};
            dst_area[0] = dst_area[AREA - 1] = POISON;
            call(&c);
            if (dst_area[0] != POISON || dst_area[AREA - 1] != POISON)
                failed(&c, "wrote at dst");
        }
    uc_call_end();
}

/* More than 4 GiB of addresses over a little memory: a window that is mapped again and again, but
 * for single pages of their own at both ends and around 2 and 4 GiB, where a size or an offset cut
 * to 31 or 32 bits shows. The 2 MiB of both windows stay in L2. */
#define WINDOW MI
#define FAR (4 * GI + 3 * WINDOW)
static const size_t own_page[] = {0, 2 * GI - PAGE, 2 * GI, 4 * GI - PAGE, 4 * GI, FAR - PAGE};

static bool map_shared(uint8_t *at, size_t length, int fd, size_t offset)
{
    return mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
                (off_t)offset) != MAP_FAILED;
}

static bool map_windows(uint8_t *far, int fd)
{
    for (size_t at = 0; at < FAR; at += WINDOW)
        if (!map_shared(far + at, WINDOW, fd, 0))
            return false;
    for (size_t i = 0; i < COUNT(own_page); i++)
        if (!map_shared(far + own_page[i], PAGE, fd, WINDOW + i * PAGE))
            return false;
    return true;
}

static uint8_t *open_far(void)
{
    size_t length = WINDOW + COUNT(own_page) * PAGE;
    int fd = memfd_create("far", MFD_CLOEXEC);
    uint8_t *far = guarded(FAR);
    bool open = far && fd >= 0 && !ftruncate(fd, (off_t)length) && map_windows(far, fd);

    if (fd >= 0)
        close(fd);
    if (!open && far)
        munmap(far - PAGE, FAR + 2 * PAGE);
    return open ? far : NULL;
}

/* Mapped once for all strategies: 2 million page table entries take half a second. NULL: no such
 * address space. */
static uint8_t *far_dst, *far_src;

static bool far_is_there(void)
{
    static bool tried;

    if (!tried) {
        tried = true;
        far_dst = open_far();
        far_src = far_dst ? open_far() : NULL;
        if (far_src) {
            fill_random(far_src + FAR - PAGE - WINDOW, WINDOW, 0);
            for (size_t i = 0; i < COUNT(own_page); i++)
                fill_random(far_src + own_page[i], PAGE, i + 1);
        }
    }
    return far_src;
}

static void same_far(const struct copy *c, size_t at, size_t n)
{
    char what[60];

    if (!memcmp(c->dst + at, c->src + at, n))
        return;
    snprintf(what, sizeof(what), "wrong in the %zu bytes from %#zx on", n, at);
    failed(c, what);
}

/* dst ends with its area, src 16 bytes before, and neither starts at a line. */
static void over_4_gib(void **state)
{
    const struct ucopy_strategy *s = start(state);
    struct copy c = {s, NULL, NULL, FAR - 21};

    if (!far_is_there())
        skip();
    c.dst = far_dst + 21;
    c.src = far_src + 5;
    memset(far_dst + FAR - PAGE - WINDOW, POISON, WINDOW);
    for (size_t i = 0; i < COUNT(own_page); i++)
        memset(far_dst + own_page[i], POISON, PAGE);
    call(&c);
    same_far(&c, 0, PAGE - 21);
    for (size_t i = 1; i < COUNT(own_page); i++)
        same_far(&c, own_page[i] - 21, PAGE);
    same_far(&c, FAR - PAGE - WINDOW, WINDOW - 21);
    uc_call_end();
}

/* What a copy leaves in the vector registers. XINUSE (XGETBV with ECX = 1) is the processor's own
 * note of which parts are not in their initial state: bit 2 the upper halves of ymm0 to 15, bit 6
 * those of zmm0 to 15. Either dirty, SSE code behind the copy is slow on many CPUs. Registers 16 to
 * 31 (bit 7) have no such price. */
struct vectors {
    uint32_t has_zmm, has_in_use; /* in */
    uint32_t in_use, unused;      /* out, and below */
    uint8_t reg[16][64];
};
#define IN_USE_UPPER (1u << 2 | 1u << 6)

void call_and_keep_vectors(ucopy_fn *fn, void *dst, const void *src, size_t n, struct vectors *v);
void dirty_upper(void);
void dirty_and_clean_upper(void);

#define KEEP(move, kind, i) move " %" kind #i ", 16+64*" #i "(%rbx)\n\t"
#define KEEP_4(move, kind, a, b, c, d) \
    KEEP(move, kind, a) KEEP(move, kind, b) KEEP(move, kind, c) KEEP(move, kind, d)
#define KEEP_ALL(move, kind)       \
    KEEP_4(move, kind, 0, 1, 2, 3) \
    KEEP_4(move, kind, 4, 5, 6, 7) \
    KEEP_4(move, kind, 8, 9, 10, 11) KEEP_4(move, kind, 12, 13, 14, 15)

/* One piece of assembly from vzeroupper to the last register kept: no compiler puts an instruction
 * in between. */
__asm__(".pushsection .text\n"
        "call_and_keep_vectors:\n\t"
        "push %rbx\n\t"
        "mov %r8, %rbx\n\t"
        "mov %rdi, %rax\n\t"
        "mov %rsi, %rdi\n\t"
        "mov %rdx, %rsi\n\t"
        "mov %rcx, %rdx\n\t"
        "vzeroupper\n\t"
        "call *%rax\n\t"
        "cmpl $0, 4(%rbx)\n\t"
        "je 1f\n\t"
        "mov $1, %ecx\n\t"
        "xgetbv\n\t"
        "mov %eax, 8(%rbx)\n"
        "1:\n\t"
        "cmpl $0, (%rbx)\n\t"
        "je 2f\n\t" KEEP_ALL("vmovdqu64",
                             "zmm") "jmp 3f\n"
                                    "2:\n\t" KEEP_ALL("vmovdqu",
                                                      "ymm") "3:\n\t"
                                                             "vzeroupper\n\t"
                                                             "pop %rbx\n\t"
                                                             "ret\n"
                                                             "dirty_upper:\n\t"
                                                             "vpcmpeqd %ymm3, %ymm3, %ymm3\n\t"
                                                             "ret\n"
                                                             "dirty_and_clean_upper:\n\t"
                                                             "vpcmpeqd %ymm3, %ymm3, %ymm3\n\t"
                                                             "vzeroupper\n\t"
                                                             "ret\n"
                                                             ".popsection");

static bool upper_is_zero(const struct vectors *v)
{
    static const uint8_t zero[48];

    for (size_t i = 0; i < COUNT(v->reg); i++)
        if (memcmp(v->reg[i] + 16, zero, sizeof(zero)))
            return false;
    return true;
}

/* Does this processor note it as expected: set by a move to ymm, cleared by vzeroupper? The SDM
 * (vol. 1, 13.6) lets a processor keep a bit set in the initial state. */
static bool has_in_use(struct vectors *v)
{
    unsigned r[4] = {0};
    bool noted;

    ucopy_cpuid_leaf(0, 0, r);
    if (r[0] < 13)
        return false;
    ucopy_cpuid_leaf(13, 1, r);
    if (!(r[0] >> 2 & 1))
        return false;
    v->has_in_use = 1;
    call_and_keep_vectors((ucopy_fn *)dirty_upper, NULL, NULL, 0, v);
    noted = v->in_use & IN_USE_UPPER;
    call_and_keep_vectors((ucopy_fn *)dirty_and_clean_upper, NULL, NULL, 0, v);
    return noted && !(v->in_use & IN_USE_UPPER);
}

/* An interrupt between copy and XGETBV may restore the registers with the bit set: dirty is what is
 * dirty every time. */
static void leaves_upper_clean(const struct copy *c, struct vectors *v)
{
    for (int tries = 0; tries < 4; tries++) {
        call_and_keep_vectors(c->s->fn, c->dst, c->src, c->n, v);
        if (!upper_is_zero(v))
            failed(c, "left upper halves that are not zero");
        if (!v->has_in_use || !(v->in_use & IN_USE_UPPER))
            return;
    }
    failed(c, "left upper halves in use");
}

static void upper_halves_are_clean(void **state)
{
    const struct ucopy_strategy *s = start(state);
    struct vectors v = {.has_zmm = usable >> 5 & 1};
    struct copy c = {s, dst_area + PAGE, src_area[0] + PAGE, 0};

    v.has_in_use = has_in_use(&v);
    for (size_t i = 0; (c.n = guarded_size(i)) != SIZE_MAX; i++)
        if (serves(s, c.n))
            leaves_upper_clean(&c, &v);
    uc_call_end();
}

/* By a string instruction: a memset would leave its byte in vector registers, and a limit that
 * stores them would seem to have left dst alone. */
static void fill_by_string(uint8_t *bytes, int value, size_t n)
{
    __asm__ volatile("rep stosb" : "+D"(bytes), "+c"(n) : "a"(value) : "memory");
}

/* dst behind a limit that found it full of one value. */
static uint8_t *limited(const struct copy *c, int value)
{
    poison_dst(c);
    fill_by_string(c->dst, value, c->n);
    call(c);
    around_is_left(c);
    return c->dst;
}

/* A store limit has stored to a byte that does not show both values that lay there before; a load
 * limit leaves all of them. */
static void limited_well(const struct copy *c, uint8_t *seen)
{
    bool stores = c->s->flags & UCOPY_STORES;

    memcpy(seen, limited(c, 0x5B), c->n);
    limited(c, 0xC4);
    for (size_t i = 0; i < c->n; i++)
        if ((seen[i] == 0x5B && c->dst[i] == 0xC4) == stores)
            failed(c, stores ? "left a byte of dst out" : "wrote to dst");
}

static void limit_between_guard_pages(void **state)
{
    const struct ucopy_strategy *s = start(state);
    uint8_t *seen = malloc(AREA);
    size_t n;

    assert_non_null(seen);
    for (size_t i = 0; (n = guarded_size(i)) != SIZE_MAX; i++)
        for (unsigned ends = 0; ends < 4 && serves(s, n); ends++) {
            struct copy c = {s, placed(dst_area, n, ends & 1), placed(src_area[0], n, ends >> 1),
                             n};
            limited_well(&c, seen);
            sources_are_left(&c, n);
        }
    free(seen);
    uc_call_end();
}

static bool copies(const struct ucopy_strategy *s)
{
    return s->role != UCOPY_LIMIT;
}

static bool copies_from_none(const struct ucopy_strategy *s)
{
    return copies(s) && s->min == 0;
}

/* The reference would take as long as ten others, and serves nothing but tests. */
static bool copies_without_limit(const struct ucopy_strategy *s)
{
    return copies(s) && s->max == UCOPY_NO_LIMIT && s->role != UCOPY_REFERENCE;
}

/* libc's own is not ours to judge. */
static bool has_upper_halves(const struct ucopy_strategy *s)
{
    return s->isa & (UCOPY_ISA_AVX2 | UCOPY_ISA_AVX512BW);
}

static bool is_limit(const struct ucopy_strategy *s)
{
    return s->role == UCOPY_LIMIT;
}

static const struct {
    const char *name;
    CMUnitTestFunction run;
    bool (*applies)(const struct ucopy_strategy *s);
} properties[] = {
    {"every size to 320 at every alignment", to_320_at_every_alignment, copies},
    {"around powers of two to 1 MiB", around_powers_of_two, copies},
    {"between guard pages", between_guard_pages, copies},
    {"equal buffers", equal_buffers, copies},
    {"nothing from nowhere", nothing_from_nowhere, copies_from_none},
    {"over 4 GiB", over_4_gib, copies_without_limit},
    {"upper halves are clean", upper_halves_are_clean, has_upper_halves},
    {"a limit between guard pages", limit_between_guard_pages, is_limit},
};

static void add(struct CMUnitTest *test, const struct ucopy_strategy *s, size_t property)
{
    char *name = malloc(100);

    snprintf(name, 100, "%s: %s", s->name, properties[property].name);
    test->name = name;
    test->test_func = properties[property].run;
    test->initial_state = (void *)(uintptr_t)s;
}

int main(void)
{
    struct CMUnitTest *tests = calloc(ucopy_strategy_count * COUNT(properties), sizeof(*tests));
    size_t n = 0;

    for (size_t i = 0; i < ucopy_strategy_count; i++)
        for (size_t p = 0; p < COUNT(properties); p++)
            if (properties[p].applies(&ucopy_strategies[i]))
                add(&tests[n++], &ucopy_strategies[i], p);
    return _cmocka_run_group_tests("strategies", tests, n, open_areas, NULL);
}
