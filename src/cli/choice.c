#include "cli/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"

static int read_sizes(const char *path, struct uc_sizes *s)
{
    unsigned line;
    const char *why;
    int rc = uc_sizes_read(path, s, &line, &why);

    if (!rc)
        return 0;
    if (rc == -EINVAL && line)
        uc_error("%s:%u: %s", path, line, why);
    else
        uc_error("%s: %s", path, rc == -EINVAL ? why : strerror(-rc));
    return rc == -ENOMEM ? UC_EXIT_MACHINE : UC_EXIT_USAGE;
}

int uc_choice_weights(const struct uc_options *o, struct uc_weights *w, struct uc_sizes *sizes)
{
    *w = uc_weights_default;
    memset(sizes, 0, sizeof(*sizes));
    if (o->consumer >= 0 && uc_weights_consumer(w, (enum uc_consumer)o->consumer)) {
        uc_error("--consumer evict: that is what the entry nocache is chosen by; give none, read, "
                 "wait or scan");
        return UC_EXIT_USAGE;
    }
    if (!o->sizes_from)
        return 0;
    int rc = read_sizes(o->sizes_from, sizes);
    w->sizes = rc ? NULL : sizes;
    return rc;
}

struct uc_fit_strategy *uc_choice_strategies(unsigned environment, size_t *n)
{
    struct uc_fit_strategy *v = calloc(ucopy_strategy_count + 1, sizeof(*v));

    *n = 0;
    if (!v)
        return NULL;
    for (size_t i = 0; i < ucopy_strategy_count; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        bool barred = s->role == UCOPY_CANDIDATE && !(s->environments & environment);
        v[(*n)++] = (struct uc_fit_strategy){
            .name = s->name,
            .min = s->min,
            .max = s->max,
            .rank = s->rank,
            .dispatch = s->flags & UCOPY_DISPATCH,
            .streaming = s->flags & UCOPY_STREAMING,
            .role = barred ? UCOPY_REFERENCE : s->role,
        };
    }
    return v;
}
