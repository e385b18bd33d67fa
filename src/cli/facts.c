#include "cli/facts.h"

#include <stdarg.h>
#include <string.h>

#include "cli/output.h"

/* A value longer than this pushes its own source to the right, and no other. */
enum { VALUE_WIDTH = 48 };

struct uc_fact *uc_fact_add(struct uc_facts *f, const char *key, const char *source, ...)
{
    struct uc_fact *fact = &f->v[f->n];
    va_list ap;

    if (f->n + 1 < sizeof(f->v) / sizeof(f->v[0]))
        f->n++;
    json_decref(fact->json);
    memset(fact, 0, sizeof(*fact));
    fact->key = key;
    va_start(ap, source);
    vsnprintf(fact->source, sizeof(fact->source), source, ap);
    va_end(ap);
    return fact;
}

void uc_fact_set(struct uc_fact *fact, json_t *json, const char *value, ...)
{
    va_list ap;

    va_start(ap, value);
    vsnprintf(fact->value, sizeof(fact->value), value, ap);
    va_end(ap);
    json_decref(fact->json);
    fact->json = json;
}

static int key_width(const struct uc_facts *f)
{
    size_t width = 0;

    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->v[i].key) > width)
            width = strlen(f->v[i].key);
    return (int)width;
}

void uc_facts_print(const struct uc_facts *f, FILE *out)
{
    int width = key_width(f);
    char text[sizeof(struct uc_fact)];

    for (size_t i = 0; i < f->n; i++) {
        const struct uc_fact *v = &f->v[i];
        snprintf(text, sizeof(text), "  %-*s  %-*s  (%s)", width, v->key, VALUE_WIDTH,
                 *v->value ? v->value : "unknown", v->source);
        for (char *p = text; p < text + 2 + strlen(v->key); p++)
            *p = *p == '_' ? ' ' : *p;
        uc_print_wrapped(text, 2 + width + 2, out);
    }
}

static json_t *value_json(const struct uc_fact *v)
{
    if (v->json)
        return json_incref(v->json);
    return *v->value ? json_string(v->value) : json_null();
}

json_t *uc_facts_json(const struct uc_facts *f)
{
    json_t *o = json_object();
    int rc = !o;

    for (size_t i = 0; i < f->n; i++)
        rc |= json_object_set_new(
            o, f->v[i].key,
            json_pack("{s:o, s:s}", "value", value_json(&f->v[i]), "source", f->v[i].source));
    if (!rc)
        return o;
    json_decref(o);
    return NULL;
}

void uc_facts_free(struct uc_facts *f)
{
    for (size_t i = 0; i < sizeof(f->v) / sizeof(f->v[0]); i++)
        json_decref(f->v[i].json);
    memset(f, 0, sizeof(*f));
}
