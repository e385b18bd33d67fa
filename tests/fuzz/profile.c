/* Profiles as JSON: what is read is written as the same text twice, and every emitter expresses it
 * or says why not. */
#include "tests/fuzz/fuzz.h"

#include "emit/emit.h"
#include "profile/profile.h"

static void emit(const struct uc_profile *p, const struct uc_emitter *e)
{
    char *text = NULL, why[256] = "";
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    int rc = e->emit(p, out, why, sizeof(why));

    fclose(out);
    must(rc ? !n && why[0] : n > 0, "an emitter that did neither");
    free(text);
}

static void write_and_read_again(const struct uc_profile *p)
{
    char *text = uc_profile_to_json(p), *same, why[512];
    struct uc_profile again;

    must(text != NULL, "a profile that was read cannot be written");
    must(!uc_profile_read(as_file(1, text, strlen(text)), &again, why, sizeof(why)),
         "a profile that was written cannot be read");
    must(!again.digest_differs, "a profile was written with another's digest");
    same = uc_profile_to_json(&again);
    must(same && !strcmp(text, same), "a profile changed in writing");
    uc_profile_free(&again);
    free(same);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct uc_profile p;
    char why[512];

    if (uc_profile_read(as_file(0, data, n), &p, why, sizeof(why))) {
        must(why[0], "refused without a word");
        return 0;
    }
    for (const struct uc_emitter *e = uc_emitters; e->name; e++)
        emit(&p, e);
    write_and_read_again(&p);
    uc_profile_free(&p);
    return 0;
}
