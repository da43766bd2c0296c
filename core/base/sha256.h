/* SHA-256 (FIPS 180-4), so that `sha256sum` confirms what is stored. */
#ifndef RANKBENCH_SHA256_H
#define RANKBENCH_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_TEXT = 65 };

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[SHA256_BLOCK];
};

struct sha256 begin_sha256(void);
void add_sha256(struct sha256 *sum, const void *data, size_t bytes);
/* Writes the digest as hexadecimal digits. */
void end_sha256(struct sha256 *sum, char text[SHA256_TEXT]);

#endif
