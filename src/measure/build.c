#include "measure/build.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "measure/child.h"
#include "measure/sweep.h"

extern char **environ;

#define OBJECT_MAX ((size_t)64 << 20)

const char *uc_build_compiler(void)
{
    const char *cc = getenv("CC");
    return cc && *cc ? cc : "cc";
}

/* Runs argv with stdout and stderr into a file; its exit status, or a negative errno (-EINTR
 * after a signal to this run). In a process group of its own, which is ended as a whole: Ctrl-C at
 * a terminal would else end the compiler before this run knows why, and look like one that fails.
 */
static int run(char *const argv[], const char *output)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    pid_t pid;
    int status, rc;

    if (uc_interrupted)
        return -EINTR;
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&fa, 1, 2);
    rc = posix_spawnp(&pid, argv[0], &fa, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&attr);
    if (rc)
        return -rc;
    rc = uc_child_wait(pid, true, &status);
    if (rc)
        return rc;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -ECANCELED;
}

/* $CC may hold options ("gcc -m64"): split at blanks. */
static size_t split(char *text, char **argv, size_t most)
{
    size_t n = 0;

    for (char *p = strtok(text, " \t"); p && n < most; p = strtok(NULL, " \t"))
        argv[n++] = p;
    return n;
}

struct scratch {
    char dir[256], source[280], object[280], log[280];
};

/* In $TMPDIR, else in /tmp. */
static int scratch_make(struct scratch *s)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(s->dir, sizeof(s->dir), "%s/ucopy-tune.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(s->dir)) {
        strcpy(s->dir, "/tmp/ucopy-tune.XXXXXX");
        if (!mkdtemp(s->dir))
            return -errno;
    }
    snprintf(s->source, sizeof(s->source), "%s/copy.c", s->dir);
    snprintf(s->object, sizeof(s->object), "%s/copy.so", s->dir);
    snprintf(s->log, sizeof(s->log), "%s/log", s->dir);
    return 0;
}

static void scratch_remove(const struct scratch *s)
{
    unlink(s->source);
    unlink(s->object);
    unlink(s->log);
    rmdir(s->dir);
}

/* The first line of a file that holds words; where none does, its first line. */
static void line_with(const char *path, const char *words, char *buf, size_t cap)
{
    char *text;

    buf[0] = 0;
    if (uc_read_file(path, 1 << 20, &text, NULL))
        return;
    char *at = strstr(text, words);
    while (at && at > text && at[-1] != '\n')
        at--;
    if (!at)
        at = text;
    snprintf(buf, cap, "%.*s", (int)strcspn(at, "\n"), at);
    free(text);
}

const char *uc_build_compiler_version(char *buf, size_t cap)
{
    struct scratch s;
    char cc[256], *argv[16];

    buf[0] = 0;
    if (scratch_make(&s))
        return buf;
    snprintf(cc, sizeof(cc), "%s", uc_build_compiler());
    size_t n = split(cc, argv, 14);
    argv[n++] = "--version";
    argv[n] = NULL;
    if (n > 1 && run(argv, s.log) == 0)
        line_with(s.log, "", buf, cap);
    scratch_remove(&s);
    return buf;
}

static int compile(const struct scratch *s, bool native, char *why, size_t why_cap)
{
    char cc[256], *argv[24];

    snprintf(cc, sizeof(cc), "%s", uc_build_compiler());
    size_t n = split(cc, argv, 12);
    if (!n)
        return -ENOENT;
    char *const more[] = {
        "-O2", "-w", "-shared", "-fPIC", "-o", (char *)s->object, (char *)s->source};
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        argv[n++] = more[i];
    if (native)
        argv[n++] = "-march=native";
    argv[n] = NULL;
    int rc = run(argv, s->log);
    if (rc == -ENOENT || rc == 127) {
        snprintf(why, why_cap, "no compiler: '%s' cannot be run", argv[0]);
        return -ENOENT;
    }
    if (rc == -EINTR) {
        snprintf(why, why_cap, "interrupted");
        return rc;
    }
    if (rc) {
        char line[160];
        line_with(s->log, "error", line, sizeof(line));
        snprintf(why, why_cap, "%s fails: %s", argv[0], line);
        return -EINVAL;
    }
    return 0;
}

