/* Broken copies: each is told, with its size and in words that say what it did; right ones pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "measure/verify.h"
#include "strategies/detect.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MI ((size_t)1 << 20)

static size_t sizes[128], size_count;

static int list_sizes(void **state)
{
    static const size_t large[] = {1000, 4096, 65537, MI - 1, MI, MI + 1, 3 * MI};

    for (size_t n = 0; n <= 256; n += n < 64 ? 1 : 8)
        sizes[size_count++] = n;
    for (size_t i = 0; i < COUNT(large); i++)
        sizes[size_count++] = large[i];
    return 0;
}

/* Copies that are wrong in one way each. The bytes go through volatile, so that no compiler drops
 * what is not used or moves it in front of the copy. */
typedef volatile uint8_t byte;

static void *right(void *dst, const void *src, size_t n)
{
    return n ? memcpy(dst, src, n) : dst;
}

static void *writes_one_more(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    ((byte *)dst)[n] = 0;
    return dst;
}

static void *writes_far_behind(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n == 40)
        ((byte *)dst)[n + 200] = 0;
    return dst;
}

static void *leaves_out_the_last(void *dst, const void *src, size_t n)
{
    return right(dst, src, n > 7 ? n - 1 : n);
}

static void *leaves_out_the_first(void *dst, const void *src, size_t n)
{
    if (n > 9)
        right((char *)dst + 1, (const char *)src + 1, n - 1);
    else
        right(dst, src, n);
    return dst;
}

static void *writes_before(void *dst, const void *src, size_t n)
{
    if ((uintptr_t)dst % 64 == 13)
        ((byte *)dst)[-1] = 0;
    return right(dst, src, n);
}

static void *writes_before_at_guard(void *dst, const void *src, size_t n)
{
    if (n == 16)
        ((byte *)dst)[-1] = 0;
    return right(dst, src, n);
}

static void *rewrites_the_byte_behind(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n == 24)
        ((byte *)dst)[n] =
            ((byte *)dst)[n]; /* as a wide store of what was there: seen at the guard */
    return dst;
}

static void *mixes_bytes(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n >= 20)
        ((byte *)dst)[17] ^= 4;
    return dst;
}

static void *copies_from_elsewhere(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n == 65537)
        right((char *)dst + 4096, src, 16);
    return dst;
}

static void *returns_the_end(void *dst, const void *src, size_t n)
{
    return n ? (char *)right(dst, src, n) + n : dst;
}

static void *reads_behind(void *dst, const void *src, size_t n)
{
    if (n)
        (void)((const byte *)src)[n];
    return right(dst, src, n);
}

static void *reads_before(void *dst, const void *src, size_t n)
{
    if (n > 32)
        (void)((const byte *)src)[-1];
    return right(dst, src, n);
}

static void *changes_src(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n > 5)
        ((byte *)src)[5] ^= 1;
    return dst;
}

static void *changes_src_of_a_large_one(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n == 3 * MI)
        ((byte *)src)[2 * MI] ^= 1;
    return dst;
}

static void *fails_at_one_alignment(void *dst, const void *src, size_t n)
{
    return right(dst, src, (uintptr_t)dst % 64 == 13 && (uintptr_t)src % 64 == 37 && n ? n - 1 : n);
}

static void *fails_at_one_alignment_and_size(void *dst, const void *src, size_t n)
{
    return right(dst, src, (uintptr_t)dst % 64 == 29 && n == 200 ? n - 1 : n);
}

static void *reads_null(void *dst, const void *src, size_t n)
{
    if (!src) /* not in C, where it is undefined before it is wrong */
        __asm__ volatile("movb (%0), %%al" : : "r"(src) : "rax");
    return right(dst, src, n);
}

static void *returns_other_null(void *dst, const void *src, size_t n)
{
    return dst ? right(dst, src, n) : (void *)1;
}

static void *leaves_a_hole_above_1m(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n > MI)
        ((byte *)dst)[MI - 7] ^= 1;
    return dst;
}

