/* Heap memory. No other file calls the allocator. */
#ifndef RANKBENCH_ALLOCATION_H
#define RANKBENCH_ALLOCATION_H

#include <stddef.h>

/* Zeroed. If allocation fails, the launch ends with one line that names the rank and the bytes. */
void *obtain_memory(size_t bytes) __attribute__((malloc, returns_nonnull));
/* The same for memory that grows; the new part is not zeroed. */
void *extend_memory(void *memory, size_t bytes) __attribute__((returns_nonnull));
/* Zeroed; NULL if allocation fails, which the caller must handle. */
void *try_memory(size_t bytes) __attribute__((malloc, warn_unused_result));
/* The same, not zeroed, at a multiple of `alignment`; `bytes` must be a multiple of it, too. */
void *try_aligned_memory(size_t alignment, size_t bytes) __attribute__((malloc, warn_unused_result));

#endif
