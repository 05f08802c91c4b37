// SPDX-License-Identifier: Apache-2.0
/*
 * An allocator to preload, as jemalloc and others are. What it gives out does not look like the C library's blocks: where
 * these have their length, and their flags, it has zeros.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

struct header {
    size_t size;
    void *block;
    size_t zeros[2];
};

static struct header *header_of(void *pointer)
{
    return (struct header *)pointer - 1;
}

static void *aligned(size_t alignment, size_t size)
{
    uintptr_t start;
    void *block;

    if (alignment < sizeof(struct header)) {
        alignment = sizeof(struct header);
    }
    if (size > PTRDIFF_MAX - alignment - sizeof(struct header) ||
        (block = __libc_malloc(sizeof(struct header) + alignment + size)) == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    start = ((uintptr_t)block + sizeof(struct header) + alignment - 1) & ~(alignment - 1);
    *header_of((void *)start) = (struct header){.size = size, .block = block};
    return (void *)start;
}

void *malloc(size_t size)
{
    return aligned(1, size);
}

void free(void *pointer)
{
    if (pointer != NULL) {
        __libc_free(header_of(pointer)->block);
    }
}

void *calloc(size_t count, size_t size)
{
    size_t total;
    void *pointer;

    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    pointer = aligned(1, total);
    return pointer == NULL ? NULL : memset(pointer, 0, total);
}

void *realloc(void *pointer, size_t size)
{
    void *moved = aligned(1, size);

    if (moved != NULL && pointer != NULL) {
        size_t old = header_of(pointer)->size;
        memcpy(moved, pointer, old < size ? old : size);
        free(pointer);
    }
    return moved;
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    void *allocated = aligned(alignment, size);

    if (allocated == NULL) {
        return ENOMEM;
    }
    *pointer = allocated;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned(alignment, size);
}

void *valloc(size_t size)
{
    return aligned(4096, size);
}

size_t malloc_usable_size(void *pointer)
{
    return pointer == NULL ? 0 : header_of(pointer)->size;
}
