#include "base/msg.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int msg_level;
static bool progress_shown;

void uc_msg_level(int level)
{
    msg_level = level;
}

static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void say(int needed, const char *kind, const char *fmt, va_list ap)
{
    if (msg_level < needed)
        return;
    uc_progress_end();
    fprintf(stderr, "ucopy-tune: %s", kind);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

#define SAY(needed, kind)       \
    va_list ap;                 \
    va_start(ap, fmt);          \
    say(needed, kind, fmt, ap); \
    va_end(ap)

void uc_error(const char *fmt, ...)
{
    SAY(-1, "error: ");
}

void uc_warn(const char *fmt, ...)
{
    SAY(0, "warning: ");
}

void uc_note(const char *fmt, ...)
{
    SAY(0, "");
}

void uc_detail(const char *fmt, ...)
{
    SAY(1, "");
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void uc_progress(const char *what, double share, double seconds_left)
{
    static double last = -1;
    double now = now_seconds();

    if (msg_level < 0 || !is_terminal() || (last >= 0 && now - last < 0.1))
        return;
    last = now;
    if (seconds_left < 0)
        fprintf(stderr, "\r\033[K%3.0f %%  %s", 100 * share, what);
    else
        fprintf(stderr, "\r\033[K%3.0f %%  %.0f s left  %s", 100 * share, ceil(seconds_left), what);
    fflush(stderr);
    progress_shown = true;
}

void uc_progress_end(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}
