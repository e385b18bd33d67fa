/* The template, its style and its scripts are files of their own beside this one, built into the
 * program. Data and scripts stand in <script> elements, which end at the first "</script": in JSON
 * "<" is spelled \u003c, and in the library's text, where the words can only stand in a string,
 * "<\/script" says the same. The page's own policy forbids all requests. */
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_parts.h"

int uc_page_chart_valid(const char *text)
{
    const char *name = strstr(text, "Chart.js v3.");
    return name && name - text < 200;
}

static void put_title(const char *text, FILE *out)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static void put_script(const char *text, FILE *out)
{
    for (const char *at; (at = strcasestr(text, "</script")); text = at + 2) {
        fwrite(text, 1, (size_t)(at - text), out);
        fputs("<\\/", out);
    }
    fputs(text, out);
}

static int put_json(const json_t *data, FILE *out)
{
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(10));

    if (!text)
        return -ENOMEM;
    for (const char *p = text; *p; p++)
        if (*p == '<')
            fputs("\\u003c", out);
        else
            fputc(*p, out);
    free(text);
    return 0;
}

/* What stands at a mark of the template. */
static int put_part(const char *mark, const char *title, const json_t *data, const char *chart,
                    FILE *out)
{
    if (!strncmp(mark, "@TITLE@", 7))
        put_title(title, out);
    else if (!strncmp(mark, "@STYLE@", 7))
        fputs(page_css, out);
    else if (!strncmp(mark, "@CHART@", 7))
        put_script(chart, out);
    else if (!strncmp(mark, "@CODE@", 6))
        fprintf(out, "%s%s%s%s", page_data_js, page_charts_js, page_tables_js, page_js);
    else
        return put_json(data, out);
    return 0;
}

int uc_page_write(const char *title, json_t *data, const char *chart, FILE *out)
{
    const char *text = page_html;
    int rc = 0;

    for (const char *at; !rc && (at = strchr(text, '@')); text = strchr(at + 1, '@') + 1) {
        fwrite(text, 1, (size_t)(at - text), out);
        rc = put_part(at, title, data, chart, out);
    }
    fputs(text, out);
    return rc;
}
