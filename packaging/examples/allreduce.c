/* SPDX-License-Identifier: MIT */
/*
 * The smallest program of libsdmacc in C: each rank contributes its number + 1 in every element,
 * and all get the sum. Start it once per rank, beside a running daemon:
 *   cc allreduce.c $(pkg-config --cflags --libs sdmacc) -o allreduce
 *   ./allreduce 2 0 & ./allreduce 2 1
 */
#include <sdmacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000 };

static void check(int code, const char* what) {
  if (code == SDMACC_OK) return;
  fprintf(stderr, "%s: %s\n", what, sdmacc_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  sdmacc_connection* connection;
  sdmacc_group* group;
  sdmacc_tensor* tensor;
  float* data;

  if (argc != 3) {
    fprintf(stderr, "usage: %s RANKS RANK\n", argv[0]);
    return 2;
  }
  const unsigned ranks = (unsigned)atoi(argv[1]), rank = (unsigned)atoi(argv[2]);

  check(sdmacc_connect(NULL, &connection), "connect");
  check(sdmacc_group_join(connection, "example", ranks, rank, -1, &group), "join");
  check(sdmacc_tensor_alloc(connection, COUNT * sizeof(float), &tensor), "tensor");

  data = sdmacc_tensor_data(tensor);
  for (int i = 0; i < COUNT; i++) data[i] = (float)(rank + 1);

  check(sdmacc_all_reduce(group, tensor, tensor, 0, 0, COUNT, SDMACC_FP32, SDMACC_ADD, 1.0f),
        "all_reduce");
  printf("rank %u of %u: the sum is %g\n", rank, ranks, (double)data[COUNT - 1]);

  sdmacc_tensor_free(tensor);
  sdmacc_group_leave(group);
  sdmacc_disconnect(connection);
  return 0;
}
