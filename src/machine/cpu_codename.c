/* libcpuid takes the best match of its table even where nothing matches well: version 0.6.2 calls a
 * Zen 5 guest "Abu Dhabi" (2012) and a Ryzen 9950X "Turion" (2008). So its answer counts only where
 * this list has the same name for vendor, family and model; a CPU that is not listed has none.
 * Models are those of the vendors' own lists: Intel SDM vol. 4, table 2-1, and AMD's processor
 * programming references by family and model range. */
#include "machine/cpu_parts.h"

#include <string.h>

#define ANY 15

struct name_row {
    unsigned family, model;
    unsigned step_lo, step_hi; /* steppings, inclusive: one model number can be several dies */
    const char *name;
};

static const struct name_row intel[] = {
    {0x06, 0x1A, 0, ANY, "Bloomfield"},     {0x06, 0x1A, 0, ANY, "Gainestown"},
    {0x06, 0x1E, 0, ANY, "Lynnfield"},      {0x06, 0x25, 0, ANY, "Clarkdale"},
    {0x06, 0x25, 0, ANY, "Arrandale"},      {0x06, 0x2C, 0, ANY, "Westmere"},
    {0x06, 0x2C, 0, ANY, "Gulftown"},       {0x06, 0x2A, 0, ANY, "Sandy Bridge"},
    {0x06, 0x2D, 0, ANY, "Sandy Bridge-E"}, {0x06, 0x3A, 0, ANY, "Ivy Bridge"},
    {0x06, 0x3E, 0, ANY, "Ivy Bridge-E"},   {0x06, 0x3C, 0, ANY, "Haswell"},
    {0x06, 0x45, 0, ANY, "Haswell"},        {0x06, 0x46, 0, ANY, "Haswell"},
    {0x06, 0x3F, 0, ANY, "Haswell-E"},      {0x06, 0x3D, 0, ANY, "Broadwell"},
    {0x06, 0x47, 0, ANY, "Broadwell"},      {0x06, 0x4F, 0, ANY, "Broadwell-E"},
    {0x06, 0x4E, 0, ANY, "Skylake"},        {0x06, 0x5E, 0, ANY, "Skylake"},
    {0x06, 0x55, 0, 4, "Skylake"},          {0x06, 0x55, 5, 7, "Cascade Lake"},
    {0x06, 0x55, 10, 11, "Cooper Lake"},    {0x06, 0x8E, 9, 9, "Kaby Lake"},
    {0x06, 0x9E, 9, 9, "Kaby Lake"},        {0x06, 0x9E, 10, 13, "Coffee Lake"},
    {0x06, 0xA5, 0, ANY, "Comet Lake"},     {0x06, 0xA6, 0, ANY, "Comet Lake"},
    {0x06, 0x66, 0, ANY, "Cannon Lake"},    {0x06, 0x6A, 0, ANY, "Ice Lake"},
    {0x06, 0x6C, 0, ANY, "Ice Lake"},       {0x06, 0x7D, 0, ANY, "Ice Lake"},
    {0x06, 0x7E, 0, ANY, "Ice Lake"},       {0x06, 0xA7, 0, ANY, "Rocket Lake"},
    {0x06, 0x8C, 0, ANY, "Tiger Lake"},     {0x06, 0x8D, 0, ANY, "Tiger Lake"},
    {0x06, 0x97, 0, ANY, "Alder Lake"},     {0x06, 0x9A, 0, ANY, "Alder Lake"},
    {0x06, 0xBE, 0, ANY, "Alder Lake-N"},   {0x06, 0xB7, 0, ANY, "Raptor Lake"},
    {0x06, 0xBA, 0, ANY, "Raptor Lake"},    {0x06, 0x8F, 0, ANY, "Sapphire Rapids"},
    {0x06, 0xCF, 0, ANY, "Emerald Rapids"}, {0x06, 0xAD, 0, ANY, "Granite Rapids"},
    {0x06, 0xAE, 0, ANY, "Granite Rapids"}, {0x06, 0xAF, 0, ANY, "Sierra Forest"},
    {0x06, 0xAA, 0, ANY, "Meteor Lake"},    {0x06, 0xC5, 0, ANY, "Arrow Lake"},
    {0x06, 0xC6, 0, ANY, "Arrow Lake"},     {0x06, 0xBD, 0, ANY, "Lunar Lake"},
    {0x06, 0x7A, 0, ANY, "Gemini Lake"},    {0x06, 0x96, 0, ANY, "Elkhart Lake"},
    {0x06, 0x9C, 0, ANY, "Jasper Lake"},    {0x06, 0x8A, 0, ANY, "Lakefield"},
};

