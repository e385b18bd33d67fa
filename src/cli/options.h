/* Options that several commands share, as an argp child: strict parsing, one clear line, exit 2. */
#ifndef UC_CLI_OPTIONS_H
#define UC_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/cells.h"

struct uc_options {
    const char *output_dir;  /* -o; "." */
    const char *profile_dir; /* --profile-dir; NULL */
    int core;                /* --core; -1: choose */
    unsigned environment;    /* --environment; UCOPY_USER */
    int consumer;            /* --consumer; -1: by the weights */
    const char *sizes_from;  /* --sizes-from; NULL */
    uint64_t seed;           /* --seed; 1 */
    double budget;           /* --budget, seconds; 0: the default */
    bool quick, strict, resume, renew;
    const char *prior;      /* --prior; NULL */
    uint32_t disabled_isa;  /* --disable-isa, with the variable UCOPY_DISABLE_ISA */
    const char *format;     /* --format; NULL: the command's own default */
    const char *cpuid_file; /* --cpuid */
    const char *key;        /* --key */
    unsigned max_segments;  /* --max-segments; 6 */
};

/* Groups, so that a command shows only what it honours: */
enum {
    UC_OPT_RUN = 1,      /* --core --seed --budget --quick --disable-isa */
    UC_OPT_OUTPUT = 2,   /* -o --profile-dir --resume --prior --renew --strict */
    UC_OPT_CHOICE = 4,   /* --environment --consumer --sizes-from --max-segments */
    UC_OPT_MIX = 64,     /* --consumer --sizes-from, of CHOICE */
    UC_OPT_FORMAT = 8,   /* --format */
    UC_OPT_CPUID = 16,   /* --cpuid --key */
    UC_OPT_STRICT = 128, /* --strict alone (UC_OPT_OUTPUT has it too) */
    UC_OPT_ISA = 32,     /* --disable-isa alone (UC_OPT_RUN has it too) */
};

/* One line on stderr that names the option (or argument) and the value refused; returns EINVAL,
 * which is what a command's own argp parser returns to stop. (argp_error() and argp_usage() print
 * several lines and are silent here.) */
int uc_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The index of value among names, or -1 after one line that lists the known ones. */
int uc_option_word(const char *option, const char *value, const char *const *names, int count);

/* Parses the shared options of the groups (and -q, -v, --help, --version for all) together with
 * the command's own options and positional arguments. own may be NULL; its children are not looked
 * at, and its doc should end in an example. Sets every field to its default first. The variable
 * UCOPY_DISABLE_ISA counts for the groups that have --disable-isa. --help and --version stop the
 * parsing where they stand. Handles usage errors itself: returns 0 to go on, or the exit code plus
 * 1 to stop with (1: done after --help, 3: usage error). */
int uc_options_parse(struct uc_options *o, unsigned groups, const struct argp *own, void *own_state,
                     int argc, char **argv);

#endif
