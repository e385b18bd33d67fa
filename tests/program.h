/* The built program in a folder of its own, by the shell, for the tests that run it from end to
 * end. The variable UCOPY_TUNE names it. */
#ifndef TESTS_PROGRAM_H
#define TESTS_PROGRAM_H

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static char dir[64];

static inline int make_dir(void **state)
{
    strcpy(dir, "/tmp/ucopy-tune-test-XXXXXX");
    return !getenv("UCOPY_TUNE") || !mkdtemp(dir);
}

static inline int remove_dir(void **state)
{
    char command[100];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

/* Another user of the machine may be at it, and make it too noisy: both are said, and no part of
 * the answer. */
static inline void drop_waiting(void)
{
    char command[200];
    snprintf(command, sizeof(command),
             "sed -i '/waiting for another timed run/d; /: warning: self-test: /d' %s/err", dir);
    assert_int_equal(system(command), 0);
}

static inline int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A shell command in the test's folder; its exit code, or 128 and the signal. */
static inline int sh(const char *fmt, ...)
{
    char command[1024], whole[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof(whole), "cd %s && { %s ; } >out 2>err", dir, command);
    int status = system(whole);
    drop_waiting();
    if (status) { /* said here, since most callers want 0 */
        snprintf(whole, sizeof(whole), "sed 's/^/# /' %s/err", dir);
        if (system(whole))
            puts("# no stderr");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline char *slurp(const char *name)
{
    char path[200], *text;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(uc_read_file(path, 1 << 24, &text, NULL), 0);
    return text;
}

static inline void assert_holds(const char *name, const char *words)
{
    char *text = slurp(name);

    if (!strstr(text, words))
        fail_msg("%s lacks \"%s\":\n%s", name, words, text);
    free(text);
}

static inline size_t lines(const char *name)
{
    char *text = slurp(name);
    size_t n = 0;

    for (char *p = text; *p; p++)
        n += *p == '\n';
    free(text);
    return n;
}

/* The one file of the folder that ends so, without its folder; NULL where there is none. */
static inline char *only(const char *end)
{
    char pattern[200];
    glob_t g;

    snprintf(pattern, sizeof(pattern), "%s/*%s", dir, end);
    char *found = glob(pattern, 0, NULL, &g) ? NULL : strdup(strrchr(g.gl_pathv[0], '/') + 1);
    if (found)
        assert_int_equal(g.gl_pathc, 1);
    globfree(&g);
    return found;
}

#endif