static void *mixes_a_late_byte(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n == 3 * MI)
        ((byte *)dst)[5 * MI / 2] ^= 1;
    return dst;
}

static void *fails_where_both_end_with_a_page(void *dst, const void *src, size_t n)
{
    bool both = ((uintptr_t)dst + n) % 4096 == 0 && ((uintptr_t)src + n) % 4096 == 0;

    return right(dst, src, n == 48 && both ? n - 1 : n);
}

static void *faults_above_1m(void *dst, const void *src, size_t n)
{
    if (n > MI)
        ((byte *)dst)[n] = 0;
    return right(dst, src, n);
}

static void *illegal(void *dst, const void *src, size_t n)
{
    if (n == 64)
        __asm__ volatile("ud2");
    return right(dst, src, n);
}

static void *trapped(void *dst, const void *src, size_t n)
{
    if (n == 64)
        __asm__ volatile("int3");
    return right(dst, src, n);
}

static void *divided(void *dst, const void *src, size_t n)
{
    unsigned zero = 0, low = 1, high = 0;

    if (n == 64)
        __asm__ volatile("div %2" : "+a"(low), "+d"(high) : "r"(zero) : "cc");
    return right(dst, src, n);
}

/* An aligned move from an address that is none: the processor's fault tells no address. */
static void *misaligned(void *dst, const void *src, size_t n)
{
    if (n == 64)
        __asm__ volatile("movaps (%0), %%xmm0" : : "r"((uintptr_t)src | 1) : "xmm0");
    return right(dst, src, n);
}

static byte *beyond_the_file;

static void *bus_error(void *dst, const void *src, size_t n)
{
    if (n == 64)
        *beyond_the_file = 0;
    return right(dst, src, n);
}

/* By hand, since a compiler would save what it is told of. */
void *leaves_direction(void *dst, const void *src, size_t n);
void *changes_rbx(void *dst, const void *src, size_t n);
void *changes_rbp(void *dst, const void *src, size_t n);
void *swaps_r14_r15(void *dst, const void *src, size_t n);
void *moves_rsp(void *dst, const void *src, size_t n);
#define BY_HAND(name, text)                                     \
    ".globl " name "\n.type " name ", @function\n" name ":\n\t" \
    "mov %rdi, %rax\n\tmov %rdx, %rcx\n\trep movsb\n\t" text "\n.size " name ", . - " name "\n"
__asm__(".pushsection .text\n" /* one place for all */
        BY_HAND("leaves_direction", "std\n\tret") BY_HAND("changes_rbx", "inc %rbx\n\tret")
            BY_HAND("changes_rbp", "xor %ebp, %ebp\n\tret")
                BY_HAND("swaps_r14_r15", "xchg %r14, %r15\n\tret")
                    BY_HAND("moves_rsp", "ret $16") ".popsection");

static const struct {
    ucopy_fn *fn;
    size_t size; /* at which it is told */
    const char *what;
} broken[] = {
    {writes_one_more, 0, "wrote behind dst, at byte 0"},
    {writes_far_behind, 40, "wrote behind dst, at byte 240"},
    {leaves_out_the_last, 8, "byte 7 was not written"},
    {leaves_out_the_first, 10, "byte 0 was not written"},
    {writes_before, 0, "wrote before dst, at byte -1"},
    {writes_before_at_guard, 16, "SIGSEGV at dst-1"},
    {rewrites_the_byte_behind, 24, "SIGSEGV at dst+24"},
    {mixes_bytes, 20, "byte 17 is wrong"},
    {copies_from_elsewhere, 65537, "byte 4096 is wrong"},
    {returns_the_end, 1, "returned 0x"},
    {reads_behind, 1, "SIGSEGV at src+1"},
    {reads_before, 33, "SIGSEGV at src-1"},
    {changes_src, 6, "changed src, at byte 5"},
    {changes_src_of_a_large_one, 3 * MI, "changed src, at byte "},
    {fails_at_one_alignment, SIZE_MAX, " was not written"},
    {fails_at_one_alignment_and_size, 200, "byte 199 was not written"},
    {reads_null, 0, "with null pointers: SIGSEGV at (nil)"},
    {returns_other_null, 0, "with null pointers: returned 0x1, not dst ((nil))"},
    {leaves_a_hole_above_1m, MI + 1, "byte 1048569 is wrong"},
    {mixes_a_late_byte, 3 * MI, "byte 2621440 is wrong"},
    {fails_where_both_end_with_a_page, 48, "byte 47 was not written"},
    {faults_above_1m, MI + 1, "SIGSEGV at dst+1048577"},
    {illegal, 64, "SIGILL"},
    {trapped, 64, "SIGTRAP"},
    {divided, 64, "SIGFPE"},
    {misaligned, 64, "SIGSEGV at (nil)"},
    {bus_error, 64, "SIGBUS at 0x"},
    {leaves_direction, 0, "left the direction flag set"},
    {changes_rbx, 0, "changed register rbx"},
    {changes_rbp, 0, "changed register rbp"},
    {swaps_r14_r15, 0, "changed register r14"},
    {moves_rsp, 0, "changed register rsp"},
};

