/* Made-up profiles for the tests of merged headers, in the test's folder: user/<key>.json and
 * kernel/<key>-kernel.json, and the headers all.h and kernel.h of them. No such CPU was measured.
 */
#ifndef TESTS_MERGE_BOXES_H
#define TESTS_MERGE_BOXES_H

#include "tests/made_up.h"
#include "tests/pick_dumps.h"
#include "tests/program.h"

#define MERGE "\"$UCOPY_TUNE\" merge "

static const struct box {
    const char *key, *kind, *vendor;
    unsigned family, model, isa;
    const char *dispatch, *loop, *stream;
} boxes[] = {
    {"amd-17-01", "", "AuthenticAMD", 0x17, 0x01, AVX2, "short_half_avx2_256", "avx2_loop_x4",
     "avx2_stream_x4"},
    {"amd-1a-02", "", "AuthenticAMD", 0x1a, 0x02, AVX512, "short_half_avx512_512", "avx512_loop_x4",
     "avx512_stream_x4"},
    {"intel-06-1a", "", "GenuineIntel", 6, 0x1a, SSE2, "short_half_sse2_256", "sse2_loop_x4",
     "sse2_stream_x4"},
    {"intel-06-3c", "", "GenuineIntel", 6, 0x3c, AVX2, "short_tree_avx2_256", "avx2_loop_x8",
     "avx2_stream_x4_prefetch"},
    {"intel-06-97-e", "e", "GenuineIntel", 6, 0x97, AVX2, "short_tree_sse2_256", "avx2_loop_x4",
     "avx2_stream_x4"},
    {"intel-06-97-p", "p", "GenuineIntel", 6, 0x97, AVX512, "short_tree_avx512_512",
     "avx512_loop_x2", "avx512_stream_x4"},
};

static inline struct uc_profile *box(const struct box *b, unsigned environment)
{
    struct uc_profile *p = made_up_profile(environment, "");
    bool user = environment == UCOPY_USER;

    snprintf(p->cpu.key, sizeof(p->cpu.key), "%s", b->key);
    snprintf(p->cpu.vendor, sizeof(p->cpu.vendor), "%s", b->vendor);
    snprintf(p->cpu.core_kind, sizeof(p->cpu.core_kind), "%s", b->kind);
    p->cpu.family = b->family;
    p->cpu.model = b->model;
    p->cpu.isa = b->isa;
    made_up_segment(p, UC_COPY, 256, user ? b->dispatch : "unrolled");
    made_up_segment(p, UC_COPY, SIZE_MAX, user ? b->loop : "rep_movsb");
    made_up_segment(p, UC_NOCACHE, 256, "rep_movsb");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, user ? b->stream : "movnti");
    snprintf(p->entry[UC_COPY].inline_baseline.strategy, UC_NAME, "%s",
             user ? "short_tree_sse2_64" : "short_tree_gpr_64");
    p->entry[UC_COPY].inline_baseline.max = 64;
    return p;
}

static inline void write_text(const char *name, const char *text)
{
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
}

static inline void write_profile(struct uc_profile *p, const char *name)
{
    char *text = uc_profile_to_json(p);

    assert_non_null(text);
    write_text(name, text);
    free(text);
    made_up_free(p);
}

static inline int make_boxes(void **state)
{
    char name[80];

    if (make_dir(state))
        return -1;
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        snprintf(name, sizeof(name), "%s.json", boxes[i].key);
        write_profile(box(&boxes[i], UCOPY_USER), name);
        snprintf(name, sizeof(name), "%s-kernel.json", boxes[i].key);
        write_profile(box(&boxes[i], UCOPY_KERNEL), name);
    }
    return sh("mkdir user kernel && mv *-kernel.json kernel && mv *.json user && " MERGE
              "user/*.json -o all.h && " MERGE "kernel/*.json -o kernel.h");
}

#endif
