/* Cells: what measuring produces and fitting reads. One cell is the aggregated cost of one strategy
 * at one size (or band) in one state, for one consumer and mix. Aligned columns of DESIGN.md's CSV.
 */
#ifndef UC_MEASURE_CELLS_H
#define UC_MEASURE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "strategies/registry.h"

#define UC_NAME 48

/* Each list's names are the words of the CSV; the first is what an absent column means. */
#define UC_STATES(X)         \
    X(UC_NATURAL, "natural") \
    X(UC_L1, "l1")           \
    X(UC_L2, "l2") X(UC_L3, "l3") X(UC_MEMORY, "memory") X(UC_OTHER_CORE, "other_core")
#define UC_CONSUMERS(X)                                                         \
    X(UC_NONE, "none")                                                          \
    X(UC_READ, "read") X(UC_WAIT, "wait") X(UC_SCAN, "scan") X(UC_EVICT, "evic" \
                                                                         "t")
#define UC_MIXES(X) X(UC_FIXED, "fixed") X(UC_BAND, "band") X(UC_NAMED, "named")
#define UC_ORDERS(X) X(UC_RANDOM, "random") X(UC_LEARNED, "learned") X(UC_SAME, "fixed")
#define UC_FORMS(X) X(UC_CALLED, "called") X(UC_INLINE, "inline") X(UC_CHECKED, "checked")
#define UC_CODES(X) X(UC_WARM, "warm") X(UC_COLD, "cold")
#define UC_ENTRIES(X) X(UC_COPY, "copy") X(UC_NOCACHE, "nocache")
#define UC_END_KINDS(X)      \
    X(UC_END_DRAWN, "drawn") \
    X(UC_END_NONE, "none")   \
    X(UC_END_MAPPED, "mapped") X(UC_END_UNTOUCHED, "untouched") X(UC_END_UNMAPPED, "unmapped")

#define UC_ENUM_MEMBER(id, name) id,
enum uc_state { UC_STATES(UC_ENUM_MEMBER) UC_STATE_COUNT };
enum uc_consumer { UC_CONSUMERS(UC_ENUM_MEMBER) UC_CONSUMER_COUNT };
enum uc_mix { UC_MIXES(UC_ENUM_MEMBER) UC_MIX_COUNT };
enum uc_order { UC_ORDERS(UC_ENUM_MEMBER) UC_ORDER_COUNT };
enum uc_form { UC_FORMS(UC_ENUM_MEMBER) UC_FORM_COUNT };
enum uc_code { UC_CODES(UC_ENUM_MEMBER) UC_CODE_COUNT };
enum uc_entry { UC_ENTRIES(UC_ENUM_MEMBER) UC_ENTRY_COUNT };
enum uc_end_kind { UC_END_KINDS(UC_ENUM_MEMBER) UC_END_KIND_COUNT };
extern const char *const uc_state_name[],
    *const uc_consumer_name[], *const uc_mix_name[], *const uc_order_name[],
                                                         *const uc_form_name[],
                                                             *const uc_code_name[],
                                                                 *const uc_entry_name[],
                                                                     *const uc_end_kind_name[];

/* The value of a word in one of the lists above, or -1. */
int uc_word(const char *const *names, int count, const char *word);

struct uc_end {
    enum uc_end_kind kind;
    int distance; /* bytes from the buffer's end to the page end; -1: not given */
};

struct uc_cell {
    char strategy[UC_NAME];
    enum ucopy_role role;
    size_t size;    /* bytes; of a band: its smallest */
    size_t size_hi; /* band's largest size, inclusive; 0: no band (fixed size, or a named mix) */
    enum uc_state src_state, dst_state;
    enum uc_consumer consumer;
    enum uc_mix mix;
    enum uc_order order;
    enum uc_form form;
    enum uc_code code; /* cold: other work ran between the calls */
    enum uc_entry entry;
    unsigned environment;     /* UCOPY_USER, UCOPY_KERNEL, or 0: both */
    int dst_align, src_align; /* mod 64; -1: drawn from the weights */
    int page_distance;        /* (dst - src) mod 4096; -1: drawn */
    struct uc_end dst_end, src_end;
    int threads;           /* 1 */
    int code_placement;    /* 0, 1; -1: over both */
    double cost;           /* a call, in the table's unit; above 0 */
    double lo, hi;         /* its 95 % interval; equal to cost where the table gave none */
    unsigned n;            /* readings behind it; 0: not given */
    double mapping_spread; /* largest over smallest round value; 0: not given */
    double code_ratio; /* cost with the code at its second placement over that at its first; 0: not
                          given */
    long code_bytes;   /* -1: not given */
};

enum uc_unit { UC_NS, UC_TSC_TICKS, UC_TICKS };
extern const char *const uc_unit_name[]; /* "ns", "tsc_ticks", "ticks" */

struct uc_cells {
    struct uc_cell *v;
    size_t n, cap;
    enum uc_unit unit;
    bool has_interval; /* lo and hi were given */
};

/* A cell with every dimension at its default (fixed, none, natural, called, drawn placement). */
struct uc_cell uc_cell_default(const char *strategy, size_t size);
/* Appends a copy. 0 or -ENOMEM. */
int uc_cells_add(struct uc_cells *c, const struct uc_cell *cell);
void uc_cells_free(struct uc_cells *c);
/* Sorts into the one canonical order (all dimensions, then strategy), so that row order means
 * nothing. */
void uc_cells_sort(struct uc_cells *c);
/* The canonical order (below 0, 0, above 0): of all of a cell, and of its dimensions alone, that is
 * without size, band, strategy and figures. */
int uc_cells_compare(const struct uc_cell *a, const struct uc_cell *b);
int uc_cells_compare_dims(const struct uc_cell *a, const struct uc_cell *b);
/* Do two cells differ in nothing but strategy, role, costs and evidence? */
bool uc_cells_same_place(const struct uc_cell *a, const struct uc_cell *b);

/* CSV as DESIGN.md fixes it. Reading: 0, or -EINVAL with *line and *why (the column and what is
 * wrong with it), or the errno of reading. Unknown columns are ignored; '#' lines are comments;
 * duplicates of a row are an error. At most 1 Mi rows. */
int uc_cells_read_csv(const char *path, struct uc_cells *c, unsigned *line, char *why,
                      size_t why_cap);
/* Writes all columns in which any cell differs from the default, costs with 5 significant digits.
 * tsc_hz > 0 adds tsc_ticks beside ns. */
void uc_cells_write_csv(const struct uc_cells *c, double tsc_hz, FILE *out);

#endif
