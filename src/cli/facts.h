/* A list of facts, each with its source: printed as aligned `key  value  (source)` lines, or turned
 * into JSON. */
#ifndef UC_CLI_FACTS_H
#define UC_CLI_FACTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct uc_fact {
    const char *key; /* lower case, words joined by '_' */
    char value[160]; /* "" unknown */
    char source[256];
    json_t *json; /* owned; NULL: the value as a string, or null */
};

/* All zero before the first fact. */
struct uc_facts {
    size_t n;
    struct uc_fact v[48];
};

/* Adds a fact of this source, its value unknown so far, and returns it for the value to be set (by
 * uc_fact_set). Where there is no room the fact is lost. */
struct uc_fact *uc_fact_add(struct uc_facts *f, const char *key, const char *source, ...)
    __attribute__((format(printf, 3, 4)));
/* json may be NULL: then the text is the JSON value too. */
void uc_fact_set(struct uc_fact *fact, json_t *json, const char *value, ...)
    __attribute__((format(printf, 3, 4)));

void uc_facts_print(const struct uc_facts *f, FILE *out);
/* {"<key>": {"value": ..., "source": "..."}, ...}; NULL: no memory. */
json_t *uc_facts_json(const struct uc_facts *f);
void uc_facts_free(struct uc_facts *f);

#endif
