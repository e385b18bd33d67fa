/* `ucopy-tune list`: every strategy, and why one is unusable here. */
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "machine/cpu.h"
#include "strategies/registry.h"

enum { INDENT = 4 };

struct view {
    uint32_t usable;   /* CPUID and the OS, less what is disabled */
    uint32_t by_os;    /* CPUID and the OS */
    uint32_t by_cpuid; /* CPUID alone */
};

static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {UCOPY_STREAMING, "streaming"}, {UCOPY_DISPATCH, "dispatch"}, {UCOPY_LIBC, "libc"},
    {UCOPY_MASKED, "masked"},       {UCOPY_LOADS, "loads"},       {UCOPY_STORES, "stores"},
};

enum { FLAGS = sizeof(flag_names) / sizeof(flag_names[0]) };

/* The first reason in the order in which people can do something about it; "" where usable. */
static const char *why_not(const struct ucopy_strategy *s, const struct view *v, char *buf,
                           size_t cap)
{
    uint32_t lacking = s->isa & ~v->usable;
    char names[128];

    buf[0] = 0;
    if (s->isa & ~v->by_cpuid)
        snprintf(buf, cap, "no %s by CPUID",
                 ucopy_isa_text(s->isa & ~v->by_cpuid, names, sizeof(names)));
    else if (s->isa & ~v->by_os)
        snprintf(buf, cap, "%s not enabled by the OS",
                 ucopy_isa_text(s->isa & ~v->by_os, names, sizeof(names)));
    else if (lacking)
        snprintf(buf, cap, "%s disabled by --disable-isa or UCOPY_DISABLE_ISA",
                 ucopy_isa_text(lacking, names, sizeof(names)));
    return buf;
}

static const char *environments_text(uint32_t environments)
{
    if (environments == UCOPY_BOTH)
        return "user kernel";
    return environments == UCOPY_KERNEL ? "kernel" : "user";
}

static const char *sizes_text(const struct ucopy_strategy *s, char *buf, size_t cap)
{
    if (s->max == UCOPY_NO_LIMIT)
        snprintf(buf, cap, s->min ? "%zu and up" : "any", s->min);
    else
        snprintf(buf, cap, "%zu to %zu", s->min, s->max);
    return buf;
}

/* ---- text ---- */

enum { COLUMNS = 6, CELL = 96 };

struct row {
    char cell[COLUMNS][CELL];
};

static const struct row head = {{"name", "role", "needs", "environments", "sizes", "usable"}};

static void fill_row(struct row *r, const struct ucopy_strategy *s, const struct view *v)
{
    snprintf(r->cell[0], CELL, "%s", s->name);
    snprintf(r->cell[1], CELL, "%s", ucopy_role_name[s->role]);
    snprintf(r->cell[2], CELL, "-");
    if (s->isa)
        ucopy_isa_text(s->isa, r->cell[2], CELL);
    snprintf(r->cell[3], CELL, "%s", environments_text(s->environments));
    sizes_text(s, r->cell[4], CELL);
    snprintf(r->cell[5], CELL, "%s", s->isa & ~v->usable ? "no" : "yes");
}

static void widen(int width[COLUMNS], const struct row *r)
{
    for (int i = 0; i < COLUMNS; i++)
        if ((int)strlen(r->cell[i]) > width[i])
            width[i] = (int)strlen(r->cell[i]);
}

static void print_row(const int width[COLUMNS], const struct row *r)
{
    for (int i = 0; i < COLUMNS - 1; i++)
        printf("%-*s  ", width[i], r->cell[i]);
    puts(r->cell[COLUMNS - 1]);
}

static void print_details(const struct ucopy_strategy *s, const struct view *v)
{
    char why[256];

    printf("%*s%s\n", INDENT, "", s->description);
    if (*why_not(s, v, why, sizeof(why)))
        printf("%*snot usable here: %s\n", INDENT, "", why);
}

