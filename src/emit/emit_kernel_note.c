/* What a kernel profile says about the choices that the x86-64 kernel makes today, as text for a
 * review. Which choices those are is from the kernel's own changelogs (6.4 and later). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "emit/emit.h"
#include "emit/formats.h"
#include "emit/ways.h"

enum { MOVSB, MOVSQ, UNROLLED, SHORT };

#define CLOSE 1.05 /* what is called the same */

static int way_of(const struct uc_profile *p, const char *strategy)
{
    return !strcmp(strategy, "rep_movsb")    ? MOVSB
           : !strcmp(strategy, "rep_movsq")  ? MOVSQ
           : !strcmp(strategy, "unrolled")   ? UNROLLED
           : !strncmp(strategy, "short_", 6) ? SHORT
                                             : -1;
}

struct note {
    const struct uc_profile *p;
    struct uc_ways w;
    FILE *out;
};

static size_t index_of(const struct note *n, size_t size)
{
    for (size_t i = 0; i < n->w.n; i++)
        if (n->w.size[i] == size)
            return i;
    return SIZE_MAX;
}

static double lowest(const struct note *n, size_t i)
{
    double least = NAN;

    for (int k = 0; k < UC_WAYS; k++)
        least = fmin(least, n->w.cost[k][i]); /* fmin ignores NaN */
    return least;
}

static double ratio(const struct note *n, int way, size_t i)
{
    return n->w.cost[way][i] / lowest(n, i);
}

/* ---- who and how ---- */

static const char *method(const struct note *n, const char *key)
{
    const char *text = json_string_value(json_object_get(n->p->method, key));
    return text ? text : "not told";
}

static void put_cpu(const struct note *n)
{
    const struct uc_cpu *cpu = &n->p->cpu;

    if (!n->p->has_cpu) {
        fputs("not named", n->out);
        return;
    }
    uc_put_plain(cpu->key, n->out);
    fputs(", ", n->out);
    uc_put_plain(cpu->name, n->out);
    if (cpu->hypervisor) {
        fputs(", under ", n->out);
        uc_put_plain(*cpu->hypervisor_name ? cpu->hypervisor_name : "a hypervisor", n->out);
    }
    fprintf(n->out, "; ERMS %s, FSRM %s", cpu->isa & UCOPY_ISA_ERMS ? "yes" : "no",
            cpu->isa & UCOPY_ISA_FSRM ? "yes" : "no");
}

static void put_head(const struct note *n)
{
    static const char *const key[] = {"microcode", "kernel", "grade"}, *const label[] = {
                                                                           "Microcode ",
                                                                           ", kernel ", ", grade "};
    char stem[UC_STEM];

    fputs("What the profile ", n->out);
    uc_put_plain(uc_profile_stem(n->p, stem, sizeof stem), n->out);
    fprintf(n->out, " says about the kernel's own copies (ucopy-tune %s)\n\nCPU: ", UC_VERSION);
    put_cpu(n);
    fputs(".\n", n->out);
    for (int i = 0; i < 3; i++) {
        fputs(label[i], n->out);
        uc_put_plain(method(n, key[i]), n->out);
    }
    if (!n->p->complete)
        fputs(", INCOMPLETE: the run was interrupted", n->out);
    if (n->p->has_cpu && uc_cpu_emulated(&n->p->cpu))
        fputs(", EMULATED: the times say nothing about any CPU", n->out);
    fputs(".\nMeasured in user mode with memcpy's contract: no fault handling, no SMAP, no entry "
          "into the\nkernel, mitigations as user code meets them. The numbers are about speed; any "
          "of these copies\nis correct at any size.\n",
          n->out);
}

/* ---- the table ---- */

static void put_cell(const struct note *n, int way, size_t i)
{
    double x = ratio(n, way, i);

    if (isnan(x))
        fprintf(n->out, "%11s", "-");
    else
        fprintf(n->out, "%11.2f", x);
}

