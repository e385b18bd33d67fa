/* Whole files: read with a limit, written by temporary and rename, so that a reader sees the old
 * file or the new one and never a part. All return 0 or a negative errno and print nothing. */
#ifndef UC_BASE_FILE_H
#define UC_BASE_FILE_H

#include <stddef.h>

/* Reads the whole file into *text (malloc'ed, NUL behind the last byte); *len may be NULL.
 * -EFBIG where it holds more than limit bytes. */
int uc_read_file(const char *path, size_t limit, char **text, size_t *len);

/* Replaces path by text: temporary in the same folder, fsync, rename. A path that exists and is
 * no regular file (/dev/full, a pipe) is written in place, since renaming over it would replace
 * the device. */
int uc_write_file(const char *path, const char *text, size_t len);

/* The same in two steps, for files that belong together: all are staged, then all replaced, so that
 * what fails or is killed in the long first step leaves every old file. text is borrowed until the
 * file is replaced or dropped; either frees what staging took, and dropping twice does no harm. */
struct uc_staged {
    const char *path, *text;
    size_t len;
    char *tmp; /* NULL: to be written in place */
};
int uc_stage_file(struct uc_staged *f, const char *path, const char *text, size_t len);
int uc_replace_file(struct uc_staged *f);
void uc_drop_file(struct uc_staged *f);

/* All of text to a descriptor. */
int uc_write_fd(int fd, const char *text, size_t len);

/* Can uc_write_file write this file? Tried for real, by making a temporary beside it and removing
 * that; what is no regular file is only asked for its mode. */
int uc_path_writable(const char *path);

/* Can a file be made in this folder? Tried in the same way. */
int uc_dir_writable(const char *dir);

#endif
