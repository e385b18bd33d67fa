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

/* Can a file be made in this folder? Tried for real, by making a temporary and removing it. */
int uc_dir_writable(const char *dir);

#endif
