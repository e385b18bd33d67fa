/* Renaming by tokens: never inside a longer identifier, a number or a literal. */
#include <ctype.h>
#include <string.h>

#include "emit/header.h"

enum place { CODE, COMMENT, LINE_COMMENT };

static bool starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (is_name(s[n]))
        n++;
    return n;
}

/* Length of the literal that begins with a quote; to the end of the text where it is not closed. */
static size_t literal_length(const char *s)
{
    size_t n = 1;

    while (s[n] && s[n] != s[0])
        n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    return s[n] ? n + 1 : n;
}

/* One token: a name or number, a literal (in code), a comment mark or one character. */
static size_t token_length(const char *s, enum place *place)
{
    if (is_name(*s))
        return name_length(s);
    if (*place == CODE && (*s == '"' || *s == '\''))
        return literal_length(s);
    if (*place == CODE && (starts(s, "/*") || starts(s, "//"))) {
        *place = s[1] == '*' ? COMMENT : LINE_COMMENT;
        return 2;
    }
    if ((*place == COMMENT && starts(s, "*/")) || (*place == LINE_COMMENT && *s == '\n')) {
        size_t n = *place == COMMENT ? 2 : 1;
        *place = CODE;
        return n;
    }
    return 1;
}

static bool is_shared(const char *s, size_t n)
{
    static const char *const shared[] = {"UCOPY_FALLBACK", "UCOPY_NO_ASM"};

    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strlen(shared[i]) == n && !strncmp(s, shared[i], n))
            return true;
    return false;
}

static void put_renamed(const char *name, size_t n, const char *prefix, FILE *out)
{
    bool capitals = *name == 'U';

    for (const char *c = prefix; *c; c++)
        fputc(capitals ? toupper((unsigned char)*c) : *c, out);
    if (n > strlen("ucopy_"))
        fprintf(out, "_%.*s", (int)(n - strlen("ucopy_")), name + strlen("ucopy_"));
}

void uc_rename(const char *text, const char *prefix, FILE *out)
{
    enum place place = CODE;
    size_t n;

    for (; *text; text += n) {
        n = token_length(text, &place);
        if ((starts(text, "ucopy_") || starts(text, "UCOPY_")) && !is_shared(text, n))
            put_renamed(text, n, prefix, out);
        else
            fwrite(text, 1, n, out);
    }
}

bool uc_text_has_name(const char *text, const char *word)
{
    enum place place = CODE;
    size_t n, ours = strlen("ucopy_"), length = strlen(word);

    for (; *text; text += n) {
        n = token_length(text, &place);
        if (place == CODE && !strncasecmp(text, "ucopy_", ours) && n >= ours + length &&
            !strncasecmp(text + ours, word, length) &&
            (n == ours + length || text[ours + length] == '_'))
            return true;
    }
    return false;
}
