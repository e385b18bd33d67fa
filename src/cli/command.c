#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/msg.h"

static const struct uc_command *const commands[] = {
    &uc_command_tune,  &uc_command_list,  &uc_command_info,     &uc_command_bench,
    &uc_command_fit,   &uc_command_stats, &uc_command_verify,   &uc_command_compare,
    &uc_command_merge, &uc_command_emit,  &uc_command_syscalls, &uc_command_report,
    &uc_command_plot,
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct uc_command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    char known[256];
    size_t used = 0;

    known[0] = 0;
    for (size_t i = 0; i < COMMANDS && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 commands[i]->name);
    uc_error("unknown command '%s' (known: %s)", name, known);
    return UC_EXIT_USAGE;
}

static int help(void)
{
    puts("Usage: ucopy-tune [COMMAND] [OPTION...]\n"
         "How should this CPU copy n bytes? Measures it and writes the answer as a C header.\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    puts("\nWithout a command: tune. Options of a command: ucopy-tune COMMAND --help.\n"
         "\n"
         "Examples:\n"
         "  ucopy-tune                       tune this box; header and profile in this folder\n"
         "  ucopy-tune tune --quick -o out   a rough answer, written into out/\n"
         "  ucopy-tune list                  every way to copy, and which are usable here\n"
         "\n"
         "Exit codes: 0 done; 1 ran, and the answer is no; 2 wrong usage or unreadable input;\n"
         "3 this machine cannot do it; 130 and 143 interrupted.");
    return UC_EXIT_OK;
}

int uc_print(const char *text, size_t len)
{
    int rc = fflush(stdout) ? -errno : uc_write_fd(STDOUT_FILENO, text, len);

    if (!rc)
        return UC_EXIT_OK;
    if (!ferror(stdout)) /* else main() looks at it */
        uc_error("cannot write to stdout: %s", strerror(-rc));
    return UC_EXIT_MACHINE;
}

int uc_write_output(const char *path, const char *text, size_t len)
{
    if (!path || !strcmp(path, "-"))
        return uc_print(text, len);
    int rc = uc_write_file(path, text, len);
    if (rc)
        uc_error("%s: cannot write: %s", path, strerror(-rc));
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

static int run(const struct uc_command *c, int argc, char **argv)
{
    char name[64];

    snprintf(name, sizeof(name), "ucopy-tune %s", c->name);
    argv[0] = name;
    return c->run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
    const struct uc_command *c;

    if (argc < 2 || argv[1][0] == '-')
        return run(&uc_command_tune, argc, argv);
    c = find(argv[1]);
    if (!c)
        return unknown(argv[1]);
    return run(c, argc - 1, argv + 1);
}

int uc_main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "--help"))
        return help();
    if (argc < 1)
        return UC_EXIT_USAGE;
    return dispatch(argc, argv);
}
