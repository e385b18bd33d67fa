/* Bytes that tell where in a file they lie, so that a read that went wrong shows. */
#ifndef UC_SYSCALLS_WORDS_H
#define UC_SYSCALLS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t uc_word_at(size_t at)
{
    return (at + 1) * 0x9E3779B97F4A7C15u;
}

/* n: a multiple of 8. */
static inline void uc_words_put(void *p, size_t at, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        memcpy((char *)p + i, &(uint64_t){uc_word_at(at + i)}, 8);
}

static inline bool uc_words_are(const void *p, size_t at, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        if (memcmp((const char *)p + i, &(uint64_t){uc_word_at(at + i)}, 8) != 0)
            return false;
    return true;
}

#endif
