/* job_threads: the threads of a game, which run the library's tasks through its executor hook.
 *
 * One job at a time; a second caller that finds the threads busy runs its tasks itself. Nothing is allocated after
 * start_jobs. */
#ifndef SAMPLES_GAME_LOOP_JOB_THREADS_H_
#define SAMPLES_GAME_LOOP_JOB_THREADS_H_
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { kMostJobThreads = 8 };

typedef struct job_threads {
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  pthread_t threads[kMostJobThreads];
  int n_threads;
  void (*fn)(void* arg, int64_t i); /* of the job, with the next members */
  void* arg;
  int64_t n;
  atomic_llong next;
  unsigned number;               /* of the job; this and the next members are guarded by mutex */
  int inside, owned, open, stop; /* threads in the job; a caller has it; threads may enter it */
} job_threads;

/* Starts `n` threads, at most kMostJobThreads. Returns how many there are. */
int start_jobs(job_threads* j, int n);
void stop_jobs(job_threads* j);
/* fn(arg, i) for i in [0, n) on these threads and the caller's; returns when all are done. */
void run_jobs(void* self, int64_t n, void (*fn)(void* arg, int64_t i), void* arg);

#endif
