/* The profile's descriptive parts, and its two files. */
#include "cli/tune.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/command.h"
#include "emit/emit.h"

static double digits(double v, int n)
{
    char text[40];

    snprintf(text, sizeof(text), "%.*g", n, v);
    return strtod(text, NULL);
}

json_t *uc_tune_real(double v, int n)
{
    return isfinite(v) ? json_real(digits(v, n)) : json_null();
}

static json_t *text_or_null(const char *s)
{
    return *s ? json_string(s) : json_null();
}

static json_t *share_or_null(double v)
{
    return v < 0 ? json_null() : uc_tune_real(v, 3);
}

static json_t *rounds_json(const struct uc_sweep_facts *f)
{
    static const char *const key[UC_GROUPS] = {"small", "bands", "middle",
                                               "large", "evict", "probes"};
    json_t *o = json_object();

    for (int g = 0; g < UC_GROUPS; g++)
        json_object_set_new(o, key[g], json_integer(f->rounds[g]));
    return o;
}

static json_t *noise_json(const struct uc_tune *t)
{
    json_t *reasons = json_array();

    for (size_t i = 0; i < t->grade.reasons; i++)
        json_array_append_new(reasons, json_string(t->grade.reason[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "dropped",
                     uc_tune_real(t->noise.dropped, 3), "steal", share_or_null(t->noise.steal),
                     "sibling", share_or_null(t->noise.sibling), "opening",
                     uc_tune_real(t->noise.opening, 3), "self", uc_tune_real(t->noise.self, 3),
                     "half_width", uc_tune_real(t->noise.half_width, 3), "reasons", reasons);
}

static const char *libc_name(char buf[48])
{
    snprintf(buf, 48, "glibc %s", gnu_get_libc_version());
    return buf;
}

static bool optimised(void)
{
#ifdef __OPTIMIZE__
    return true;
#else
    return false;
#endif
}

static json_t *method_json(const struct uc_tune *t)
{
    const struct uc_clock *c = &t->session.clock;
    struct utsname u = {0};
    char libc[48];

    uname(&u);
    return json_pack(
        "{s:i, s:I, s:s, s:s%, s:o, s:s, s:s, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:I, "
        "s:I, s:I, s:o, s:b}",
        "version", 1, "seed", (json_int_t)t->o->seed, "timer", "rdtsc between lfences", "grade",
        &t->grade.letter, (size_t)1, "noise", noise_json(t), "kernel", u.release, "libc",
        libc_name(libc), "microcode", text_or_null(t->session.cpu.microcode), "compiler",
        __VERSION__, "optimised", optimised(), "header_compiler", text_or_null(t->compiler),
        "tsc_hz", uc_tune_real(c->tsc_hz, 6), "core_hz_est", uc_tune_real(c->core_hz, 4),
        "core_hz_lo", uc_tune_real(c->core_lo, 4), "core_hz_hi", uc_tune_real(c->core_hi, 4),
        "branch_ns", uc_tune_real(t->branch_ns, 3), "page_bytes", (json_int_t)sysconf(_SC_PAGESIZE),
        "readings", (json_int_t)t->facts.readings, "dropped", (json_int_t)t->facts.dropped,
        "rounds", rounds_json(&t->facts), "quick", (int)t->o->quick);
}

static json_t *consumers_json(const double *w)
{
    json_t *o = json_object();

    for (int k = 0; k < UC_CONSUMER_COUNT; k++)
        if (w[k] > 0)
            json_object_set_new(o, uc_consumer_name[k], uc_tune_real(w[k], 4));
    return o;
}

static json_t *states_json(const double *w)
{
    json_t *o = json_object();

    for (int s = 0; s < UC_STATE_COUNT; s++)
        if (w[s] > 0)
            json_object_set_new(o, uc_state_name[s], uc_tune_real(w[s], 4));
    return o;
}

static json_t *weights_json(const struct uc_weights *w)
{
    return json_pack(
        "{s:s, s:s, s:{s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o, s:o}}", "name",
        w->name, "sizes",
        w->sizes ? w->sizes->name : "octaves to 64 MiB, within those to 4 KiB by the fleet mix",
        "mix", "fixed", uc_tune_real(w->mix[UC_FIXED], 4), "band", uc_tune_real(w->mix[UC_BAND], 4),
        "consumer_to_4096", consumers_json(w->consumer_small), "consumer_above",
        consumers_json(w->consumer_large), "state_to_quarter_l1", states_json(w->state_small),
        "nocache_src", states_json(w->nocache_src), "page_end", uc_tune_real(w->page_end, 4),
        "equal_distance", uc_tune_real(w->equal_distance, 4), "alignment", "both",
        uc_tune_real(w->both_aligned, 4), "dst_off", uc_tune_real(w->dst_off, 4), "src_off",
        uc_tune_real(w->src_off, 4), "both_off", uc_tune_real(w->both_off, 4));
}

static json_t *gain_json(const struct uc_gain *g)
{
    if (!g->n)
        return json_null();
    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "geomean", uc_tune_real(g->geomean, 4), "worst",
                     uc_tune_real(g->worst, 4), "worst_size", (json_int_t)g->worst_size, "slower",
                     (json_int_t)g->slower, "cells", (json_int_t)g->n);
}

/* libc over generated for one form: fixed sizes to 64 KiB and bands, by consumer. */
static json_t *form_json(const struct uc_tune *t, enum uc_form form)
{
    static const enum uc_consumer consumer[] = {UC_NONE, UC_READ, UC_WAIT, UC_SCAN};
    struct uc_gain all =
        uc_tune_gain(&t->proof, UC_COPY, form, UC_NONE, UC_FIXED, UC_RANDOM, 1, 65536);
    json_t *o = gain_json(&all);

    if (!json_is_object(o))
        return o;
    for (size_t i = 0; i < sizeof(consumer) / sizeof(consumer[0]); i++) {
        struct uc_gain f =
            uc_tune_gain(&t->proof, UC_COPY, form, consumer[i], UC_FIXED, UC_RANDOM, 1, SIZE_MAX);
        struct uc_gain b =
            uc_tune_gain(&t->proof, UC_COPY, form, consumer[i], UC_BAND, UC_RANDOM, 0, SIZE_MAX);
        struct uc_gain l =
            uc_tune_gain(&t->proof, UC_COPY, form, consumer[i], UC_BAND, UC_LEARNED, 0, SIZE_MAX);
        json_object_set_new(o, uc_consumer_name[consumer[i]],
                            json_pack("{s:o, s:o, s:o}", "fixed", gain_json(&f), "band",
                                      gain_json(&b), "learned", gain_json(&l)));
    }
    return o;
}

static json_t *regret_json(const struct uc_regret *r)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "mean", uc_tune_real(r->mean, 3), "worst",
                     uc_tune_real(r->worst, 3), "worst_size", (json_int_t)r->worst_at,
                     "above_10_percent", (json_int_t)r->above_bound, "sizes", (json_int_t)r->sizes);
}