static char *caller_text(const char *header, const char *function)
{
    char *text = NULL;

    if (asprintf(
            &text,
            "%s\n%s\n"
            "#define COPY(d, s, n) %s(d, s, n)\n"
            "UC_DEFINE_LOOPS(inlined, , COPY)\n"
            "const struct uc_loops *const uc_inlined = &inlined_loops;\n"
            "void *uc_called(void *d, const void *s, __SIZE_TYPE__ n);\n"
            "void *uc_called(void *d, const void *s, __SIZE_TYPE__ n) { return %s(d, s, n); }\n",
            header, uc_loops_text, function, function) < 0)
        return NULL;
    return text;
}

static int load(const struct scratch *s, struct uc_object *out, char *why, size_t why_cap)
{
    int rc = uc_read_file(s->object, OBJECT_MAX, &out->image, &out->bytes);

    if (rc) {
        snprintf(why, why_cap, "the compiled text cannot be read: %s", strerror(-rc));
        return rc;
    }
    out->handle = dlopen(s->object, RTLD_NOW | RTLD_LOCAL);
    if (out->handle)
        return 0;
    snprintf(why, why_cap, "the compiled text does not load: %s", dlerror());
    return -EINVAL;
}

int uc_build_object(const char *source, bool native, struct uc_object *out, char *why,
                    size_t why_cap)
{
    struct scratch s;
    int rc = scratch_make(&s);

    memset(out, 0, sizeof(*out));
    if (rc) {
        snprintf(why, why_cap, "no folder for the compiler's output: %s", strerror(-rc));
        return rc;
    }
    rc = uc_write_file(s.source, source, strlen(source));
    if (rc)
        snprintf(why, why_cap, "cannot write %s: %s", s.source, strerror(-rc));
    if (!rc)
        rc = compile(&s, native, why, why_cap);
    if (!rc)
        rc = load(&s, out, why, why_cap);
    if (rc)
        uc_object_unload(out);
    scratch_remove(&s);
    return rc;
}

void uc_object_unload(struct uc_object *o)
{
    if (o->handle)
        dlclose(o->handle);
    free(o->image);
    memset(o, 0, sizeof(*o));
}

/* The two subjects of a loaded header. */
static int find_header(void *handle, const char *name, struct uc_built *out, char *why,
                       size_t why_cap)
{
    void *called = dlsym(handle, "uc_called");
    const struct uc_loops *const *loops = dlsym(handle, "uc_inlined");
    uc_copy_fn *fn;

    if (!called || !loops) {
        snprintf(why, why_cap, "the compiled header lacks its functions");
        return -EINVAL;
    }
    memcpy(&fn, &called, sizeof(fn));
    out->called = uc_subject_function(name, fn);
    out->inlined = out->called;
    out->inlined.form = UC_INLINE;
    out->inlined.loops = *loops;
    return 0;
}

int uc_build_header(const char *header, const char *function, const char *name, bool native,
                    struct uc_built *out, char *why, size_t why_cap)
{
    struct uc_object object = {0};
    char *text = caller_text(header, function);
    int rc = text ? uc_build_object(text, native, &object, why, why_cap) : -ENOMEM;

    memset(out, 0, sizeof(*out));
    if (!rc)
        rc = find_header(object.handle, name, out, why, why_cap);
    if (!rc) { /* keeps the code, drops the file */
        out->handle = object.handle;
        object.handle = NULL;
    }
    uc_object_unload(&object);
    free(text);
    return rc;
}

void uc_built_unload(struct uc_built *b)
{
    if (b->handle)
        dlclose(b->handle);
    memset(b, 0, sizeof(*b));
}
