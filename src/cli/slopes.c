#include "cli/slopes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* "32 KiB", or "unknown". */
static const char *cache_text(size_t bytes, char buf[UC_SIZE_TEXT])
{
    return bytes ? uc_size_text(bytes, buf) : "unknown";
}

static void print_caches(const struct uc_slopes *s)
{
    char l1[UC_SIZE_TEXT], l2[UC_SIZE_TEXT], l3[UC_SIZE_TEXT];

    printf("L1 %s, L2 %s, L3 %s", cache_text(s->o.l1d, l1), cache_text(s->o.l2, l2),
           cache_text(s->o.l3, l3));
}

static const char *interval(const struct uc_estimate *e, double times, char buf[32])
{
    snprintf(buf, 32, "%.4g to %.4g", e->lo * times, e->hi * times);
    return buf;
}

static const char *gb_text(const struct uc_slopes *s, const struct uc_slope *x, char buf[16])
{
    double v = s->unit == UC_NS ? uc_slope_gb_s(x->byte.mid) : NAN;

    if (isnan(v))
        return "-";
    snprintf(buf, 16, "%.*f", v < 10 ? 2 : 1, v);
    return buf;
}

static void print_line(const struct uc_slopes *s, const char *name, int region,
                       const struct uc_slope *x)
{
    char start[32], kib[32], gb[16], from[UC_SIZE_TEXT], to[UC_SIZE_TEXT];

    printf("%-26s %-7s %9.4g  %-20s %9.4g  %-20s %8s %7.1f %%  %zu from %s to %s\n", name,
           uc_region_name[region], x->start.mid, interval(&x->start, 1, start), 1024 * x->byte.mid,
           interval(&x->byte, 1024, kib), gb_text(s, x, gb), 100 * x->off, x->sizes,
           uc_size_text(x->from, from), uc_size_text(x->to, to));
}

/* The regions that nothing can be said of, in one line. */
static void print_rest(const struct uc_slopes_row *row, const char *name)
{
    const char *sep = "";

    printf("%-26s ", name);
    for (int r = 0; r < UC_REGIONS; r++)
        if (!row->region[r].measured) {
            printf("%s%s", sep, uc_region_name[r]);
            sep = ", ";
        }
    printf(": not measured (fewer than %d sizes)\n", UC_SLOPE_SIZES);
}

static void print_strategy(const struct uc_slopes *s, const struct uc_slopes_row *row)
{
    const char *name = row->strategy;
    int measured = 0;

    for (int r = 0; r < UC_REGIONS; r++)
        if (row->region[r].measured) {
            print_line(s, name, r, &row->region[r]);
            name = "";
            measured++;
        }
    if (measured < UC_REGIONS)
        print_rest(row, name);
}

void uc_slopes_print(const struct uc_slopes *s)
{
    const char *unit = uc_unit_name[s->unit];

    printf("start-up and slope in %s: cost = start-up + slope x size; dst not read, one size "
           "repeated\n# ",
           unit);
    print_caches(s);
    puts("; l1: to half of L1; l2: L1 to half of L2; l3: L2 to half of L3; memory: above L3\n"
         "# off by: what half of the sizes miss the line by less than");
    printf("%-26s %-7s %9s  %-20s %9s  %-20s %8s %9s  %s\n", "strategy", "region", "start-up",
           "95 % interval", "a KiB", "95 % interval", "GB/s", "off by", "sizes");
    for (size_t i = 0; i < s->n; i++)
        print_strategy(s, &s->v[i]);
}

/* "12.3 ns", "1.2 us", "<0.4 us": three digits; below its upper end where 0 cannot be told from it.
 */
static void start_text(const struct uc_estimate *e, char *buf, size_t cap)
{
    bool below = e->lo <= 0 && e->hi > 0;
    double v = below ? e->hi : e->mid;
    const char *unit = fabs(v) < 999.5 ? "ns" : fabs(v) < 999500 ? "us" : "ms";
    double u = *unit == 'n' ? v : *unit == 'u' ? v / 1e3 : v / 1e6;

    snprintf(buf, cap, "%s%.*f %s", below ? "<" : "",
             fabs(u) < 9.995   ? 2
             : fabs(u) < 99.95 ? 1
                               : 0,
             u, unit);
}

static void brief(const struct uc_slopes *s, const struct uc_slope *x, char *buf, size_t cap)
{
    char start[32], gb[16];

    if (!x->measured) {
        snprintf(buf, cap, "not measured");
        return;
    }
    start_text(&x->start, start, sizeof(start));
    snprintf(buf, cap, "%s, %s", start, x->byte.lo > 0 ? gb_text(s, x, gb) : "-");
}

void uc_slopes_print_brief(const struct uc_slopes *s, const struct uc_slopes_row *row)
{
    char cell[UC_REGIONS][64];

    if (!row) {
        fputs("\nStart-up cost and GB/s, dst not read, one size repeated; ", stdout);
        print_caches(s);
        printf("\n  %-26s %-17s %-17s %-17s %s\n", "strategy", "l1", "l2", "l3", "memory");
        return;
    }
    for (int r = 0; r < UC_REGIONS; r++)
        brief(s, &row->region[r], cell[r], sizeof(cell[r]));
    printf("  %-26s %-17s %-17s %-17s %s\n", row->strategy, cell[0], cell[1], cell[2], cell[3]);
}
