/* SHA-256 as FIPS 180-4 describes it; the names of variables are those of its section 6.2.2. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

#include "base/core.h"

static const uint32_t constants[SHA256_BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, int bits) {
    return word >> bits | word << (32 - bits);
}

static uint32_t read_big_endian(const unsigned char *data) {
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static void extend_schedule(uint32_t w[SHA256_BLOCK], const unsigned char *data) {
    for (int t = 0; t < 16; t++)
        w[t] = read_big_endian(data + 4 * t);
    for (int t = 16; t < SHA256_BLOCK; t++) {
        const uint32_t low = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t high = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = high + w[t - 7] + low + w[t - 16];
    }
}

static void add_block(uint32_t state[8], const unsigned char *data) {
    uint32_t w[SHA256_BLOCK], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
                              h = state[7];
    extend_schedule(w, data);
    for (int t = 0; t < SHA256_BLOCK; t++) {
        const uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t];
        const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const uint32_t sum[] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < LENGTH(sum); i++)
        state[i] += sum[i];
}

struct sha256 begin_sha256(void) {
    return (struct sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void add_sha256(struct sha256 *sum, const void *data, size_t bytes) {
    const unsigned char *next = data;
    while (bytes > 0) {
        const size_t offset = sum->bytes % SHA256_BLOCK, room = SHA256_BLOCK - offset, part = bytes < room ? bytes : room;
        memcpy(sum->block + offset, next, part);
        sum->bytes += part;
        next += part;
        bytes -= part;
        if (part == room)
            add_block(sum->state, sum->block);
    }
}

void end_sha256(struct sha256 *sum, char text[SHA256_TEXT]) {
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    const uint64_t bits = 8 * sum->bytes;
    unsigned char length[8];
    for (int i = 0; i < LENGTH(length); i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    const size_t offset = sum->bytes % SHA256_BLOCK;
    add_sha256(sum, padding, offset < 56 ? 56 - offset : 120 - offset);
    add_sha256(sum, length, sizeof length);
    for (int i = 0; i < LENGTH(sum->state); i++)
        snprintf(text + 8 * i, 9, "%08x", sum->state[i]);
}
