#include "profile/json_io.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static void print_path(FILE *out, const struct uc_node *n)
{
    if (!n->up)
        return;
    print_path(out, n->up);
    if (!n->key)
        fprintf(out, "[%zu]", n->index);
    else
        fprintf(out, "%s%s", n->up->up ? "." : "", n->key);
}

int uc_node_fail(const struct uc_node *n, int rc, const char *what)
{
    struct uc_json_error *e = n->error;
    if (e->rc)
        return e->rc;
    e->rc = rc;
    FILE *out = e->cap ? fmemopen(e->why, e->cap, "w") : NULL;
    if (out) {
        print_path(out, n);
        fprintf(out, "%s%s", n->up ? ": " : "", what);
        fclose(out);
        e->why[e->cap - 1] = 0;
    }
    return rc;
}

struct uc_node uc_node_member(const struct uc_node *object, const char *key)
{
    json_t *v = json_object_get(object->v, key);
    return (struct uc_node){object->error, object, key, 0, json_is_null(v) ? NULL : v};
}

struct uc_node uc_node_element(const struct uc_node *array, size_t i)
{
    json_t *v = json_array_get(array->v, i);
    return (struct uc_node){array->error, array, NULL, i, json_is_null(v) ? NULL : v};
}

bool uc_node_object(const struct uc_node *n)
{
    if (n->v && !json_is_object(n->v))
        uc_node_fail(n, -EINVAL, "not an object");
    return json_is_object(n->v);
}

bool uc_node_array(const struct uc_node *n)
{
    if (n->v && !json_is_array(n->v))
        uc_node_fail(n, -EINVAL, "not an array");
    return json_is_array(n->v);
}

static bool there(const struct uc_node *n)
{
    if (!n->v)
        uc_node_fail(n, -EINVAL, "missing");
    return n->v;
}

double uc_node_number(const struct uc_node *n)
{
    if (there(n) && !json_is_number(n->v))
        uc_node_fail(n, -EINVAL, "not a number");
    return json_number_value(n->v);
}

long long uc_node_integer(const struct uc_node *n, long long min, long long max)
{
    if (there(n) && !json_is_integer(n->v)) {
        uc_node_fail(n, -EINVAL, json_is_number(n->v) ? "not a whole number" : "not a number");
        return min;
    }
    long long v = json_integer_value(n->v);
    if (n->v && (v < min || v > max)) {
        uc_node_fail(n, -EINVAL, "out of range");
        return min;
    }
    return n->v ? v : min;
}

void uc_node_string(const struct uc_node *n, char *buf, size_t cap)
{
    buf[0] = 0;
    if (!there(n))
        return;
    if (!json_is_string(n->v))
        uc_node_fail(n, -EINVAL, "not a string");
    else if (json_string_length(n->v) >= cap)
        uc_node_fail(n, -EINVAL, "too long");
    else
        memcpy(buf, json_string_value(n->v), json_string_length(n->v) + 1);
}

void uc_get_string(const struct uc_node *object, const char *key, char *buf, size_t cap)
{
    struct uc_node n = uc_node_member(object, key);
    uc_node_string(&n, buf, cap);
}

void uc_get_string_or(const struct uc_node *object, const char *key, char *buf, size_t cap,
                      const char *otherwise)
{
    struct uc_node n = uc_node_member(object, key);
    if (n.v)
        uc_node_string(&n, buf, cap);
    else
        snprintf(buf, cap, "%s", otherwise);
}

size_t uc_get_size(const struct uc_node *object, const char *key)
{
    struct uc_node n = uc_node_member(object, key);
    return (size_t)uc_node_integer(&n, 0, JSON_INTEGER_IS_LONG_LONG ? INT64_MAX : INT32_MAX);
}

size_t uc_get_size_or(const struct uc_node *object, const char *key, size_t otherwise)
{
    return uc_node_member(object, key).v ? uc_get_size(object, key) : otherwise;
}

double uc_get_number_or(const struct uc_node *object, const char *key, double otherwise)
{
    struct uc_node n = uc_node_member(object, key);
    return n.v ? uc_node_number(&n) : otherwise;
}

bool uc_get_bool(const struct uc_node *object, const char *key)
{
    struct uc_node n = uc_node_member(object, key);
    if (there(&n) && !json_is_boolean(n.v))
        uc_node_fail(&n, -EINVAL, "not true or false");
    return json_is_true(n.v);
}

json_t *uc_get_object(const struct uc_node *object, const char *key)
{
    struct uc_node n = uc_node_member(object, key);
    return uc_node_object(&n) ? json_incref(n.v) : NULL;
}

json_t *uc_json_string(const char *s)
{
    if (!*s)
        return json_null();
    json_t *v = json_string(s);
    if (v)
        return v;
    char *plain = strdup(s);
    for (char *c = plain; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    v = plain ? json_string(plain) : NULL;
    free(plain);
    return v;
}

json_t *uc_json_number(double v, int digits)
{
    char text[40];

    if (!isfinite(v))
        return json_null();
    snprintf(text, sizeof text, "%.*g", digits, v);
    v = strtod(text, NULL);
    return v == floor(v) && fabs(v) < 1e15 ? json_integer((json_int_t)v) : json_real(v);
}

json_t *uc_json_positive(double v, int digits)
{
    return v > 0 ? uc_json_number(v, digits) : json_null();
}

json_t *uc_json_size(size_t v, size_t absent)
{
    return v == absent ? json_null() : json_integer((json_int_t)v);
}

/* Longest container that is shown on one line although it holds others. */
#define ONE_LINE 160

static bool all_scalars(const json_t *v)
{
    const char *key;
    json_t *item;
    size_t i;

    json_array_foreach(v, i, item) if (json_is_array(item) || json_is_object(item)) return false;
    json_object_foreach((json_t *)v, key,
                        item) if (json_is_array(item) || json_is_object(item)) return false;
    return true;
}

static int print_value(FILE *out, const json_t *v, int indent);

static int print_members(FILE *out, const json_t *v, int indent)
{
    const char *key, *separator = "";
    json_t *item;
    size_t i;
    int rc = 0;

    json_array_foreach(v, i, item)
    {
        fprintf(out, "%s\n%*s", separator, indent, "");
        rc |= print_value(out, item, indent);
        separator = ",";
    }
    json_object_foreach((json_t *)v, key, item)
    {
        json_t *name = json_string(key);
        fprintf(out, "%s\n%*s", separator, indent, "");
        rc |= name ? json_dumpf(name, out, JSON_ENCODE_ANY) : -1;
        json_decref(name);
        fputs(": ", out);
        rc |= print_value(out, item, indent);
        separator = ",";
    }
    return rc;
}

static int print_value(FILE *out, const json_t *v, int indent)
{
    bool flat = all_scalars(v);
    size_t length = flat ? 0 : json_dumpb(v, NULL, 0, UC_JSON_DUMP);

    if (length <= ONE_LINE)
        return json_dumpf(v, out, UC_JSON_DUMP | (json_array_size(v) > 8 ? JSON_COMPACT : 0));
    fputc(json_is_array(v) ? '[' : '{', out);
    int rc = print_members(out, v, indent + 1);
    fprintf(out, "\n%*s%c", indent, "", json_is_array(v) ? ']' : '}');
    return rc;
}

char *uc_json_text(const json_t *value)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    int rc = print_value(out, value, 0);
    fputc('\n', out);
    rc |= ferror(out);
    if (fclose(out) || rc) {
        free(text);
        return NULL;
    }
    return text;
}
