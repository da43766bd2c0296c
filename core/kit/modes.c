#include "kit/modes.h"

#include <stdlib.h>

#include "base/allocation.h"
#include "base/choices.h"

const struct choice mode_choice = {
    .name = "mode",
    .help = "send mode; ready: for the answer of a ping-pong and for announced windows, whose receives are posted",
    NAMES_OF("standard", "synchronous", "buffered", "ready"),
};

const struct choice send_buffers_choice = {
    .name = "send_buffers",
    .help = "each message leaves from a buffer of its own, with data of its own; one: all from the same, as in OSU and IMB",
    NAMES_OF("each", "one"),
};

bool shares_send_buffer(const struct call *call) {
    return read_choice(call, &send_buffers_choice) != 0;
}

const struct mode modes[] = {
    [STANDARD] = {MPI_Send, MPI_Isend, MPI_Send_init},
    [SYNCHRONOUS] = {MPI_Ssend, MPI_Issend, MPI_Ssend_init},
    [BUFFERED] = {MPI_Bsend, MPI_Ibsend, MPI_Bsend_init},
    [READY] = {MPI_Rsend, MPI_Irsend, MPI_Rsend_init},
};

static int64_t count_buffer_bytes(int64_t message_bytes, int messages) {
    return messages * (message_bytes + MPI_BSEND_OVERHEAD);
}

const char *refuse_mode(const struct call *call, int messages) {
    if (read_choice(call, &mode_choice) != BUFFERED)
        return NULL;
    if (read_choice(call, &threads_choice) > 1)
        return "a process has a single buffer for MPI_Bsend: mode=buffered needs threads=1";
    if (count_buffer_bytes(call->message.bytes, messages) > INT32_MAX)
        return "mode=buffered needs a buffer larger than the 2^31-1 bytes that MPI_Buffer_attach takes";
    return NULL;
}

int attach_buffer(const struct call *call, int messages, void **buffer) {
    int message_bytes;
    *buffer = NULL;
    if (read_choice(call, &mode_choice) != BUFFERED || messages == 0)
        return MPI_SUCCESS;
    int code = MPI_Pack_size(call->message.count, call->message.type, call->peers.comm, &message_bytes);
    if (code)
        return code;
    const int64_t bytes = count_buffer_bytes(message_bytes, messages);
    void *const room = bytes > INT32_MAX ? NULL : try_memory((size_t)bytes);
    if (!room)
        return MPI_ERR_NO_MEM;
    code = MPI_Buffer_attach(room, (int)bytes);
    if (code)
        free(room);
    else
        *buffer = room;
    return code;
}

void detach_buffer(void *buffer) {
    void *detached;
    int bytes;
    if (buffer)
        MPI_Buffer_detach(&detached, &bytes);
    free(buffer);
}

void free_requests(MPI_Request *requests, int count) {
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
}
