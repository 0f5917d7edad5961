/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over MPI, a plug-in: libkmm-mpi-NAME.so, built by the compiler wrapper of each MPI
 * that is installed. It uses nothing of libkmm but the contract. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <kmm/error.h>

#include "transport/transport.h"

typedef struct mpi {
    kmm__transport_t base; /* the first member */
    MPI_Comm comm;         /* its own, so that no tag meets another library's */
    char name[128];
} mpi_t;

static MPI_Request *request_new(void)
{
    return malloc(sizeof(MPI_Request));
}

static int mpi_send(kmm__transport_t *t, uint32_t to, uint32_t channel, const void *bytes,
                    size_t count, void **request)
{
    MPI_Request *r = request_new();
    *request = r;
    if (!r)
        return KMM_E_MEMORY;
    return MPI_Isend(bytes, (int)count, MPI_BYTE, (int)to, (int)channel, ((mpi_t *)t)->comm, r)
               ? KMM_E_IO
               : 0;
}

static int mpi_find(kmm__transport_t *t, kmm__arrival_t *out)
{
    MPI_Message message;
    MPI_Status status;
    int found = 0, count;
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, ((mpi_t *)t)->comm, &found, &message, &status) ||
        !found)
        return 0;
    MPI_Message *kept = malloc(sizeof(*kept));
    if (!kept || MPI_Get_count(&status, MPI_BYTE, &count)) {
        free(kept);
        out->from = (uint32_t)status.MPI_SOURCE;
        return KMM_E_IO;
    }
    *kept = message;
    *out = (kmm__arrival_t){(uint32_t)status.MPI_SOURCE, (uint32_t)status.MPI_TAG, (size_t)count,
                            kept};
    return 1;
}

static int mpi_receive(kmm__transport_t *t, const kmm__arrival_t *a, void *to, void **request)
{
    (void)t;
    MPI_Request *r = request_new();
    MPI_Message *message = a->message;
    *request = r;
    if (!r)
        return KMM_E_MEMORY;
    int error = MPI_Imrecv(to, (int)a->bytes, MPI_BYTE, message, r);
    free(message);
    return error ? KMM_E_IO : 0;
}

static int mpi_test(kmm__transport_t *t, void *request)
{
    (void)t;
    int done = 0;
    if (MPI_Test(request, &done, MPI_STATUS_IGNORE))
        return KMM_E_IO;
    if (done)
        free(request);
    return done;
}

static void mpi_end(kmm__transport_t *t)
{
    mpi_t *m = (mpi_t *)t;
    MPI_Comm_free(&m->comm);
    MPI_Finalize();
    free(m);
}

static void mpi_abort(kmm__transport_t *t, int status)
{
    MPI_Abort(((mpi_t *)t)->comm, status);
    _Exit(status);
}

static int fail(char *reason, size_t room, const char *text)
{
    snprintf(reason, room, "%s", text);
    return KMM_E_UNSUPPORTED;
}

/* This process among those on its host, in the order of ranks. */
static void host_read(mpi_t *m)
{
    MPI_Comm host;
    int rank = 0, size = 1;
    if (MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, (int)m->base.rank, MPI_INFO_NULL, &host))
        return;
    MPI_Comm_rank(host, &rank);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    m->base.host_rank = (uint32_t)rank;
    m->base.host_size = (uint32_t)size;
}

/* The first line of what MPI says of itself, up to the first comma. */
static void name_read(mpi_t *m)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(text, &length))
        length = 0;
    text[length] = '\0';
    int k = 0;
    for (; k < (int)sizeof(m->name) - 1 && text[k] && text[k] != ',' && text[k] != '\n'; k++)
        m->name[k] = text[k] == '\t' ? ' ' : text[k];
    m->name[k] = '\0';
}

__attribute__((visibility("default"))) int kmm__transport_open(kmm__transport_t **out, char *reason,
                                                               size_t room)
{
    int is_there = 0, rank, size, provided;
    if (MPI_Initialized(&is_there) || is_there)
        return fail(reason, room, "the program uses MPI itself");
    mpi_t *m = calloc(1, sizeof(*m));
    if (!m)
        return fail(reason, room, "there is no memory");
    /* The thread that calls this makes all calls of MPI. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) ||
        MPI_Comm_dup(MPI_COMM_WORLD, &m->comm)) {
        free(m);
        return fail(reason, room, "MPI could not be initialized");
    }
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &rank);
    MPI_Comm_size(m->comm, &size);
    name_read(m);
    m->base = (kmm__transport_t){
        .version = KMM__TRANSPORT_VERSION,
        .name = m->name,
        .rank = (uint32_t)rank,
        .size = (uint32_t)size,
        .host_size = 1,
        .send = mpi_send,
        .find = mpi_find,
        .receive = mpi_receive,
        .test = mpi_test,
        .end = mpi_end,
        .abort = mpi_abort,
    };
    host_read(m);
    *out = &m->base;
    return 0;
}
