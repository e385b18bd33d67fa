/* Files of a run: in a folder of its own, or in memory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>

#include "syscalls/sys.h"
#include "syscalls/syscalls.h"

int uc_sys_folder_make(const char *parent, char **path)
{
    if (asprintf(path, "%s/ucopy-tune-XXXXXX", parent) < 0) {
        *path = NULL;
        return -ENOMEM;
    }
    int rc = uc_sys_mkdtemp(*path);
    if (rc) {
        free(*path);
        *path = NULL;
    }
    return rc;
}

static int remove_file(const char *folder, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return -ENOMEM;
    int rc = uc_sys_unlink(path);
    free(path);
    return rc;
}

int uc_sys_folder_remove(const char *path)
{
    DIR *d = opendir(path);
    int rc = d ? 0 : -errno;

    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && !rc)
            rc = remove_file(path, e->d_name);
    if (d)
        closedir(d);
    return rc ? rc : uc_sys_rmdir(path);
}

int uc_sys_create(const struct uc_sys_run *run, const char *name, int flags)
{
    char *path;

    if (asprintf(&path, "%s/%s", run->dir, name) < 0)
        return -ENOMEM;
    int fd = uc_sys_open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
    free(path);
    return fd;
}

int uc_sys_memfd(void)
{
    return uc_sys_memfd_create("ucopy-tune");
}

const char *uc_sys_file_system(int fd, char *buf)
{
    static const struct {
        long magic;
        const char *name;
    } known[] = {
        {TMPFS_MAGIC, "tmpfs"},
        {EXT4_SUPER_MAGIC, "ext4"},
        {XFS_SUPER_MAGIC, "xfs"},
        {BTRFS_SUPER_MAGIC, "btrfs"},
        {F2FS_SUPER_MAGIC, "f2fs"},
        {NFS_SUPER_MAGIC, "nfs"},
        {OVERLAYFS_SUPER_MAGIC, "overlay"},
        {RAMFS_MAGIC, "ramfs"},
        {0x2FC12FC1, "zfs"},
    };
    struct statfs s;

    if (uc_sys_fstatfs(fd, &s)) {
        snprintf(buf, 24, "unknown");
        return buf;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].magic == (long)s.f_type)
            return known[i].name;
    snprintf(buf, 24, "0x%lx", (unsigned long)s.f_type);
    return buf;
}
