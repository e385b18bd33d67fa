/* Hashes: what a strategy's code is made of, and the digest of a whole profile. */
#include <ctype.h>
#include <errno.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/json_io.h"
#include "profile/profile.h"

static void hash_hex(SHA2_CTX *context, char hex[65])
{
    uint8_t digest[SHA256_DIGEST_LENGTH];

    SHA256Final(digest, context);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* The character behind the comment that begins at s, or s where none begins. */
static const char *skip_comment(const char *s)
{
    const char *end;

    if (s[0] != '/')
        return s;
    if (s[1] == '/')
        return s + strcspn(s, "\n");
    if (s[1] != '*')
        return s;
    end = strstr(s + 2, "*/");
    return end ? end + 2 : s + strlen(s);
}

/* The character behind the string or character literal that begins at s, or s where none begins. */
static const char *skip_literal(const char *s)
{
    char quote = *s;

    if (quote != '"' && quote != '\'')
        return s;
    for (s++; *s && *s != quote; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

static void update_without_blanks(SHA2_CTX *context, const char *from, const char *to)
{
    for (; from < to; from++)
        if (!isspace((unsigned char)*from))
            SHA256Update(context, (const uint8_t *)from, 1);
}

/* Comment marks inside literals are no comments; blanks are dropped everywhere, literals included,
 * so that a formatter that rejoins or realigns assembly changes nothing. */
static void hash_source(SHA2_CTX *context, const char *text)
{
    while (*text) {
        const char *behind = skip_comment(text);
        if (behind == text) {
            behind = skip_literal(text);
            if (behind == text)
                behind++;
            update_without_blanks(context, text, behind);
        }
        text = behind;
    }
}

void uc_strategy_hash(const char *text, char hex[65])
{
    SHA2_CTX context;

    SHA256Init(&context);
    hash_source(&context, text);
    hash_hex(&context, hex);
}

int uc_strategy_source_hash(const char *name, char hex[65])
{
    const struct ucopy_strategy *s = ucopy_find(name);
    SHA2_CTX context;
    char *includes, *rest, *part;

    if (!s || !s->text)
        return -ENOENT;
    includes = rest = strdup(s->includes);
    if (!includes)
        return -ENOMEM;
    SHA256Init(&context);
    while ((part = strsep(&rest, " "))) {
        const char *text = *part ? ucopy_part_text(part) : NULL;
        hash_source(&context, text ? text : "");
    }
    hash_source(&context, s->text);
    hash_hex(&context, hex);
    free(includes);
    return 0;
}

static int add_hash(const char *name, void *hashes)
{
    char hex[65];
    int rc = uc_strategy_source_hash(name, hex);

    if (rc)
        return rc == -ENOENT ? 0 : rc;
    return json_object_set_new(hashes, name, json_pack("{ss}", "source_sha256", hex)) ? -ENOMEM : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The same object with its keys in alphabetic order: the order of the text does not depend on
 * which entry named a strategy first. NULL: no memory. */
static json_t *sorted(json_t *object)
{
    size_t n = json_object_size(object), i = 0;
    const char **names = calloc(n + 1, sizeof *names), *key;
    json_t *value, *out = json_object();

    if (names && out) {
        json_object_foreach(object, key, value) names[i++] = key;
        qsort(names, n, sizeof *names, by_name);
        for (i = 0; i < n; i++)
            json_object_set(out, names[i], json_object_get(object, names[i]));
    }
    if (json_object_size(out) != n) {
        json_decref(out);
        out = NULL;
    }
    free(names);
    return out;
}

int uc_profile_hash_strategies(struct uc_profile *p)
{
    json_t *found = json_object();
    int rc = found ? uc_profile_each_strategy(p, add_hash, found) : -ENOMEM;

    if (!rc) {
        json_decref(p->hashes);
        p->hashes = sorted(found);
        rc = p->hashes ? 0 : -ENOMEM;
    }
    json_decref(found);
    return rc;
}

struct stale {
    const json_t *hashes;
    const char *name;
};

static int is_stale(const char *name, void *state)
{
    struct stale *stale = state;
    const json_t *recorded = json_object_get(json_object_get(stale->hashes, name), "source_sha256");
    char hex[65];

    if (!uc_strategy_source_hash(name, hex) && json_is_string(recorded) &&
        !strcmp(json_string_value(recorded), hex))
        return 0;
    stale->name = name;
    return 1;
}

const char *uc_profile_stale(const struct uc_profile *p)
{
    struct stale stale = {p->hashes, NULL};

    if (p->hashes)
        uc_profile_each_strategy(p, is_stale, &stale);
    return stale.name;
}

int uc_profile_digest(json_t *root, char hex[65])
{
    json_t *rest = json_copy(root);
    SHA2_CTX context;
    char *text = NULL;

    if (rest) {
        json_object_del(rest, "digest");
        json_object_del(rest, "syscalls");
        text = json_dumps(rest, UC_JSON_DUMP | JSON_COMPACT);
    }
    json_decref(rest);
    if (!text)
        return -ENOMEM;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text, strlen(text));
    hash_hex(&context, hex);
    free(text);
    return 0;
}
