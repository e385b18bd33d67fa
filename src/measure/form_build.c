#include "measure/form_build.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/forms.h"
#include "measure/symbols.h"

/* forms.h again, as text. */
extern const char uc_forms_text[];
__asm__(".pushsection .rodata\n"
        ".globl uc_forms_text\n"
        "uc_forms_text: .incbin \"" UC_FORMS_PATH "\"\n"
        ".byte 0\n"
        ".popsection");

/* The compiler's parts of a function (cold blocks, clones) are called <function>.<something>. */
static bool is_function(const char *symbol, const char *function)
{
    size_t n = strlen(function);
    return !strncmp(symbol, function, n) && (!symbol[n] || symbol[n] == '.');
}

struct sum {
    const char *function;
    long bytes;
};

static void add_function(void *ctx, const char *name, size_t bytes)
{
    struct sum *s = ctx;
    s->bytes += is_function(name, s->function) ? (long)bytes : 0;
}

static long bytes_of(const struct uc_object *o, const char *prefix, const char *id)
{
    char function[160];
    struct sum s = {function, 0};

    snprintf(function, sizeof(function), "%s%s", prefix, id);
    uc_symbols_functions(o->image, o->bytes, add_function, &s);
    return s.bytes;
}

/* A header's strategies are functions of its own, <header>_<strategy>_called; those of the entry
 * that is not used are not in the object. */
static void add_strategy(void *ctx, const char *name, size_t bytes)
{
    struct sum *s = ctx;
    size_t n = strlen(s->function), whole = strcspn(name, ".");
    const char *end = "_called", *ladder = "_copy_called";

    if (strncmp(name, s->function, n) != 0 || whole < n + strlen(end) ||
        strncmp(name + whole - strlen(end), end, strlen(end)) != 0)
        return;
    if (whole == n + strlen(ladder) && !strncmp(name + n, ladder, strlen(ladder)))
        return;
    s->bytes += (long)bytes;
}

/* Of a form: what its site takes over a function without one. */
static long site_bytes(const struct uc_object *o, enum uc_form form, const char *id)
{
    static const char *const prefix[] = {[UC_CALLED] = "uc_site_called_",
                                         [UC_INLINE] = "uc_site_inlined_",
                                         [UC_CHECKED] = "uc_site_checked_"};
    return bytes_of(o, prefix[form], id) - bytes_of(o, "uc_site_none", "");
}

static const struct uc_form_loops *loops_of(const struct uc_forms *f, enum uc_form form)
{
    return form == UC_CALLED ? &f->called : form == UC_INLINE ? &f->inlined : &f->checked;
}

/* The three subjects of uc_forms_<id>. */
static int find_forms(const struct uc_object *o, const char *id, const char *name,
                      struct uc_subject out[UC_FORM_COUNT])
{
    char symbol[96];

    snprintf(symbol, sizeof(symbol), "uc_forms_%s", id);
    const struct uc_forms *f = dlsym(o->handle, symbol);
    if (!f)
        return -EINVAL;
    for (int i = 0; i < UC_FORM_COUNT; i++) {
        enum uc_form form = (enum uc_form)i;
        const struct uc_form_loops *loops = loops_of(f, form);
        out[i] = uc_subject_function(name, f->copy);
        out[i].form = form;
        out[i].loops = &loops->warm;
        out[i].cold = &loops->cold;
        out[i].code.site = site_bytes(o, form, id);
    }
    return 0;
}

static void put_forms(FILE *out, const char *id, const char *attribute, const char *function)
{
    fprintf(out, "#define COPY_%s(d, s, n) %s(d, s, n)\nUC_DEFINE_FORMS(%s, %s, COPY_%s)\n", id,
            function, id, attribute, id);
}

static void put_start(FILE *out)
{
    fprintf(out, "%s\n#define UC_FORMS_CODE\n%s\n", uc_loops_text, uc_forms_text);
}

