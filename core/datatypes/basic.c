/* Predefined types, whose elements are contiguous. */
#include "base/op.h"

static const struct datatype byte_type = {"byte", "8-bit data without arithmetic", 1, .basic = MPI_BYTE};
static const struct datatype int_type = {"int", "32-bit integers", sizeof(int), .basic = MPI_INT};
static const struct datatype float_type = {"float", "32-bit floating point", sizeof(float), .basic = MPI_FLOAT};
static const struct datatype double_type = {"double", "64-bit floating point", sizeof(double), .basic = MPI_DOUBLE};

REGISTER(datatype, byte_type);
REGISTER(datatype, int_type);
REGISTER(datatype, float_type);
REGISTER(datatype, double_type);
