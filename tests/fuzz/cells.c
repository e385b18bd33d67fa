/* Cells as CSV: what is read can be written, reads the same again, and gives a decision or none. */
#include "tests/fuzz/fuzz.h"

#include "fit/fit.h"
#include "measure/cells.h"

#define FIT_CELLS 100 /* beyond, a decision takes longer than it finds */

static void write_and_read_again(const struct uc_cells *c)
{
    char *text = NULL, why[256];
    size_t n = 0;
    unsigned line;
    struct uc_cells again;
    FILE *out = open_memstream(&text, &n);

    uc_cells_write_csv(c, 0, out);
    fclose(out);
    must(!uc_cells_read_csv(as_file(1, text, n), &again, &line, why, sizeof(why)),
         "a table that was written cannot be read");
    must(again.n == c->n, "cells were lost in writing");
    for (size_t i = 0; i < c->n; i++)
        must(uc_cells_same_place(&c->v[i], &again.v[i]) &&
                 !strcmp(c->v[i].strategy, again.v[i].strategy),
             "a cell changed in writing");
    uc_cells_free(&again);
    free(text);
}

static void decide(const struct uc_cells *c, enum uc_entry entry)
{
    struct uc_fit_options o = {.weights = &uc_weights_default,
                               .entry = entry,
                               .environment = UCOPY_USER,
                               .max_segments = 6};
    static struct uc_fit_result r;

    if (uc_fit(c, &o, &r))
        return;
    must(r.ladders > 0 && r.ladder[0].n > 0, "a decision without a range");
    must(r.ladder[0].segment[r.ladder[0].n - 1].max == SIZE_MAX, "the last range ends");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct uc_cells c;
    unsigned line;
    char why[256];
    int rc = uc_cells_read_csv(as_file(0, data, n), &c, &line, why, sizeof(why));

    if (rc) {
        must(why[0] && memchr(why, 0, sizeof(why)), "refused without a word");
        return 0;
    }
    write_and_read_again(&c);
    for (int e = 0; e < UC_ENTRY_COUNT && c.n <= FIT_CELLS; e++)
        decide(&c, (enum uc_entry)e);
    uc_cells_free(&c);
    return 0;
}
