/* What is to be measured: the size grid and, at each size, the places (state, consumer, mix) that
 * the weights name. Counting before crossing: placements are drawn inside batches, worst distances
 * and page ends are probes of their own at a few sizes, read, wait and bands only in l1. */
#ifndef UC_MEASURE_PLAN_H
#define UC_MEASURE_PLAN_H

#include "measure/weights.h"
#include "machine/caches.h"
#include "measure/cells.h"

/* Groups are measured in turn, each with a share of the budget and its own count of rounds. */
enum uc_group { UC_SMALL, UC_BANDS, UC_MIDDLE, UC_LARGE, UC_EVICTS, UC_PROBES, UC_GROUPS };
extern const char *const uc_group_name[UC_GROUPS];

struct uc_plan {
    struct uc_cell *place; /* strategy "" */
    enum uc_group *group;
    size_t n, cap;
    size_t *size; /* the grid, ascending */
    size_t sizes;
};

struct uc_plan_options {
    const struct uc_caches *caches;
    const struct uc_weights *weights;
    size_t top;   /* largest size */
    bool quick;   /* a coarser grid */
    bool nocache; /* the nocache entry too */
};

/* 0 to 64, steps of 8 to 256, then a geometric grid to top (8 an octave to 4 KiB, 4 to 64 KiB, 2 to
 * 16 MiB, 1 above). 0 or -ENOMEM. */
int uc_plan_make(struct uc_plan *p, const struct uc_plan_options *o);
/* One more place. 0 or -ENOMEM. */
int uc_plan_add(struct uc_plan *p, const struct uc_cell *place, enum uc_group group);
/* The places of one size alone, of one entry; and those of the bands (of the copy entry) that end
 * at one of uc_band_end. 0 or -ENOMEM. */
int uc_plan_add_size(struct uc_plan *p, const struct uc_plan_options *o, enum uc_entry entry,
                     size_t n);
int uc_plan_add_band(struct uc_plan *p, const struct uc_plan_options *o, size_t band);
void uc_plan_free(struct uc_plan *p);

/* The upper ends of the bands. */
extern const size_t uc_band_end[];
extern const size_t uc_band_count;

#endif
