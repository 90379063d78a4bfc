/* SPDX-License-Identifier: MIT */
/*
 * The all-reduce benchmark of MPI, measured as `sdmacc bench allreduce --in-place` is: FP32 sums in
 * place; each rank times its own loop after a barrier, and the slowest average counts. Prints
 * "BYTES TIME_US WRONG" a size.
 *
 * mpi_allreduce WARMUP ITERS BYTES...; 0 ITERS: as many as take a quarter of a second, 5 to 2000.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const double kAutomaticSeconds = 0.25;

static int rounds_for(double one) {
  double rounds = kAutomaticSeconds / (one > 1e-9 ? one : 1e-9);
  return rounds < 5 ? 5 : rounds > 2000 ? 2000 : (int)rounds;
}

static void reduce(float* data, int count) {
  MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* Whole numbers, whose sum is exact in any order. */
static float value(int rank, int i) {
  return (float)((i * 7 + rank * 13) % 1009 - 504);
}

static long wrong_elements(float* data, int count, int rank, int ranks) {
  long wrong = 0;
  int i, r;
  for (i = 0; i < count; ++i) data[i] = value(rank, i);
  reduce(data, count);
  for (i = 0; i < count; ++i) {
    float expected = 0;
    for (r = 0; r < ranks; ++r) expected += value(r, i);
    wrong += data[i] != expected;
  }
  return wrong;
}

int main(int argc, char** argv) {
  int rank, ranks, size, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) {
    if (rank == 0) fprintf(stderr, "usage: mpi_allreduce WARMUP ITERS BYTES...\n");
    MPI_Finalize();
    return 2;
  }
  for (size = 3; size < argc; ++size) {
    const long bytes = atol(argv[size]);
    const int count = (int)(bytes / (long)sizeof(float));
    const int warmup = atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
    float* data = calloc((size_t)count + 1, sizeof(float));
    double one = 0, start, mine, slowest = 0;
    long wrong, all_wrong = 0;
    int rounds = atoi(argv[2]);
    if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < warmup; ++i) {
      start = MPI_Wtime();
      reduce(data, count);
      one = MPI_Wtime() - start;
    }
    if (rounds == 0) rounds = rounds_for(one);
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (i = 0; i < rounds; ++i) reduce(data, count);
    mine = (MPI_Wtime() - start) / rounds * 1e6;
    wrong = wrong_elements(data, count, rank, ranks);
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      printf("%ld %.3f %ld\n", count * (long)sizeof(float), slowest, all_wrong);
      fflush(stdout);
    }
    free(data);
  }
  MPI_Finalize();
  return 0;
}
