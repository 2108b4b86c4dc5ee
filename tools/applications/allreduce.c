/* MPI all-reduce of 64-bit integers and an incast to rank 0, by size; every element of every round is verified.
 *
 * usage: allreduce [MOST-BYTES [ROUNDS]]     (default 1 MiB, 20)
 * Rank 0 prints a line per size: bytes; of the all-reduces the median and the longest time in microseconds, each the time
 * of the slowest rank, and the bus bandwidth at the median as nccl-tests define it; of the incasts, in which all others
 * send so many bytes to rank 0 at once, the median and the longest time. Ends with a status other than 0 when a result is
 * wrong.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void fail(int rank, const char* what) {
  fprintf(stderr, "allreduce: rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Times and checks one; rank 0 has room for one message of each other rank. */
static double incast(int rank, int ranks, size_t n, int round, int64_t* out, int64_t* in, MPI_Request* requests) {
  for (size_t i = 0; rank != 0 && i < n; ++i) out[i] = (int64_t)i * 3 + rank * 1000003 + round;
  for (int r = 1; rank == 0 && r < ranks; ++r)
    MPI_Irecv(in + (size_t)(r - 1) * n, (int)n, MPI_INT64_T, r, 1, MPI_COMM_WORLD, &requests[r - 1]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  if (rank == 0) {
    MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(out, (int)n, MPI_INT64_T, 0, 1, MPI_COMM_WORLD);
  }
  const double took = MPI_Wtime() - began;
  for (int r = 1; rank == 0 && r < ranks; ++r)
    for (size_t i = 0; i < n; ++i)
      if (in[(size_t)(r - 1) * n + i] != (int64_t)i * 3 + r * 1000003 + round) fail(rank, "a message is wrong");
  return took;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : (size_t)1 << 20;
  const int rounds = argc > 2 ? atoi(argv[2]) : 20;
  if (most < 8 || most > (size_t)1 << 30 || rounds < 1) fail(rank, "expected 8 to 1073741824 bytes, and 1 round or more");
  int64_t *in = malloc(most), *out = malloc(most * (size_t)ranks);
  double *took = malloc((size_t)rounds * sizeof *took), *arrived = malloc((size_t)rounds * sizeof *arrived);
  MPI_Request* requests = malloc((size_t)ranks * sizeof *requests);
  if (in == NULL || out == NULL || took == NULL || arrived == NULL || requests == NULL) fail(rank, "out of memory");
  if (rank == 0)
    printf("%12s %14s %12s %12s %14s %12s\n", "bytes", "all-reduce us", "longest", "busbw Gb/s", "incast us", "longest");
  for (size_t bytes = most < 1024 ? most : 1024;; bytes = bytes * 32 < most ? bytes * 32 : most) {
    const size_t n = bytes / sizeof *in;
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < n; ++i) in[i] = (int64_t)i * (rank + 1) + round, out[i] = -1;
      MPI_Barrier(MPI_COMM_WORLD);
      const double began = MPI_Wtime();
      MPI_Allreduce(in, out, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      const double mine = MPI_Wtime() - began;
      MPI_Reduce(&mine, &took[round], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      for (size_t i = 0; i < n; ++i)
        if (out[i] != (int64_t)i * ranks * (ranks + 1) / 2 + (int64_t)round * ranks) fail(rank, "a sum is wrong");
      arrived[round] = incast(rank, ranks, n, round, in, out, requests);
    }
    if (rank == 0) {
      qsort(took, (size_t)rounds, sizeof *took, ascending);
      qsort(arrived, (size_t)rounds, sizeof *arrived, ascending);
      const double median = took[rounds / 2];
      printf("%12zu %14.1f %12.1f %12.3f %14.1f %12.1f\n", bytes, median * 1e6, took[rounds - 1] * 1e6,
             (double)bytes * 8 * 2 * (ranks - 1) / ranks / median / 1e9, arrived[rounds / 2] * 1e6,
             arrived[rounds - 1] * 1e6);
      fflush(stdout);
    }
    if (bytes == most) break;
  }
  if (rank == 0) printf("%d ranks: every sum and message is right\n", ranks);
  free(in);
  free(out);
  free(took);
  free(arrived);
  free(requests);
  MPI_Finalize();
  return 0;
}
