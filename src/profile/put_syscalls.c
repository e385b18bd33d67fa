/* One member of a profile's file replaced, all else as it is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/profile.h"

#define MAX_FILE ((size_t)16 << 20)

/* The digest stays the last. */
static int put(json_t *root, json_t *value)
{
    json_t *digest = json_incref(json_object_get(root, "digest"));
    int rc = 0;

    if (!json_object_get(root, "syscalls") && digest)
        rc |= json_object_del(root, "digest");
    rc |= json_object_set(root, "syscalls", value);
    if (digest)
        rc |= json_object_set(root, "digest", digest);
    json_decref(digest);
    return rc ? -ENOMEM : 0;
}

int uc_profile_put_syscalls(const char *path, json_t *value)
{
    char *text = NULL, *out = NULL;
    size_t len;
    int rc = uc_read_file(path, MAX_FILE, &text, &len);
    json_t *root = rc ? NULL : json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

    if (!rc)
        rc = json_is_object(root) ? put(root, value) : -EINVAL;
    if (!rc) {
        out = uc_json_text(root);
        rc = out ? uc_write_file(path, out, strlen(out)) : -ENOMEM;
    }
    free(out);
    free(text);
    json_decref(root);
    return rc;
}