static void broken_copies_are_told(void **state)
{
    for (size_t i = 0; i < COUNT(broken); i++) {
        struct uc_verify_failure f = {0};
        int rc = uc_verify("broken", broken[i].fn, 0, UCOPY_NO_LIMIT, sizes, size_count, &f);
        if (rc != 1 || !strstr(f.what, broken[i].what) ||
            (broken[i].size != SIZE_MAX && f.size != broken[i].size))
            fail_msg("'%s' at %zu: returned %d, told '%s' at %zu", broken[i].what, broken[i].size,
                     rc, f.what, f.size);
    }
}

static void placement_of_a_failure_is_told(void **state)
{
    struct uc_verify_failure f, again;

    assert_int_equal(uc_verify("broken", fails_at_one_alignment, 0, 512, sizes, size_count, &f), 1);
    assert_int_equal(f.dst_align, 13);
    assert_int_equal(f.src_align, 37);
    assert_int_equal(uc_verify("broken", fails_at_one_alignment, 0, 512, sizes, size_count, &again),
                     1);
    assert_memory_equal(&f, &again, offsetof(struct uc_verify_failure, what));
}

static void right_copies_pass(void **state)
{
    struct uc_verify_failure f;

    if (uc_verify("right", right, 0, UCOPY_NO_LIMIT, sizes, size_count, &f))
        fail_msg("%s at %zu, dst at %u, src at %u", f.what, f.size, f.dst_align, f.src_align);
}

/* Every row of the table that this machine can run, by its own name. */
static void strategy_passes(void **state)
{
    const struct ucopy_strategy *s = *state;
    struct uc_verify_failure f;
    struct ucopy_cpuid c;

    ucopy_cpuid_read(&c);
    if (s->isa & ~ucopy_isa_usable(&c))
        skip();
    if (uc_verify_strategy(s, sizes, size_count, &f))
        fail_msg("%s at %zu, dst at %u, src at %u", f.what, f.size, f.dst_align, f.src_align);
}

static size_t smallest_seen, largest_seen;

static void *notes_its_sizes(void *dst, const void *src, size_t n)
{
    smallest_seen = n < smallest_seen ? n : smallest_seen;
    largest_seen = n > largest_seen ? n : largest_seen;
    return right(dst, src, n);
}

static void only_sizes_that_are_served(void **state)
{
    struct uc_verify_failure f;

    smallest_seen = SIZE_MAX;
    assert_int_equal(uc_verify("notes", notes_its_sizes, 17, 200, sizes, size_count, &f), 0);
    assert_int_equal(smallest_seen, 17);
    assert_int_equal(largest_seen, 200);
}

static void *stores_all(void *dst, const void *src, size_t n)
{
    return memset(dst, 7, n);
}

static void *stores_too_much(void *dst, const void *src, size_t n)
{
    memset(dst, 7, n);
    ((byte *)dst)[n] = 7;
    return dst;
}

static void *loads_all(void *dst, const void *src, size_t n)
{
    for (size_t i = 0; i < n; i += 64)
        (void)((const byte *)src)[i];
    return dst;
}