static const struct name_row amd[] = {
    {0x15, 0x01, 0, ANY, "Zambezi"},       {0x15, 0x01, 0, ANY, "Interlagos"},
    {0x15, 0x02, 0, ANY, "Vishera"},       {0x15, 0x02, 0, ANY, "Abu Dhabi"},
    {0x17, 0x01, 0, ANY, "Summit Ridge"},  {0x17, 0x01, 0, ANY, "Naples"},
    {0x17, 0x01, 0, ANY, "Whitehaven"},    {0x17, 0x08, 0, ANY, "Pinnacle Ridge"},
    {0x17, 0x08, 0, ANY, "Colfax"},        {0x17, 0x11, 0, ANY, "Raven Ridge"},
    {0x17, 0x18, 0, ANY, "Picasso"},       {0x17, 0x20, 0, ANY, "Dali"},
    {0x17, 0x31, 0, ANY, "Rome"},          {0x17, 0x31, 0, ANY, "Castle Peak"},
    {0x17, 0x60, 0, ANY, "Renoir"},        {0x17, 0x68, 0, ANY, "Lucienne"},
    {0x17, 0x71, 0, ANY, "Matisse"},       {0x17, 0x90, 0, ANY, "Van Gogh"},
    {0x17, 0xA0, 0, ANY, "Mendocino"},     {0x19, 0x01, 0, ANY, "Milan"},
    {0x19, 0x08, 0, ANY, "Chagall"},       {0x19, 0x11, 0, ANY, "Genoa"},
    {0x19, 0x18, 0, ANY, "Storm Peak"},    {0x19, 0x21, 0, ANY, "Vermeer"},
    {0x19, 0x44, 0, ANY, "Rembrandt"},     {0x19, 0x50, 0, ANY, "Cezanne"},
    {0x19, 0x61, 0, ANY, "Raphael"},       {0x19, 0x61, 0, ANY, "Dragon Range"},
    {0x19, 0x74, 0, ANY, "Phoenix"},       {0x19, 0x75, 0, ANY, "Hawk Point"},
    {0x19, 0xA0, 0, ANY, "Bergamo"},       {0x1A, 0x02, 0, ANY, "Turin"},
    {0x1A, 0x11, 0, ANY, "Turin Dense"},   {0x1A, 0x24, 0, ANY, "Strix Point"},
    {0x1A, 0x44, 0, ANY, "Granite Ridge"}, {0x1A, 0x60, 0, ANY, "Krackan Point"},
    {0x1A, 0x70, 0, ANY, "Strix Halo"},
};

static const struct name_row hygon[] = {
    {0x18, 0x00, 0, ANY, "Dhyana"},
};

#define ROWS(table) table, sizeof(table) / sizeof(table[0])

static const struct {
    const char *vendor;
    const struct name_row *rows;
    size_t n;
} vendors[] = {
    {"GenuineIntel", ROWS(intel)},
    {"AuthenticAMD", ROWS(amd)},
    {"HygonGenuine", ROWS(hygon)},
};

/* Words of a codename that name the product. Where the brand string lacks one, libcpuid guessed. */
static const char *const product_words[] = {
    "EPYC", "Ryzen", "Threadripper", "Athlon", "Opteron", "Xeon", "Celeron", "Pentium",
    "Atom", "i3",    "i5",           "i7",     "i9",      "Core", "Ultra",
};

static bool products_agree(const char *codename, const char *brand)
{
    for (size_t i = 0; i < sizeof(product_words) / sizeof(product_words[0]); i++)
        if (strstr(codename, product_words[i]) && !strstr(brand, product_words[i]))
            return false;
    return true;
}

/* "Haswell" is in "Haswell (Core i7)" and in "Haswell-E", which is another die. Other suffixes name
 * a package of the same one ("Alder Lake-S", "Skylake-X"). */
static bool names(const char *codename, const char *name)
{
    const char *at = strstr(codename, name);

    if (!at)
        return false;
    at += strlen(name);
    return strncmp(at, "-E", 2) && !strchr("abcdefghijklmnopqrstuvwxyz", *at ? *at : ' ');
}

static bool row_fits(const struct name_row *r, const struct uc_cpu *c, const char *codename)
{
    return r->family == c->family && r->model == c->model && c->stepping >= r->step_lo &&
           c->stepping <= r->step_hi && names(codename, r->name);
}

bool uc_codename_fits(const char *codename, const struct uc_cpu *cpu)
{
    if (!products_agree(codename, cpu->name))
        return false;
    for (size_t v = 0; v < sizeof(vendors) / sizeof(vendors[0]); v++) {
        if (strcmp(vendors[v].vendor, cpu->vendor))
            continue;
        for (size_t i = 0; i < vendors[v].n; i++)
            if (row_fits(&vendors[v].rows[i], cpu, codename))
                return true;
    }
    return false;
}
