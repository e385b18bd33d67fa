/* Size distributions: shares that sum to 1 over ascending sizes, whatever was drawn or cut. */
#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "measure/sizes.h"

static void check(const struct uc_sizes *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++) {
        must(!i || s->size[i] > s->size[i - 1], "sizes that do not ascend");
        must(s->share[i] >= 0 && s->cum[i] + 1e-9 >= (i ? s->cum[i - 1] : 0), "a share below 0");
        sum += s->share[i];
    }
    must(s->n && fabs(sum - 1) < 1e-6, "shares that do not sum to 1");
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct uc_rng rng = {seed};
        size_t drawn = uc_sizes_draw(s, &rng);
        must(drawn >= s->size[0] && drawn <= s->size[s->n - 1], "a size that is not there");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct uc_sizes s, cut;
    const char *why = NULL;
    unsigned line;

    if (uc_sizes_read(as_file(0, data, n), &s, &line, &why)) {
        must(why && *why, "refused without a word");
        return 0;
    }
    check(&s);
    if (!uc_sizes_cut(&s, 1, 4096, &cut)) {
        check(&cut);
        must(cut.size[0] >= 1 && cut.size[cut.n - 1] <= 4096, "cut elsewhere");
        uc_sizes_free(&cut);
    }
    uc_sizes_free(&s);
    return 0;
}
