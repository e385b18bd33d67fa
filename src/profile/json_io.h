/* JSON in and out. Reading is for src/profile only; the values that are written serve the commands
 * too.
 *
 * Reading goes through nodes, each of which knows its path from the root, so that every complaint
 * names its place. The first complaint sticks and later reads do nothing but return zeros: a reader
 * reads straight on and looks at rc once, at the end. */
#ifndef UC_PROFILE_JSON_IO_H
#define UC_PROFILE_JSON_IO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "machine/cpu.h"
#include "measure/cells.h"

struct uc_json_error {
    int rc; /* 0, or a negative errno: the first complaint */
    char *why;
    size_t cap;
};

struct uc_node {
    struct uc_json_error *error;
    const struct uc_node *up; /* NULL: the root */
    const char *key;          /* NULL: an element */
    size_t index;
    json_t *v; /* NULL: absent, or null */
};

/* "entries.copy.segments[2].max: what". Returns the error's rc. */
int uc_node_fail(const struct uc_node *n, int rc, const char *what);

/* Absent (or null) members and the members of what is no object give an absent node. */
struct uc_node uc_node_member(const struct uc_node *object, const char *key);
struct uc_node uc_node_element(const struct uc_node *array, size_t i);

/* Is the node there? Where it is, it must be an object, or an array. */
bool uc_node_object(const struct uc_node *n);
bool uc_node_array(const struct uc_node *n);

/* Members by key. The plain forms need the member, the _or forms give otherwise where it is absent.
 */
void uc_get_string(const struct uc_node *object, const char *key, char *buf, size_t cap);
void uc_get_string_or(const struct uc_node *object, const char *key, char *buf, size_t cap,
                      const char *otherwise);
size_t uc_get_size(const struct uc_node *object, const char *key);
size_t uc_get_size_or(const struct uc_node *object, const char *key, size_t otherwise);
double uc_get_number_or(const struct uc_node *object, const char *key, double otherwise);
bool uc_get_bool(const struct uc_node *object, const char *key);
/* An object that is kept as it is (a new reference), or NULL. */
json_t *uc_get_object(const struct uc_node *object, const char *key);

/* Values of one node. */
double uc_node_number(const struct uc_node *n);
long long uc_node_integer(const struct uc_node *n, long long min, long long max);
void uc_node_string(const struct uc_node *n, char *buf, size_t cap);

/* Writing. "" is null; bytes that are no UTF-8 become '?'. */
json_t *uc_json_string(const char *s);
/* Rounded to so many significant digits, so that reading and writing again gives the same text; not
 * finite is null. */
json_t *uc_json_number(double v, int digits);
json_t *uc_json_positive(double v, int digits); /* 0 and below is null too */
json_t *uc_json_size(size_t v, size_t absent);  /* null where v is absent */
json_t *uc_json_isa(uint32_t isa);              /* names of instruction sets; NULL: no memory */

/* Flags of every dump: 10 digits are more than any number here has. */
#define UC_JSON_DUMP (JSON_REAL_PRECISION(10) | JSON_ENCODE_ANY)

/* Cells by column; NULL for no memory, null for no cells. */
json_t *uc_cells_to_json(const struct uc_cells *cells);
void uc_cells_from_json(const struct uc_node *n, struct uc_cells *cells);

/* The member "entries" of a profile's root, into p->entry. */
struct uc_profile;
void uc_entries_from_json(const struct uc_node *root, struct uc_profile *p);

/* SHA-256 of the compact dump of all keys but "digest" and "syscalls". 0 or -ENOMEM. */
int uc_profile_digest(json_t *root, char hex[65]);

#endif
