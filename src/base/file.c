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

int uc_write_fd(int fd, const char *text, size_t len)
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
    int rc = uc_write_fd(fd, text, len);
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

/* Whole, on the disk, and with the mode that any new file gets. */
static int fill_temporary(int fd, const char *text, size_t len)
{
    int rc = uc_write_fd(fd, text, len);

    if (!rc) {
        mode_t mask = umask(0);
        umask(mask);
        if (fchmod(fd, 0666 & ~mask) || fsync(fd))
            rc = -errno;
    }
    if (close(fd) && !rc)
        rc = -errno;
    return rc;
}

int uc_stage_file(struct uc_staged *f, const char *path, const char *text, size_t len)
{
    struct stat st;

    *f = (struct uc_staged){path, text, len, NULL};
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : 0;
    int fd = open_temporary(path, &f->tmp);
    if (fd < 0)
        return fd;
    int rc = fill_temporary(fd, text, len);
    if (rc)
        uc_drop_file(f);
    return rc;
}

int uc_replace_file(struct uc_staged *f)
{
    if (!f->tmp)
        return write_in_place(f->path, f->text, f->len);
    if (rename(f->tmp, f->path)) {
        int rc = -errno;
        uc_drop_file(f);
        return rc;
    }
    free(f->tmp);
    f->tmp = NULL;
    return 0;
}

void uc_drop_file(struct uc_staged *f)
{
    if (f->tmp)
        unlink(f->tmp);
    free(f->tmp);
    f->tmp = NULL;
}

int uc_write_file(const char *path, const char *text, size_t len)
{
    struct uc_staged f;
    int rc = uc_stage_file(&f, path, text, len);

    return rc ? rc : uc_replace_file(&f);
}

int uc_path_writable(const char *path)
{
    struct stat st;
    char *tmp;

    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : access(path, W_OK) ? -errno : 0;
    int fd = open_temporary(path, &tmp);
    if (fd < 0)
        return fd;
    close(fd);
    unlink(tmp);
    free(tmp);
    return 0;
}

int uc_dir_writable(const char *dir)
{
    char *path;

    if (asprintf(&path, "%s/.ucopy-tune", dir) < 0)
        return -ENOMEM;
    int rc = uc_path_writable(path);
    free(path);
    return rc;
}
