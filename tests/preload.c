/* The copy of a generated header as a program's memcpy, put in front of the C library's:
 *
 *     cc -O2 -fPIC -shared -DUCOPY_HEADER='"amd-1a-02.h"' -DUCOPY_COPY=ucopy_amd_1a_02 \
 *         preload.c -o preload.so
 *
 *     LD_PRELOAD=$PWD/preload.so PROGRAM
 *
 * It replaces memcpy and __memcpy_chk, the same with the room in dst told, which is what a call
 * becomes in packages built with _FORTIFY_SOURCE. It does not replace memmove: the copies are for
 * buffers that are equal or apart. A program that hands memcpy buffers that overlap is wrong but
 * works with a libc whose memcpy is its memmove, and may not with this. What libc calls inside
 * itself (fread, qsort) stays libc's.
 *
 * With -DUCOPY_COUNT it counts: at exit it appends "size,count" lines, as --sizes-from reads them,
 * to the file named by the variable UCOPY_COUNT, sizes above 4096 as the power of two below, and
 * says on stderr how many calls overlapped. */
#include <stddef.h>
#include <stdlib.h>

/* Not memcpy: it would call itself. A header of general registers alone never needs it. */
__attribute__((unused)) static void *copy_bytes(void *dst, const void *src, size_t n)
{
    void *d = dst;

    __asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
    return dst;
}

#define UCOPY_FALLBACK(d, s, n) copy_bytes(d, s, n)
#include UCOPY_HEADER

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *__memcpy_chk(void *restrict dst, const void *restrict src, size_t n, size_t room);
extern void __chk_fail(void) __attribute__((noreturn)); /* libc's: says so and aborts */

#ifdef UCOPY_COUNT
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define EXACT 4096

static unsigned long exact[EXACT + 1], octave[64], overlapping;

static void count(const char *dst, const char *src, size_t n)
{
    size_t apart = dst > src ? (size_t)(dst - src) : (size_t)(src - dst);
    unsigned long *bin = n <= EXACT ? &exact[n] : &octave[63 - __builtin_clzl(n)];

    __atomic_fetch_add(bin, 1, __ATOMIC_RELAXED);
    if (apart && apart < n)
        __atomic_fetch_add(&overlapping, 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("UCOPY_COUNT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

    if (path && fd < 0)
        fprintf(stderr, "preload: cannot write %s\n", path);
    if (overlapping)
        fprintf(stderr, "preload: %lu calls of memcpy overlapped\n", overlapping);
    if (fd < 0)
        return;
    for (size_t n = 0; n <= EXACT; n++)
        if (exact[n])
            dprintf(fd, "%zu,%lu\n", n, exact[n]);
    for (int k = 0; k < 64; k++)
        if (octave[k])
            dprintf(fd, "%zu,%lu\n", (size_t)1 << k, octave[k]);
    close(fd);
}
#else
#define count(dst, src, n) (void)0
#endif

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    count(dst, src, n);
    return UCOPY_COPY(dst, src, n);
}

void *__memcpy_chk(void *restrict dst, const void *restrict src, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    count(dst, src, n);
    return UCOPY_COPY(dst, src, n);
}
