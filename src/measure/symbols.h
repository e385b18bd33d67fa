/* The functions of an object file, by its ELF symbol table. */
#ifndef UC_MEASURE_SYMBOLS_H
#define UC_MEASURE_SYMBOLS_H

#include <stddef.h>

typedef void uc_symbol_each(void *ctx, const char *name, size_t bytes);

/* Calls each for every function that the object defines, with the bytes of its code. 0, or -ENOEXEC
 * where image is no whole x86-64 ELF file with a symbol table. */
int uc_symbols_functions(const char *image, size_t bytes, uc_symbol_each *each, void *ctx);

#endif
