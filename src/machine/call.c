#include "machine/call.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What the trampoline below found after the call. It is reached by address and not through a
 * register, since the callee may have changed every one of them. */
struct uc_call_left {
    uint64_t rsp_before, rsp, returned, flags, saved[6];
};
extern struct uc_call_left uc_call_left;
struct uc_call_left uc_call_left __attribute__((used, visibility("hidden")));

void uc_call_raw(uc_call_fn *fn, void *dst, const void *src, size_t n);

/* System V AMD64 ABI, 3.2.1: rbx, rbp, r12 to r15 and rsp belong to the caller, and the direction
 * flag is clear on entry and return. Each register is filled with a pattern of its own (its number
 * in the lowest digit), so that exchanged ones show too. The 8 bytes under the six pushes bring rsp
 * to the 16 bytes that a callee may rely on. */
__asm__(".pushsection .text\n"
        ".globl uc_call_raw\n"
        ".hidden uc_call_raw\n"
        ".type uc_call_raw, @function\n"
        ".p2align 4\n"
        "uc_call_raw:\n\t"
        "push %rbx\n\t"
        "push %rbp\n\t"
        "push %r12\n\t"
        "push %r13\n\t"
        "push %r14\n\t"
        "push %r15\n\t"
        "sub $8, %rsp\n\t"
        "mov %rsp, uc_call_left+0(%rip)\n\t"
        "mov %rdi, %rax\n\t"
        "mov %rsi, %rdi\n\t"
        "mov %rdx, %rsi\n\t"
        "mov %rcx, %rdx\n\t"
        "movabs $0x9bd1e5a7c3f08240, %rbx\n\t"
        "lea 1(%rbx), %rbp\n\t"
        "lea 2(%rbx), %r12\n\t"
        "lea 3(%rbx), %r13\n\t"
        "lea 4(%rbx), %r14\n\t"
        "lea 5(%rbx), %r15\n\t"
        "call *%rax\n\t"
        "mov %rsp, uc_call_left+8(%rip)\n\t"
        "mov uc_call_left+0(%rip), %rsp\n\t"
        "mov %rax, uc_call_left+16(%rip)\n\t"
        "pushfq\n\t"
        "pop %rax\n\t"
        "cld\n\t"
        "mov %rax, uc_call_left+24(%rip)\n\t"
        "mov %rbx, uc_call_left+32(%rip)\n\t"
        "mov %rbp, uc_call_left+40(%rip)\n\t"
        "mov %r12, uc_call_left+48(%rip)\n\t"
        "mov %r13, uc_call_left+56(%rip)\n\t"
        "mov %r14, uc_call_left+64(%rip)\n\t"
        "mov %r15, uc_call_left+72(%rip)\n\t"
        "add $8, %rsp\n\t"
        "pop %r15\n\t"
        "pop %r14\n\t"
        "pop %r13\n\t"
        "pop %r12\n\t"
        "pop %rbp\n\t"
        "pop %rbx\n\t"
        "ret\n"
        ".size uc_call_raw, . - uc_call_raw\n"
        ".popsection");
#define PATTERN 0x9bd1e5a7c3f08240u
#define DIRECTION (1u << 10)

static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
static struct sigaction before[COUNT(caught)];
static stack_t stack_before;
/* Large enough for a frame with AVX-512 and AMX state (11 KiB) and what sanitizers put on top. */
static char stack[64 << 10];

static sigjmp_buf back;
static volatile sig_atomic_t watching, raised;
static const void *volatile touched;

static void restore(int signal)
{
    for (size_t i = 0; i < COUNT(caught); i++)
        if (caught[i] == signal)
            sigaction(signal, &before[i], NULL);
}

/* A signal that no watched call raised goes where it went before us: the instruction that raised it
 * runs again when this returns. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    if (!watching) {
        restore(signal);
        return;
    }
    raised = signal;
    touched = signal == SIGSEGV || signal == SIGBUS ? info->si_addr : NULL;
    siglongjmp(back, 1);
}

/* SA_NODEFER: the signal is not blocked in the handler, so that the jump out of it need not restore
 * a mask and no call pays a system call for saving one. */
int uc_call_begin(void)
{
    stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction catch = {.sa_sigaction = on_signal,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    sigemptyset(&catch.sa_mask);
    if (sigaltstack(&own, &stack_before))
        return -errno;
    for (size_t i = 0; i < COUNT(caught); i++)
        sigaction(caught[i], &catch, &before[i]);
    return 0;
}

void uc_call_end(void)
{
    for (size_t i = 0; i < COUNT(caught); i++)
        restore(caught[i]);
    sigaltstack(&stack_before, NULL);
}

static const char *changed_register(void)
{
    static const char *const name[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};

    for (unsigned i = 0; i < COUNT(name); i++)
        if (uc_call_left.saved[i] != PATTERN + i)
            return name[i];
    return uc_call_left.rsp == uc_call_left.rsp_before ? NULL : "rsp";
}

/* The kernel enters a handler with fresh vector state and a clear direction flag, and the jump out
 * of it leaves them so: MXCSR is ours to restore. */
void uc_call(uc_call_fn *fn, void *dst, const void *src, size_t n, struct uc_call *call)
{
    unsigned mxcsr = __builtin_ia32_stmxcsr();

    memset(call, 0, sizeof(*call));
    watching = 1;
    if (sigsetjmp(back, 0)) {
        __builtin_ia32_ldmxcsr(mxcsr);
        call->signal = raised;
        call->address = touched;
    } else {
        uc_call_raw(fn, dst, src, n);
        call->returned = (void *)(uintptr_t)uc_call_left.returned;
        call->direction = uc_call_left.flags & DIRECTION;
        call->changed = changed_register();
    }
    watching = 0;
}
