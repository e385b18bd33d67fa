/* A watched call of a copy: signals that it raises are caught, and what it leaves behind against
 * the calling convention is told. Static state: one thread at a time. */
#ifndef UC_MACHINE_CALL_H
#define UC_MACHINE_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* The same type as ucopy_fn of strategies/registry.h. */
typedef void *uc_call_fn(void *dst, const void *src, size_t n);

struct uc_call {
    int signal;          /* that it raised (SEGV, BUS, ILL, FPE, TRAP); 0: it returned */
    const void *address; /* of a SEGV or BUS: the byte that it touched (the kernel tells none for
                            addresses that are no addresses: NULL) */
    void *returned;
    bool direction;      /* it left the direction flag set; it is clear again */
    const char *changed; /* a callee-saved register that it changed ("rbx", "rsp"), or NULL */
};

/* Catches the signals, on a stack of their own, until uc_call_end. 0 or a negative errno. */
int uc_call_begin(void);
void uc_call_end(void);

/* Calls fn(dst, src, n). Outside begin and end a signal goes where it would without us. */
void uc_call(uc_call_fn *fn, void *dst, const void *src, size_t n, struct uc_call *call);

#endif
