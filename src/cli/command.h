/* One file a command, ending in one const struct; one row in command.c. Options are parsed with
 * argp. */
#ifndef UC_CLI_COMMAND_H
#define UC_CLI_COMMAND_H

#include <stddef.h>

/* Exit codes (DESIGN.md, "Exit codes"). */
enum {
    UC_EXIT_OK = 0,
    UC_EXIT_NO = 1,      /* ran, and the answer is no */
    UC_EXIT_USAGE = 2,   /* wrong usage or unreadable input */
    UC_EXIT_MACHINE = 3, /* this machine cannot do it */
};

struct uc_command {
    const char *name;
    const char *summary;               /* one line for `ucopy-tune --help` */
    int (*run)(int argc, char **argv); /* argv[0] is "ucopy-tune <name>"; returns the exit code */
};

extern const struct uc_command uc_command_tune, uc_command_list, uc_command_info, uc_command_bench,
    uc_command_fit, uc_command_stats, uc_command_verify, uc_command_compare, uc_command_merge,
    uc_command_emit, uc_command_syscalls, uc_command_report, uc_command_plot;

/* A whole text to stdout, past stdio, which forgets why a large write failed. The exit code, the
 * reason said. */
int uc_print(const char *text, size_t len);

/* The same to a file; path NULL or "-": stdout. */
int uc_write_output(const char *path, const char *text, size_t len);

/* `ucopy-tune [command] ...`: finds the command (tune where none is named) and runs it. Returns the
 * exit code. Changes argv. */
int uc_main(int argc, char **argv);

#endif
