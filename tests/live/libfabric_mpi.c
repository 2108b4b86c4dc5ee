// A program of MPI that compares every octet: messages of all sizes between the first rank and the last one, and
// all-reduce over all ranks. Or an incast: all ranks send to the first one at once.
//
// usage: libfabric_mpi [MOST-OCTETS]     64 MiB by default
//        libfabric_mpi incast
// Prints a line for the times that are asked of it: latency of 8 octets, and the time of an all-reduce of 8 MiB.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t octet(size_t i, unsigned seed) { return (uint8_t)(i * 131 + i / 251 + seed * 17 + 1); }

static void fail(int rank, const char* what, size_t octets) {
  fprintf(stderr, "rank %d: %s of %zu octets is wrong\n", rank, what, octets);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// There and back, so that both directions are seen.
static void ping(int rank, int last, size_t octets, uint8_t* out, uint8_t* in) {
  if (rank != 0 && rank != last) return;
  const unsigned seed = (unsigned)(octets % 251) + (rank == 0 ? 1u : 2u);
  const unsigned others = (unsigned)(octets % 251) + (rank == 0 ? 2u : 1u);
  const int peer = rank == 0 ? last : 0;
  for (size_t i = 0; i < octets; ++i) out[i] = octet(i, seed);
  memset(in, 0, octets);
  if (rank == 0) {
    MPI_Send(out, (int)octets, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(in, (int)octets, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, (int)octets, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, (int)octets, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  }
  for (size_t i = 0; i < octets; ++i)
    if (in[i] != octet(i, others)) fail(rank, "message", octets);
}

static void reduce(int rank, int ranks, size_t octets, uint8_t* out, uint8_t* in) {
  const size_t n = octets / sizeof(uint64_t);
  uint64_t *mine = (uint64_t*)out, *sum = (uint64_t*)in;
  for (size_t i = 0; i < n; ++i) mine[i] = i * 7 + (uint64_t)rank;
  MPI_Allreduce(mine, sum, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const uint64_t ranks_sum = (uint64_t)ranks * (uint64_t)(ranks - 1) / 2;
  for (size_t i = 0; i < n; ++i)
    if (sum[i] != i * 7 * (uint64_t)ranks + ranks_sum) fail(rank, "all-reduce", octets);
}

// More messages than have buffers, of several tags.
static void burst(int rank, int last) {
  enum { kMessages = 300 };
  static uint32_t values[kMessages];
  if (rank == 0) {
    for (uint32_t i = 0; i < kMessages; ++i) MPI_Send(&i, 4, MPI_BYTE, last, (int)(i % 3), MPI_COMM_WORLD);
  } else if (rank == last) {
    for (int tag = 2; tag >= 0; --tag)
      for (uint32_t i = (uint32_t)tag; i < kMessages; i += 3) {
        MPI_Recv(&values[i], 4, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (values[i] != i) fail(rank, "message out of order", 4);
      }
  }
}

// The first rank waits for all messages at once, so that nothing holds back who sends them.
static int incast(int rank, int ranks) {
  enum { kMessages = 16, kOctets = 256 << 10 };
  const int all = rank == 0 ? kMessages * (ranks - 1) : kMessages;
  uint8_t* messages = malloc((size_t)all * kOctets);
  MPI_Request* requests = malloc((size_t)all * sizeof *requests);
  if (messages == NULL || requests == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  double from = 0;
  if (rank == 0) {
    for (int n = 0; n < all; ++n)
      MPI_Irecv(messages + (size_t)n * kOctets, kOctets, MPI_BYTE, 1 + n / kMessages, n % kMessages, MPI_COMM_WORLD,
                &requests[n]);
    MPI_Barrier(MPI_COMM_WORLD);
    from = MPI_Wtime();
  } else {
    for (size_t i = 0; i < (size_t)all * kOctets; ++i) messages[i] = octet(i, (unsigned)rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int n = 0; n < all; ++n)
      MPI_Isend(messages + (size_t)n * kOctets, kOctets, MPI_BYTE, 0, n, MPI_COMM_WORLD, &requests[n]);
  }
  MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
  if (rank == 0) {
    const double took = MPI_Wtime() - from;
    const size_t each = (size_t)kMessages * kOctets;
    for (size_t i = 0; i < (size_t)all * kOctets; ++i)
      if (messages[i] != octet(i % each, (unsigned)(1 + i / each))) fail(rank, "message", kOctets);
    printf("%d ranks, all right: %d messages of %d octets in %.2f s\n", ranks, all, (int)kOctets, took);
  }
  MPI_Finalize();
  return 0;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && strcmp(argv[1], "incast") == 0) return incast(rank, ranks);
  const size_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : (size_t)64 << 20;
  const int last = ranks - 1;
  const size_t room = most < ((size_t)8 << 20) ? (size_t)8 << 20 : most;
  uint8_t *out = malloc(room), *in = malloc(room);
  if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  burst(rank, last);
  for (size_t octets = 8; octets <= most; octets *= 8) ping(rank, last, octets, out, in);
  ping(rank, last, most, out, in);
  for (size_t octets = 8; octets <= most; octets *= 8) reduce(rank, ranks, octets, out, in);
  reduce(rank, ranks, most, out, in);

  enum { kPings = 2000, kReduces = 5 };
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime();
  for (int i = 0; i < kPings; ++i) {
    if (rank == 0) {
      MPI_Send(out, 8, MPI_BYTE, last, 2, MPI_COMM_WORLD);
      MPI_Recv(in, 8, MPI_BYTE, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
      MPI_Recv(in, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
  }
  const double latency = (MPI_Wtime() - from) / kPings / 2;
  MPI_Barrier(MPI_COMM_WORLD);
  from = MPI_Wtime();
  for (int i = 0; i < kReduces; ++i)
    MPI_Allreduce(out, in, 1 << 20, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const double reduces = (MPI_Wtime() - from) / kReduces;
  if (rank == 0) printf("%d ranks, all right: 8 octets %.1f us, all-reduce of 8 MiB %.1f ms\n", ranks, latency * 1e6, reduces * 1e3);
  MPI_Finalize();
  return 0;
}
