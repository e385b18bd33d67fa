/* Rows of samples: compared with each other, they give a probability and an interval in order. */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "base/stats.h"
#include "measure/samples.h"

#define COMPARED 40 /* samples of a row: the exact test takes time with the fourth power */

static void compare(const struct uc_sample_row *a, const struct uc_sample_row *b)
{
    struct uc_comparison c;

    if (a->n > COMPARED || b->n > COMPARED)
        return;
    must(!uc_compare_rows(a->v, a->n, b->v, b->n, 0.95, &c), "rows that cannot be compared");
    must(c.p >= 0 && c.p <= 1 + 1e-9, "no probability");
    must(c.ratio.lo <= c.ratio.mid * (1 + 1e-9) && c.ratio.mid <= c.ratio.hi * (1 + 1e-9),
         "an interval without its middle");
}

static void look_at(const struct uc_sample_row *row)
{
    bool out[UC_MAX_SAMPLES];
    size_t at = 0;
    double mean = uc_mean(row->v, row->n), median = uc_median(row->v, row->n);

    must(isfinite(mean) && isfinite(median), "a mean that is no number");
    must(uc_outliers(row->v, row->n, out) <= row->n, "more outliers than samples");
    must(uc_level_change(row->v, row->n, &at) != UC_LEVEL_CHANGES || (at >= 3 && at + 3 <= row->n),
         "a level of too few samples");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct uc_samples s;
    unsigned line;
    char why[256];

    if (uc_samples_read(as_file(0, data, n), &s, &line, why, sizeof(why))) {
        must(why[0], "refused without a word");
        return 0;
    }
    for (size_t i = 0; i < s.rows && i < 8; i++) {
        look_at(&s.row[i]);
        compare(&s.row[0], &s.row[i]);
    }
    uc_samples_free(&s);
    return 0;
}
