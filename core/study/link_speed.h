/* How fast two ranks, or the ranks of a group, exchange messages. */
#ifndef RANKBENCH_LINK_SPEED_H
#define RANKBENCH_LINK_SPEED_H

#include "base/op.h"

/* Half of a round trip of 8 bytes, the median; the same on both ranks. Called by both, with one that asks. */
double time_message_ns(const struct team *team, int partner, bool asks);
/* Bytes per second of messages in windows, from the sender to the other; the same on both ranks. */
double stream_messages(const struct team *team, int partner, bool sends);
/* The first messages between two ranks may be slow: connections are set up. */
void connect_ranks(const struct team *team, int partner, bool asks);
/* Time of MPI_Allreduce of 8 bytes in a communicator, the mean. Called by all its ranks. */
double time_allreduce_ns(MPI_Comm comm);

#endif
