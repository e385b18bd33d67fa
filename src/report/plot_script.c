#include "report/plot_script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* Pixels of a panel; a third of it is for the key and the axes. */
#define WIDE 760
#define HIGH 560
/* Costs over this are cut off, as on the page at first: what is three times the cheapest is no
 * choice, and the differences that decide are of some per cent. */
#define TOP 3.0
#define ZERO_AT 0.5 /* where an axis of powers shows size 0 */

/* The palette of Okabe and Ito, which the colour-blind can tell apart, without its yellow, which
 * white paper swallows; dashes and points tell the curves apart beside it. */
static const char *const colour[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#000000", "#e69f00", "#56b4e9"};
enum { COLOURS = 7, POINTS = 7, DASHES = 5 };

/* A quoted text of gnuplot's, in which nothing but its own quote has a meaning. gnuplot 5.4
 * misreads a doubled quote that comes first, so a quote is joined on as a text of its own. What is
 * no printable character would end the line. */
static void put_text(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("' . \"'\" . '", out);
        else
            fputc((unsigned char)*text < ' ' || *text == 0x7F ? '?' : *text, out);
    fputc('\'', out);
}

static double x_of(size_t size)
{
    return size ? (double)size : ZERO_AT;
}

static bool is_shown(const struct uc_curve *c)
{
    return c->chosen || c->runner_up || c->role == UCOPY_BASELINE;
}

/* ---- one look a strategy in all panels ---- */

struct looks {
    const char **name;
    size_t n;
};

static size_t look_of(struct looks *l, const char *name)
{
    size_t i = 0;

    while (i < l->n && strcmp(l->name[i], name) != 0)
        i++;
    if (i == l->n && l->name)
        l->name[l->n++] = name;
    return i;
}

static void put_look(size_t look, FILE *out)
{
    fprintf(out, " lc rgb '%s' dt %zu lw 2 pt %zu ps 0.8 pi 8", colour[look % COLOURS],
            look / COLOURS % DASHES + 1, look % POINTS + 4);
}

/* ---- axes ---- */

struct bounds {
    double x_min, x_max, y_min, y_max;
};

static struct bounds bounds_of(const struct uc_plot_panel *panel, size_t n)
{
    struct bounds b = {HUGE_VAL, 2, 1, 1.1};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < panel[i].curves->n; k++) {
            const struct uc_curve *c = &panel[i].curves->v[k];
            for (size_t j = 0; is_shown(c) && j < c->n; j++) {
                b.x_min = fmin(b.x_min, x_of(c->point[j].size));
                b.x_max = fmax(b.x_max, x_of(c->point[j].size));
                b.y_min = fmin(b.y_min, c->point[j].cost);
                b.y_max = fmax(b.y_max, c->point[j].cost);
            }
        }
    b.x_min = fmin(b.x_min, b.x_max / 2);
    b.y_min *= .9; /* room for the ranges */
    b.y_max = fmin(b.y_max * 1.03, TOP);
    return b;
}

static void put_size_tics(const struct bounds *b, FILE *out)
{
    char text[UC_SIZE_TEXT];

    fprintf(out, "set xtics (");
    if (b->x_min < 1)
        fprintf(out, "'0' %g, ", ZERO_AT);
    for (double x = 4; x <= b->x_max; x *= 8) /* one a letter's width apart */
        fprintf(out, "%s'%s' %.0f", x > 4 ? ", " : "", uc_size_text((size_t)x, text), x);
    fputs(")\n", out);
}

static void put_axes(const struct bounds *b, FILE *out)
{
    fprintf(out,
            "set logscale x 2\nset logscale y\nset xrange [%g:%.0f]\nset yrange [%g:%g]\n"
            "set ytics (0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 2, 2.5, 3)\nset grid lc rgb '#dddddd'\n"
            "set key below noenhanced font ',10'\nset xlabel 'bytes a copy' offset 0,0.4\n",
            b->x_min, b->x_max, b->y_min, b->y_max);
    fprintf(out, "set ylabel 'cost, times the cheapest (cut at %g)'\n", TOP);
    put_size_tics(b, out);
}

/* ---- ranges and curves ---- */

/* The chosen ranges as bands along the bottom of the panel, each with its name where it has room
 * (octaves; a letter takes about a third of one). */