/* text is out's memory, known once out is closed. */
static int build(char *const *text, FILE *out, bool native, struct uc_object *object, char *why,
                 size_t why_cap)
{
    int rc = fclose(out) ? -ENOMEM : uc_build_object(*text, native, object, why, why_cap);
    free(*text);
    return rc;
}

/* Each part in front of the first strategy that needs it. */
static void put_parts(FILE *out, const struct ucopy_strategy *s, char *seen, size_t seen_cap)
{
    char list[256], *save;

    snprintf(list, sizeof(list), "%s", s->includes);
    for (char *part = strtok_r(list, " ", &save); part; part = strtok_r(NULL, " ", &save)) {
        char mark[64];
        snprintf(mark, sizeof(mark), " %s ", part);
        if (strstr(seen, mark) || strlen(seen) + strlen(mark) >= seen_cap)
            continue;
        strcat(seen, mark);
        fprintf(out, "%s\n", ucopy_part_text(part));
    }
}

/* As its called form in the tuner (strategies/registry.c): below AVX-512 without an attribute. */
static const char *attribute_of(const struct ucopy_strategy *s)
{
    return s->isa & UCOPY_ISA_AVX512BW
               ? "__attribute__((target(\"avx512f,avx512vl,avx512bw,avx512dq,bmi2\")))"
               : "";
}

int uc_build_strategy_forms(const struct ucopy_strategy *const *strategy, size_t n,
                            struct uc_subject *out, struct uc_object *object, char *why,
                            size_t why_cap)
{
    char *text = NULL, seen[2048] = "";
    size_t len;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return -ENOMEM;
    put_start(f);
    fprintf(f, "%s\n", ucopy_part_text("prelude"));
    for (size_t i = 0; i < n; i++) {
        char function[96];
        snprintf(function, sizeof(function), "ucopy_%s", strategy[i]->name);
        put_parts(f, strategy[i], seen, sizeof(seen));
        fprintf(f, "%s\n", strategy[i]->text);
        put_forms(f, strategy[i]->name, attribute_of(strategy[i]), function);
    }
    int rc = build(&text, f, false, object, why, why_cap);
    for (size_t i = 0; i < n && !rc; i++) {
        const struct ucopy_strategy *s = strategy[i];
        struct uc_subject *u = &out[UC_FORM_COUNT * i];
        rc = find_forms(object, s->name, s->name, u);
        for (int k = 0; k < UC_FORM_COUNT && !rc; k++) {
            /* inlined, all of it is at the site; a dispatch holds its own moves */
            long once = u[k].form == UC_INLINE ? 0 : bytes_of(object, "uc_called_", s->name);
            u[k].dispatch = s->flags & UCOPY_DISPATCH;
            u[k].min = s->min;
            u[k].max = s->max;
            *(u[k].dispatch ? &u[k].code.dispatch : &u[k].code.strategy) = once;
        }
    }
    return rc;
}

int uc_build_header_forms(const char *header, const char *function, const char *name, bool native,
                          struct uc_subject out[UC_FORM_COUNT], struct uc_object *object, char *why,
                          size_t why_cap)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    struct sum strategies = {function, 0};

    if (!f)
        return -ENOMEM;
    fprintf(f, "%s\n", header);
    put_start(f);
    put_forms(f, "header", "", function);
    int rc = build(&text, f, native, object, why, why_cap);
    if (!rc)
        rc = find_forms(object, "header", name, out);
    if (!rc)
        uc_symbols_functions(object->image, object->bytes, add_strategy, &strategies);
    for (int k = 0; k < UC_FORM_COUNT && !rc; k++) {
        long apart = out[k].form == UC_INLINE ? 0 : bytes_of(object, "uc_called_", "header");
        out[k].code.dispatch = apart + bytes_of(object, function, "_copy_called");
        out[k].code.strategy = strategies.bytes;
    }
    return rc;
}
