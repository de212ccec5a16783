/* The few MPI calls of farfield with plain types, because MPI's own types differ between implementations. Errors end
   the job, which is MPI's default. */

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* An MPI message has at most 2^31 - 1 elements; longer ones are sent in pieces. */
#define PIECE ((size_t)1 << 30)

int farfield_mpi_start(void) {
    int started = 0, level = 0;
    MPI_Initialized(&started);
    if (!started)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    return started;
}

void farfield_mpi_end(void) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (!ended)
        MPI_Finalize();
}

void farfield_mpi_abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
}

/* Communicators are identified by their Fortran handle, a plain integer in every implementation. */
int32_t farfield_mpi_world(void) {
    return (int32_t)MPI_Comm_c2f(MPI_COMM_WORLD);
}

int32_t farfield_mpi_duplicate(int32_t of) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_Comm_f2c((MPI_Fint)of), &copy);
    return (int32_t)MPI_Comm_c2f(copy);
}

void farfield_mpi_free(int32_t number) {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended)
        return;
    MPI_Comm comm = MPI_Comm_f2c((MPI_Fint)number);
    MPI_Comm_free(&comm);
}

int farfield_mpi_rank(int32_t number) {
    int rank = 0;
    MPI_Comm_rank(MPI_Comm_f2c((MPI_Fint)number), &rank);
    return rank;
}

int farfield_mpi_size(int32_t number) {
    int size = 1;
    MPI_Comm_size(MPI_Comm_f2c((MPI_Fint)number), &size);
    return size;
}

/* The index of this rank among the ranks on the same machine, and their number. */
void farfield_mpi_on_machine(int32_t number, int *rank, int *size) {
    MPI_Comm local;
    MPI_Comm_split_type(MPI_Comm_f2c((MPI_Fint)number), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, rank);
    MPI_Comm_size(local, size);
    MPI_Comm_free(&local);
}

void farfield_mpi_all_gather(int32_t number, const uint8_t *own, int bytes, uint8_t *all) {
    MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_Comm_f2c((MPI_Fint)number));
}

void farfield_mpi_sum_all(int32_t number, uint64_t *values, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_SUM, MPI_Comm_f2c((MPI_Fint)number));
}

void farfield_mpi_max_all(int32_t number, double *values, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_Comm_f2c((MPI_Fint)number));
}

void farfield_mpi_transpose(int32_t number, const uint64_t *own, uint64_t *theirs) {
    MPI_Alltoall(own, 1, MPI_UINT64_T, theirs, 1, MPI_UINT64_T, MPI_Comm_f2c((MPI_Fint)number));
}

static size_t pieces(const uint64_t *lengths, size_t count) {
    size_t sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (lengths[k] + PIECE - 1) / PIECE;
    return sum;
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits until all messages have been sent and received. MPI_Waitall would poll without pause and take the core from
   working threads. Here, after `busy` polls without progress, there is a short sleep between polls. Between processes of
   one machine, MPI copies a piece of a message during each poll: a poll that takes longer than `copied` nanoseconds counts
   as progress. */
static void wait_for(int count, MPI_Request *requests) {
    const int busy = 200;
    const int64_t copied = 2000;
    const struct timespec pause = {0, 20000};
    int all_done = 0, in_vain = 0;
    int64_t before = nanoseconds();
    for (;;) {
        MPI_Testall(count, requests, &all_done, MPI_STATUSES_IGNORE);
        if (all_done)
            return;
        int64_t after = nanoseconds();
        in_vain = after - before > copied ? 0 : in_vain + 1;
        before = after;
        if (in_vain >= busy) {
            nanosleep(&pause, NULL);
            before = nanoseconds();
        }
    }
}

/* Returns 0, or 1 if there is no memory for the requests; then nothing was sent. */
int farfield_mpi_exchange(int32_t number, size_t receives, const int *from, const uint64_t *from_lengths, uint8_t *const *into,
                          size_t sends, const int *to, const uint64_t *to_lengths, const uint8_t *const *out) {
    const int tag = 7;
    MPI_Comm comm = MPI_Comm_f2c((MPI_Fint)number);
    size_t total = pieces(from_lengths, receives) + pieces(to_lengths, sends), next = 0;
    MPI_Request *requests = malloc((total + 1) * sizeof *requests);
    if (!requests)
        return 1;
    /* Messages between two ranks keep their order, so the pieces of a message arrive in order. */
    for (size_t k = 0; k < receives; k++)
        for (uint64_t at = 0; at < from_lengths[k]; at += PIECE) {
            uint64_t left = from_lengths[k] - at;
            MPI_Irecv(into[k] + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, from[k], tag, comm, &requests[next++]);
        }
    for (size_t k = 0; k < sends; k++)
        for (uint64_t at = 0; at < to_lengths[k]; at += PIECE) {
            uint64_t left = to_lengths[k] - at;
            MPI_Isend(out[k] + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, to[k], tag, comm, &requests[next++]);
        }
    wait_for((int)total, requests);
    free(requests);
    return 0;
}
