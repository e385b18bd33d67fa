/* What the fuzz targets share. The readers take paths: the input is the memory of a descriptor. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A path of a file that holds these bytes, until the next call for the same place. */
static inline const char *as_file(int place, const void *data, size_t n)
{
    static int fd[2] = {-1, -1};
    static char path[2][40];

    if (fd[place] < 0)
        fd[place] = memfd_create("input", 0);
    snprintf(path[place], sizeof(path[place]), "/proc/self/fd/%d", fd[place]);
    if (fd[place] < 0 || ftruncate(fd[place], 0) || pwrite(fd[place], data, n, 0) != (ssize_t)n)
        abort();
    return path[place];
}

/* What must hold whatever the input was. */
static inline void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

#endif