static void put_table(const struct note *n)
{
    static const size_t shown[] = {8,    32,   64,    128,   256,     512,     1024,
                                   2048, 4096, 16384, 65536, 1048576, 16777216};
    char text[UC_SIZE_TEXT];

    fprintf(n->out,
            "\nCost of one size repeated over that of the best of the four, dst used soon (1.00 "
            "is best; -: not\nmeasured, or raced out):\n"
            "  %-10s%11s%11s%11s%11s\n",
            "size", "rep movsb", "rep movsq", "unrolled", "short");
    for (size_t k = 0; k < sizeof(shown) / sizeof(*shown); k++) {
        size_t i = index_of(n, shown[k]);
        if (i == SIZE_MAX)
            continue;
        fprintf(n->out, "  %-10s", uc_size_text(shown[k], text));
        for (int way = 0; way < UC_WAYS; way++)
            put_cell(n, way, i);
        fputc('\n', n->out);
    }
}

/* ---- the kernel's choices ---- */

/* The smallest size at which `rep movsb` is as good as the best, and all from there on in the mean;
 * SIZE_MAX: none. */
static size_t good_from(const struct note *n)
{
    size_t from = SIZE_MAX;
    double sum = 0;
    int sizes = 0;

    for (size_t i = n->w.n; i-- > 0;) {
        double x = ratio(n, MOVSB, i);
        if (isnan(x))
            continue;
        sum += log(x);
        sizes++;
        if (x <= CLOSE && sum / sizes <= log(CLOSE))
            from = n->w.size[i];
    }
    return from;
}

static size_t worst(const struct note *n, int way, size_t from, size_t to)
{
    size_t at = SIZE_MAX;

    for (size_t i = 0; i < n->w.n; i++)
        if (n->w.size[i] >= from && n->w.size[i] <= to && !isnan(ratio(n, way, i)) &&
            (at == SIZE_MAX || ratio(n, way, i) > ratio(n, way, at)))
            at = i;
    return at;
}

static void put_movsb(const struct note *n)
{
    size_t from = good_from(n), at;
    char text[UC_SIZE_TEXT], worst_at[UC_SIZE_TEXT];

    fputs(
        "\n1. `rep movsb` at every size where the CPU has FSRM (memcpy, and user copies inline).\n",
        n->out);
    if (!(n->p->has_cpu && n->p->cpu.isa & UCOPY_ISA_FSRM))
        fputs("   This CPU does not claim FSRM: the choice is not made here.\n", n->out);
    if (from == SIZE_MAX)
        fputs("   It is nowhere within 5 % of the best in the mean of all larger sizes.\n", n->out);
    else
        fprintf(
            n->out,
            "   From %s on it is within 5 %% of the best in the mean, %.2f times at worst (at %s).\n",
            uc_size_text(from, text), ratio(n, MOVSB, worst(n, MOVSB, from, SIZE_MAX)),
            uc_size_text(n->w.size[worst(n, MOVSB, from, SIZE_MAX)], worst_at));
    at = worst(n, MOVSB, 0, 64);
    if (at != SIZE_MAX)
        fprintf(n->out, "   To 64 bytes it costs up to %.2f times the best (at %zu)",
                ratio(n, MOVSB, at), n->w.size[at]);
    at = worst(n, MOVSB, 65, 4096);
    if (at != SIZE_MAX)
        fprintf(n->out, "; from there to a page up to %.2f times (at %s)", ratio(n, MOVSB, at),
                uc_size_text(n->w.size[at], text));
    fputs(".\n", n->out);
}

static void put_limit(const struct note *n)
{
    size_t i = index_of(n, 64), k = index_of(n, 72);

    fputs("\n2. Without FSRM: moves of 8 bytes to 64, string instructions above (user copies).\n",
          n->out);
    if (i != SIZE_MAX && !isnan(ratio(n, UNROLLED, i)) && !isnan(ratio(n, MOVSB, i)))
        fprintf(n->out, "   At 64 the unrolled moves cost %.2f times what `rep movsb` does",
                n->w.cost[UNROLLED][i] / n->w.cost[MOVSB][i]);
    else
        fputs("   At 64 the two were not measured side by side", n->out);
    if (k != SIZE_MAX && !isnan(ratio(n, UNROLLED, k)) && !isnan(ratio(n, MOVSB, k)))
        fprintf(n->out, ", at 72 %.2f times", n->w.cost[UNROLLED][k] / n->w.cost[MOVSB][k]);
    fputs(".\n", n->out);
    /* the largest size up to which the unrolled moves never lose to `rep movsb` */
    size_t to = 0;
    for (size_t m = 0; m < n->w.n; m++) {
        double x = n->w.cost[UNROLLED][m] / n->w.cost[MOVSB][m];
        if (n->w.size[m] < 64 || isnan(x))
            continue;
        if (x > 1)
            break;
        to = n->w.size[m];
    }
    char text[UC_SIZE_TEXT];
    if (to)
        fprintf(
            n->out,
            "   From 64 on the unrolled moves are no slower up to %s: that is the limit for this CPU.\n",
            uc_size_text(to, text));
    else
        fputs("   `rep movsb` is the faster one from 64 on: the limit of 64 is not too low here.\n",
              n->out);
}

