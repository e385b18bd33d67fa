#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int uc_read_file(const char *path, size_t limit, char **text, size_t *len)
{
    size_t cap = 1 << 16, n = 0;
    int rc = 0;
    char *p = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    for (;;) {
        char *q = realloc(p, cap + 1);
        if (!q) {
            rc = -ENOMEM;
            goto out;
        }
        p = q;
        ssize_t got = read(fd, p + n, cap - n);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            rc = -errno;
            goto out;
        }
        if (got == 0)
            break;
        n += (size_t)got;
        if (n > limit) {
            rc = -EFBIG;
            goto out;
        }
        if (n == cap)
            cap *= 2;
    }
    p[n] = 0;
    *text = p;
    p = NULL;
    if (len)
        *len = n;
out:
    free(p);
    close(fd);
    return rc;
}

static int write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t put = write(fd, text, len);
        if (put < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        text += put;
        len -= (size_t)put;
    }
    return 0;
}

static int write_in_place(const char *path, const char *text, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = write_all(fd, text, len);
    if (close(fd) && !rc)
        rc = -errno;
    return rc;
}

/* A temporary beside path, so that the rename stays on one file system. */
static int open_temporary(const char *path, char **name)
{
    int fd;

    if (asprintf(name, "%s.XXXXXX", path) < 0) {
        *name = NULL;
        return -ENOMEM;
    }
    fd = mkostemp(*name, O_CLOEXEC);
    if (fd < 0) {
        int rc = -errno;
        free(*name);
        *name = NULL;
        return rc;
    }
    return fd;
}

int uc_write_file(const char *path, const char *text, size_t len)
{
    struct stat st;
    char *tmp;
    int rc;

    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : write_in_place(path, text, len);
    int fd = open_temporary(path, &tmp);
    if (fd < 0)
        return fd;
    rc = write_all(fd, text, len);
    if (!rc) {
        mode_t mask = umask(0);
        umask(mask);
        if (fchmod(fd, 0666 & ~mask) || fsync(fd))
            rc = -errno;
    }
    if (close(fd) && !rc)
        rc = -errno;
    if (!rc && rename(tmp, path))
        rc = -errno;
    if (rc)
        unlink(tmp);
    free(tmp);
    return rc;
}

int uc_dir_writable(const char *dir)
{
    char *path, *tmp;
    int fd;

    if (asprintf(&path, "%s/.ucopy-tune", dir) < 0)
        return -ENOMEM;
    fd = open_temporary(path, &tmp);
    free(path);
    if (fd < 0)
        return fd;
    close(fd);
    unlink(tmp);
    free(tmp);
    return 0;
}
