// What the collectives of an MPI cost, in the format of hilo_process_collectives, beside which it is measured:
//   mpicc -O2 benchmarks/mpi_collectives.c -o mpi_collectives && mpirun -n 2 ./mpi_collectives
// `bytes` is what docs/benchmarks.md calls the size; a call adds, sends or gathers floats.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const kOps[] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "collective-permute"};
static const long kSizes[] = {4, 1024, 1 << 16, 1 << 20, 16 << 20, 64 << 20};

static void Call(int op, int rank, int ranks, int count, const float* send, float* receive) {
  const int piece = count / ranks > 0 ? count / ranks : 1;
  switch (op) {
    case 0: MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case 1: MPI_Reduce_scatter_block(send, receive, piece, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Allgather(send, piece, MPI_FLOAT, receive, piece, MPI_FLOAT, MPI_COMM_WORLD); break;
    case 3: MPI_Alltoall(send, piece, MPI_FLOAT, receive, piece, MPI_FLOAT, MPI_COMM_WORLD); break;
    default:
      MPI_Sendrecv(send, count, MPI_FLOAT, (rank + 1) % ranks, 0, receive, count, MPI_FLOAT, (rank + ranks - 1) % ranks,
                   0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1, length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(version, &length);
  if (rank == 0) printf("%d processes, %.*s\n", ranks, (int)strcspn(version, ",\n"), version);
  for (int op = 0; op < 5; ++op) {
    for (int i = 0; i < 6; ++i) {
      const long bytes = kSizes[i];
      const size_t count = (size_t)bytes / 4 + (size_t)ranks;
      float* const send = malloc(count * 4);
      float* const receive = calloc(count, 4);
      if (send == NULL || receive == NULL) return 1;
      for (size_t k = 0; k < count; ++k) send[k] = 1;
      const int calls = bytes <= 1 << 16 ? 10000 : (int)((512L << 20) / bytes);
      double least = 1e30, all = 0;
      for (int call = 0; call < calls; ++call) {
        const double start = MPI_Wtime();
        Call(op, rank, ranks, (int)(bytes / 4), send, receive);
        const double time = (MPI_Wtime() - start) * 1e6;
        least = time < least ? time : least;
        all += time;
      }
      if (rank == 0) printf("%-18s %9ld bytes: least %9.2f us, mean %9.2f us\n", kOps[op], bytes, least, all / calls);
      fflush(stdout);
      free(send);
      free(receive);
    }
  }
  MPI_Finalize();
  return 0;
}
