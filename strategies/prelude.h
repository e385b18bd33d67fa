/* What every strategy's text relies on. A leaf is always inlined and has no target attribute: its
 * called form, a noinline function, carries the attribute of the instruction sets it needs. */
typedef __SIZE_TYPE__ ucopy_size;
#define UCOPY_LEAF static __inline__ __attribute__((always_inline, unused))