static void put_page(const struct note *n)
{
    size_t i = index_of(n, 4096);

    fputs("\n3. Whole pages by `rep movsq` (copy_page, with REP_GOOD).\n", n->out);
    if (i == SIZE_MAX || isnan(ratio(n, MOVSQ, i))) {
        fputs("   `rep movsq` was not measured at 4096, or was raced out before.\n", n->out);
        return;
    }
    fprintf(n->out, "   At 4096 it costs %.2f times the best of the four%s.\n", ratio(n, MOVSQ, i),
            ratio(n, MOVSQ, i) <= CLOSE ? ": the choice stands" : "");
    fputs("   That is over placements as they are drawn; pages are aligned, which favours it.\n",
          n->out);
}

static void put_nocache(const struct note *n)
{
    const struct uc_profile_entry *e = &n->p->entry[UC_NOCACHE];
    char text[UC_SIZE_TEXT];

    fputs("\n4. Stores past the caches (movnti) at every size where the caller asks for them.\n",
          n->out);
    if (!e->present) {
        fputs("   The profile says nothing about it.\n", n->out);
        return;
    }
    for (size_t i = 0; i < e->ladder.n; i++)
        if (!strcmp(e->ladder.segment[i].strategy, "movnti")) {
            if (i)
                fprintf(n->out,
                        "   They pay above %s; below, %s costs less even where the warm set "
                        "is read again.\n",
                        uc_size_text(e->ladder.segment[i - 1].max, text),
                        e->ladder.segment[i - 1].strategy);
            else
                fputs("   They pay at every size: the choice stands.\n", n->out);
            return;
        }
    fputs("   They pay nowhere that was measured.\n", n->out);
}

static void put_barred(const struct note *n)
{
    const struct uc_profile_entry *e = &n->p->entry[UC_COPY];
    char from[UC_SIZE_TEXT], to[UC_SIZE_TEXT];
    bool any = false;

    for (size_t i = 0; i < e->barred_n; i++) {
        const struct uc_barred *b = &e->barred[i];
        if (way_of(n->p, b->strategy) < 0 || way_of(n->p, b->strategy) == SHORT)
            continue;
        if (!any)
            fputs("\nWorst placements (a mean hides them):\n", n->out);
        any = true;
        fprintf(n->out, "  %s, %s to %s: ", b->strategy, uc_size_text(b->from, from),
                uc_size_text(b->to, to));
        uc_put_plain(b->why, n->out);
        fputc('\n', n->out);
    }
}

static void put_rest(const struct note *n)
{
    fputs("\nIt says nothing about copies whose size the compiler knows, about clearing, about "
          "what patching a\ncall site costs, or about another CPU.\n",
          n->out);
}

int uc_emit_kernel_note(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    struct note n = {.p = p, .out = out};

    if (p->environment != UCOPY_KERNEL) {
        snprintf(why, why_cap,
                 "a user profile chose with vector registers, which the kernel's copies may not "
                 "touch: give the kernel profile");
        return -ENOTSUP;
    }
    int rc = uc_ways_read(p, way_of, 0, true, &n.w, why, why_cap);
    if (rc)
        return rc;
    put_head(&n);
    put_table(&n);
    put_movsb(&n);
    put_limit(&n);
    put_page(&n);
    put_nocache(&n);
    put_barred(&n);
    put_rest(&n);
    uc_ways_free(&n.w);
    return 0;
}