static int print_text(const struct view *v)
{
    int width[COLUMNS] = {0};
    size_t usable = 0;
    struct row r;

    widen(width, &head);
    for (size_t i = 0; i < ucopy_strategy_count; i++) {
        fill_row(&r, &ucopy_strategies[i], v);
        widen(width, &r);
    }
    uc_print_version();
    print_row(width, &head);
    for (size_t i = 0; i < ucopy_strategy_count; i++) {
        fill_row(&r, &ucopy_strategies[i], v);
        print_row(width, &r);
        print_details(&ucopy_strategies[i], v);
        usable += !(ucopy_strategies[i].isa & ~v->usable);
    }
    printf("%zu strategies, %zu usable here\n", ucopy_strategy_count, usable);
    return UC_EXIT_OK;
}

/* ---- JSON ---- */

static json_t *environments_json(uint32_t environments)
{
    json_t *list = json_array();

    if (environments & UCOPY_USER)
        json_array_append_new(list, json_string("user"));
    if (environments & UCOPY_KERNEL)
        json_array_append_new(list, json_string("kernel"));
    return list;
}

static json_t *flags_json(uint32_t flags)
{
    json_t *list = json_array();

    for (size_t i = 0; i < FLAGS; i++)
        if (flags & flag_names[i].flag)
            json_array_append_new(list, json_string(flag_names[i].name));
    return list;
}

static json_t *one_json(const struct ucopy_strategy *s, const struct view *v)
{
    char why[256];

    why_not(s, v, why, sizeof(why));
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:o, s:o, s:b, s:s?, s:s}", "name", s->name, "role",
                     ucopy_role_name[s->role], "needs", uc_json_isa(s->isa), "environments",
                     environments_json(s->environments), "min", (json_int_t)s->min, "max",
                     s->max == UCOPY_NO_LIMIT ? json_null() : json_integer((json_int_t)s->max),
                     "flags", flags_json(s->flags), "usable", !*why, "why_not", *why ? why : NULL,
                     "description", s->description);
}

static int print_json(const struct view *v)
{
    json_t *list = json_array();
    int rc = !list;

    for (size_t i = 0; i < ucopy_strategy_count; i++)
        rc |= json_array_append_new(list, one_json(&ucopy_strategies[i], v));
    if (rc) {
        json_decref(list);
        return uc_print_json(NULL);
    }
    return uc_print_json(json_pack("{s:s, s:o, s:o}", "tool", UC_TOOL, "isa",
                                   uc_json_isa(v->usable), "strategies", list));
}

static const struct {
    const char *name;
    int (*print)(const struct view *v);
} formats[] = {{"text", print_text}, {"json", print_json}};

static const char *const format_names[] = {"text", "json"};

static int look(struct view *v, uint32_t disabled)
{
    struct uc_cpu cpu;
    int rc = uc_cpu_identify(&cpu);

    if (rc) {
        uc_error("list: cannot identify the CPU: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    v->by_cpuid = cpu.isa_cpuid;
    v->by_os = cpu.isa;
    v->usable = cpu.isa & ~disabled;
    return UC_EXIT_OK;
}

static int list(int argc, char **argv)
{
    static const struct argp own = {
        .doc =
            "Every strategy: its role, the instruction sets it needs, where and for which sizes it "
            "serves, whether it is usable on this CPU or why not, and how it moves the bytes."
            "\v"
            "Example: ucopy-tune list --disable-isa avx512",
    };
    struct uc_options o;
    struct view v;
    int format = 0;
    int rc = uc_options_parse(&o, UC_OPT_FORMAT | UC_OPT_ISA, &own, NULL, argc, argv);

    if (rc)
        return rc - 1;
    if (o.format)
        format = uc_option_word("--format", o.format, format_names, 2);
    if (format < 0)
        return UC_EXIT_USAGE;
    rc = look(&v, o.disabled_isa);
    return rc ? rc : formats[format].print(&v);
}

const struct uc_command uc_command_list = {
    .name = "list",
    .summary = "every strategy: usable here or why not",
    .run = list,
};
