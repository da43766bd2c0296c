/* Calls at a steady rate between work: in turns by the names that a recorder takes and by those that it leaves alone.
 *
 * Arguments: the operation, how many pairs of turns, calls of a turn, and between two calls the cache lines that are read
 * and the bytes that these are spread over. For each pair rank 0 prints nanoseconds a call, recorded and not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

struct program {
    long lines;
    size_t bytes, at;
    volatile char *data;
    int rank, ranks;
    double value, sum;
};

static void work(struct program *program) {
    for (long i = 0; i < program->lines; i++) {
        program->data[program->at]++;
        program->at = (program->at + LINE) % program->bytes;
    }
}

#define CALLS(name, prefix) \
    static void name##_sum(struct program *program) { \
        prefix##MPI_Allreduce(&program->value, &program->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); \
    } \
    static void name##_ring(struct program *program) { \
        const int up = (program->rank + 1) % program->ranks, down = (program->rank + program->ranks - 1) % program->ranks; \
        prefix##MPI_Sendrecv(&program->value, 1, MPI_DOUBLE, up, 0, &program->sum, 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, \
                             MPI_STATUS_IGNORE); \
    } \
    static void name##_requests(struct program *program) { \
        const int up = (program->rank + 1) % program->ranks, down = (program->rank + program->ranks - 1) % program->ranks; \
        MPI_Request both[2]; \
        prefix##MPI_Irecv(&program->sum, 1, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &both[0]); \
        prefix##MPI_Isend(&program->value, 1, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &both[1]); \
        prefix##MPI_Waitall(2, both, MPI_STATUSES_IGNORE); \
    }
CALLS(recorded, )
CALLS(direct, P)

typedef void step(struct program *);
static const struct {
    const char *name;
    step *steps[2];
    int calls;
} operations[] = {{"sum", {recorded_sum, direct_sum}, 1},
                  {"ring", {recorded_ring, direct_ring}, 1},
                  {"requests", {recorded_requests, direct_requests}, 3}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static double time_turn(struct program *program, step *call, long calls) {
    const double began = PMPI_Wtime();
    for (long i = 0; i < calls; i++) {
        work(program);
        call(program);
    }
    return (PMPI_Wtime() - began) / (double)calls * 1e9;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int operation = 0;
    while (operation < OPERATIONS && (argc < 6 || strcmp(argv[1], operations[operation].name) != 0))
        operation++;
    if (operation == OPERATIONS)
        return 1;
    const long pairs = atol(argv[2]), calls = atol(argv[3]);
    struct program program = {.lines = atol(argv[4]), .bytes = (size_t)atol(argv[5]), .value = 1};
    program.data = calloc(program.bytes, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &program.ranks);
    for (long pair = 0; pair < pairs; pair++) {
        double took[2];
        for (int turn = 0; turn < 2; turn++) {
            const int which = (turn + (int)pair) % 2;
            took[which] = time_turn(&program, operations[operation].steps[which], calls) / operations[operation].calls;
        }
        if (program.rank == 0)
            printf("%.2f %.2f\n", took[0], took[1]);
    }
    MPI_Finalize();
    return 0;
}