static void *loads_and_stores(void *dst, const void *src, size_t n)
{
    if (n > 100)
        ((byte *)dst)[100] = 1;
    return loads_all(dst, src, n);
}

static void limits_are_held_to_their_half(void **state)
{
    struct uc_verify_failure f;

    assert_int_equal(uc_verify_limit("s", stores_all, true, 1, MI, sizes, size_count, &f), 0);
    assert_int_equal(uc_verify_limit("l", loads_all, false, 1, MI, sizes, size_count, &f), 0);
    assert_int_equal(uc_verify_limit("s", stores_too_much, true, 1, MI, sizes, size_count, &f), 1);
    assert_string_equal(f.what, "wrote behind dst, at byte 1");
    assert_int_equal(uc_verify_limit("l", loads_and_stores, false, 1, MI, sizes, size_count, &f),
                     1);
    assert_string_equal(f.what, "wrote to dst, at byte 100");
    assert_int_equal(uc_verify_limit("l", changes_src, false, 1, MI, sizes, size_count, &f), 1);
}

static void own_handler(int signal)
{
}

/* What the program had set is there again after a failure and after none. */
static void signals_and_rounding_are_given_back(void **state)
{
    static char own_stack[64 << 10];
    struct sigaction own = {.sa_handler = own_handler}, was, after;
    stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)}, stack_was, stack_after;
    unsigned mxcsr = __builtin_ia32_stmxcsr();
    struct uc_verify_failure f;

    sigaction(SIGILL, &own, &was);
    sigaltstack(&stack, &stack_was);
    __builtin_ia32_ldmxcsr(mxcsr | 0x6000); /* round to zero */
    assert_int_equal(uc_verify("illegal", illegal, 0, 64, sizes, size_count, &f), 1);
    assert_int_equal(uc_verify("right", right, 0, 64, sizes, size_count, &f), 0);
    assert_int_equal(__builtin_ia32_stmxcsr() & 0x6000, 0x6000);
    __builtin_ia32_ldmxcsr(mxcsr);
    sigaltstack(&stack_was, &stack_after);
    sigaction(SIGILL, &was, &after);
    assert_ptr_equal(after.sa_handler, own_handler);
    assert_ptr_equal(stack_after.ss_sp, own_stack);
}

static void too_large_is_no_memory(void **state)
{
    static const size_t huge[] = {(size_t)1 << 47, SIZE_MAX - 1};
    struct uc_verify_failure f;

    assert_int_equal(uc_verify("right", right, 0, UCOPY_NO_LIMIT, huge, 1, &f), -ENOMEM);
    assert_int_equal(uc_verify("right", right, 0, UCOPY_NO_LIMIT, huge + 1, 1, &f), -ENOMEM);
}

static int map_beyond_a_file(void **state)
{
    int fd = memfd_create("empty", MFD_CLOEXEC);

    beyond_the_file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return beyond_the_file == MAP_FAILED || list_sizes(state);
}

int main(void)
{
    static const struct CMUnitTest injected[] = {
        cmocka_unit_test(broken_copies_are_told),
        cmocka_unit_test(placement_of_a_failure_is_told),
        cmocka_unit_test(right_copies_pass),
        cmocka_unit_test(only_sizes_that_are_served),
        cmocka_unit_test(limits_are_held_to_their_half),
        cmocka_unit_test(signals_and_rounding_are_given_back),
        cmocka_unit_test(too_large_is_no_memory),
    };
    static struct CMUnitTest tests[COUNT(injected) + 256];
    size_t n = COUNT(injected);

    memcpy(tests, injected, sizeof(injected));
    for (size_t i = 0; i < ucopy_strategy_count && n < COUNT(tests); i++)
        tests[n++] = (struct CMUnitTest){ucopy_strategies[i].name, strategy_passes, NULL, NULL,
                                         (void *)(uintptr_t)&ucopy_strategies[i]};
    return _cmocka_run_group_tests("verify", tests, n, map_beyond_a_file, NULL);
}
