// Ping-pong between the first and the last rank, and all-reduce of all, from 8 octets on; every octet is checked.
//
// usage: mpi_check LARGEST_OCTETS
// Rank 0 prints a line per size: octets, half a round trip and the all-reduce in microseconds. Ends with a status other than
// 0 when anything is wrong.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void wrong(const char* what, size_t octets, size_t at) {
  fprintf(stderr, "rank %d: %s of %zu octets: wrong from place %zu on\n", rank, what, octets, at);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// What the octet at a place of a message is.
static uint8_t octet(size_t at, int round, int from) { return (uint8_t)(at * 31 + (size_t)round * 7 + (size_t)from); }

static void send_to(int peer, uint8_t* data, size_t octets, int round) {
  for (size_t i = 0; i < octets; ++i) data[i] = octet(i, round, rank);
  MPI_Send(data, (int)octets, MPI_BYTE, peer, round, MPI_COMM_WORLD);
}

static void receive_from(int peer, uint8_t* data, size_t octets, int round) {
  MPI_Recv(data, (int)octets, MPI_BYTE, peer, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (size_t i = 0; i < octets; ++i)
    if (data[i] != octet(i, round, peer)) wrong("a message", octets, i);
}

// With data that is checked once, then without for time. Microseconds, half a round trip.
static double ping_pong(uint8_t* data, size_t octets, int rounds) {
  const int last = ranks - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  double began = 0;
  for (int i = -1; i < rounds; ++i) {
    if (i == 0) began = MPI_Wtime();
    if (rank == 0 && i < 0) send_to(last, data, octets, 1), receive_from(last, data, octets, 2);
    if (rank == last && i < 0) receive_from(0, data, octets, 1), send_to(0, data, octets, 2);
    if (rank == 0 && i >= 0) {
      MPI_Send(data, (int)octets, MPI_BYTE, last, 3, MPI_COMM_WORLD);
      MPI_Recv(data, (int)octets, MPI_BYTE, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == last && i >= 0) {
      MPI_Recv(data, (int)octets, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, (int)octets, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    }
  }
  const double us = (MPI_Wtime() - began) * 1e6 / (2 * rounds);
  MPI_Barrier(MPI_COMM_WORLD);
  return us;
}

static double all_reduce(int64_t* in, int64_t* out, size_t octets, int rounds) {
  const size_t n = octets / sizeof *in;
  double took = 0;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < n; ++i) in[i] = (int64_t)i * (rank + 1) + round;
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    MPI_Allreduce(in, out, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    took += MPI_Wtime() - began;
    for (size_t i = 0; i < n; ++i)
      if (out[i] != (int64_t)i * ranks * (ranks + 1) / 2 + (int64_t)round * ranks) wrong("an all-reduce", octets, i * 8);
  }
  return took * 1e6 / rounds;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 8u << 20;
  int64_t *in = malloc(most), *out = malloc(most);
  if (in == NULL || out == NULL || ranks < 2) {
    fprintf(stderr, "mpi_check: needs two ranks and memory for twice %zu octets\n", most);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (size_t octets = 8; octets <= most; octets = octets < most && octets * 8 > most ? most : octets * 8) {
    const int rounds = octets <= 4096 ? 100 : octets <= 1u << 20 ? 10 : 3;
    const double half = ping_pong((uint8_t*)in, octets, rounds);
    const double reduced = all_reduce(in, out, octets, octets <= 4096 ? 20 : 2);
    if (rank == 0) printf("%zu octets: %.1f us half a round trip, %.1f us all-reduce of %d\n", octets, half, reduced, ranks);
    fflush(stdout);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