static json_t *validation_json(const struct uc_tune *t)
{
    struct uc_gain nocache =
        uc_tune_gain(&t->proof, UC_NOCACHE, UC_CALLED, UC_EVICT, UC_FIXED, UC_RANDOM, 1, SIZE_MAX);
    char libc[48];

    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "libc", libc_name(libc), "compiler",
                     text_or_null(t->compiler), "regret", regret_json(&t->regret[UC_COPY]),
                     "regret_nocache", regret_json(&t->regret[UC_NOCACHE]), "libc_gain",
                     form_json(t, UC_CALLED), "libc_gain_inlined", form_json(t, UC_INLINE),
                     "libc_gain_nocache", gain_json(&nocache));
}

static int same_name(const char *name, void *wanted)
{
    return !strcmp(name, wanted);
}

static bool is_used(const struct uc_profile *p, char *strategy)
{
    return uc_profile_each_strategy(p, same_name, strategy);
}

static int fill_profile(struct uc_tune *t)
{
    struct uc_profile *p = &t->profile;

    p->complete = true;
    if (t->has_prior && !t->o->prior) /* of this box, and no part of the decision */
        p->syscalls = json_incref(t->prior.syscalls);
    p->method = method_json(t);
    p->weights = weights_json(&t->weights);
    p->validation = validation_json(t);
    for (size_t i = 0; i < t->cells.n; i++) {
        struct uc_cell c = t->cells.v[i];
        /* one consumer and state show it, and a profile stays under 1 MB */
        if (c.consumer != UC_NONE || c.src_state == UC_L2 || c.src_state == UC_MEMORY)
            c.mapping_spread = 0;
        if (!c.mapping_spread || !is_used(p, c.strategy))
            c.code_ratio = 0; /* likewise */
        if (uc_cells_add(&p->cells, &c))
            return -ENOMEM;
    }
    p->cells.unit = t->cells.unit;
    p->cells.has_interval = t->cells.has_interval;
    uc_cells_sort(&p->cells);
    if (!p->method || !p->weights || !p->validation)
        return -ENOMEM;
    struct uc_slope_options so = uc_tune_slope_options(t);
    int rc = uc_profile_set_slopes(p, &so);
    return rc ? rc : uc_profile_hash_strategies(p);
}

static int emit_header(const struct uc_profile *p, char **text, size_t *n)
{
    char why[256] = "";
    FILE *f = open_memstream(text, n);
    int rc = f ? uc_emitter_find("c")->emit(p, f, why, sizeof(why)) : -ENOMEM;

    if (f && fclose(f) && !rc)
        rc = -ENOMEM;
    if (rc)
        uc_error("the header cannot be made: %s", why[0] ? why : strerror(-rc));
    return rc;
}

static int told(const char *path, int rc)
{
    if (rc)
        uc_error("cannot write %s: %s", path, strerror(-rc));
    return rc;
}

/* Both or none: neither is of use beside the other's former self. */
static int write_both(const struct uc_tune *t, const char *json, const char *header, size_t n)
{
    struct uc_staged j, h;
    int rc = told(t->json_path, uc_stage_file(&j, t->json_path, json, strlen(json)));

    if (rc)
        return rc;
    rc = told(t->header_path, uc_stage_file(&h, t->header_path, header, n));
    if (!rc)
        rc = told(t->json_path, uc_replace_file(&j));
    if (!rc)
        rc = told(t->header_path, uc_replace_file(&h));
    uc_drop_file(&j);
    uc_drop_file(&h);
    return rc;
}

int uc_tune_write(struct uc_tune *t)
{
    char *json = NULL, *header = NULL;
    size_t n;
    int rc = fill_profile(t);

    if (rc)
        uc_error("no memory for the profile");
    if (!rc && !t->kept) {
        rc = emit_header(&t->profile, &header, &n);
        json = rc ? NULL : uc_profile_to_json(&t->profile);
        if (!rc && !json) {
            uc_error("no memory for the profile");
            rc = -ENOMEM;
        }
        if (!rc)
            rc = write_both(t, json, header, n);
    }
    if (!rc)
        uc_tune_drop_journals(t);
    free(json);
    free(header);
    t->unwritten = rc;
    return rc ? UC_EXIT_MACHINE : 0;
}