static void put_ranges(const struct uc_plot_panel *p, const struct bounds *b, struct looks *l,
                       FILE *out)
{
    double from = b->x_min;

    fputs("unset object\nunset label\n", out);
    for (size_t i = 0; i < p->ladder->n; i++) {
        const struct uc_segment *s = &p->ladder->segment[i];
        double to = s->max == SIZE_MAX ? b->x_max : fmin(x_of(s->max), b->x_max);
        if (to <= from)
            continue;
        fprintf(out,
                "set object rectangle from %g, graph 0 to %g, graph 0.05 fc rgb '%s' fs solid 0.8 "
                "noborder front\n",
                from, to, colour[look_of(l, s->strategy) % COLOURS]);
        if (log2(to / from) > .33 * (double)strlen(s->strategy)) {
            fputs("set label ", out);
            put_text(s->strategy, out);
            fprintf(out, " at %g, graph 0.025 center noenhanced front font ',9' tc rgb '%s'\n",
                    sqrt(from * to), look_of(l, s->strategy) % COLOURS > 4 ? "#000000" : "#ffffff");
        }
        from = to;
    }
}

static void put_data(const struct uc_curve *c, size_t k, FILE *out)
{
    fprintf(out, "$c%zu << EOD\n", k);
    for (const struct uc_point *p = c->point; p < c->point + c->n; p++)
        fprintf(out, "%g %.6g %.6g %.6g\n", x_of(p->size), p->cost, isnan(p->lo) ? p->cost : p->lo,
                isnan(p->hi) ? p->cost : p->hi);
    fputs("EOD\n", out);
}

static void put_curves(const struct uc_plot_panel *p, struct looks *l, FILE *out)
{
    const char *comma = "plot";

    for (size_t k = 0; k < p->curves->n; k++)
        if (is_shown(&p->curves->v[k]))
            put_data(&p->curves->v[k], k, out);
    for (size_t k = 0; k < p->curves->n; k++) {
        const struct uc_curve *c = &p->curves->v[k];
        if (!is_shown(c))
            continue;
        size_t look = look_of(l, c->strategy);
        fprintf(out,
                "%s $c%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.15 "
                "notitle, $c%zu using 1:2 with linespoints",
                comma, k, colour[look % COLOURS], k);
        put_look(look, out);
        fputs(" title ", out);
        put_text(c->strategy, out);
        comma = ",";
    }
    /* a panel without curves still shows its ranges */
    fprintf(out, "%s 1/0 notitle\n", comma);
}

static void put_panel(const struct uc_plot_panel *p, const struct bounds *b, struct looks *l,
                      FILE *out)
{
    fputs("set title ", out);
    put_text(p->title, out);
    fputs(" . \"\\n\" . ", out);
    put_text("by the weights ", out);
    fputs(" . ", out);
    put_text(p->weights, out);
    if (!p->curves->n)
        fputs(" . '; the profile has no cells of it'", out);
    fputs(" noenhanced\n", out);
    put_ranges(p, b, l, out);
    put_curves(p, l, out);
}

void uc_plot_script(const struct uc_plot_panel *panel, size_t n, size_t columns, bool svg,
                    FILE *out)
{
    struct bounds b = bounds_of(panel, n);
    struct looks l = {0};
    size_t most = 0, rows = (n + columns - 1) / columns;

    for (size_t i = 0; i < n; i++)
        most += panel[i].curves->n + panel[i].ladder->n;
    l.name = calloc(most + 1, sizeof(*l.name));
    fprintf(out, "set encoding utf8\nset terminal %s size %zu,%zu noenhanced font 'sans,12'%s\n",
            svg ? "svg" : "pngcairo", columns * WIDE, rows * HIGH + 60,
            svg ? " background '#ffffff'" : " background rgb '#ffffff'");
    fprintf(out,
            "set multiplot layout %zu,%zu title 'ucopy-tune " UC_VERSION
            ": cost over the lowest of each cell; shaded: 95 %% interval; below: what was chosen' "
            "noenhanced\n",
            rows, columns);
    put_axes(&b, out);
    for (size_t i = 0; i < n; i++)
        put_panel(&panel[i], &b, &l, out);
    fputs("unset multiplot\n", out);
    free(l.name);
}
