/* The threads sleep until a job comes; each takes the next task until none is left.
 *
 * A caller owns the threads until none of them is inside its job any more. So at most one caller waits for `done`, for
 * its own job, and one signal wakes it. If it gave them up when its tasks are done, a second caller could wait too, and
 * a signal could wake the one whose job has ended long ago. */
#include "job_threads.h"

#include <string.h>

static void take_tasks(job_threads* j) {
  for (int64_t i; (i = atomic_fetch_add(&j->next, 1)) < j->n;) j->fn(j->arg, i);
}

static void* work(void* self) {
  job_threads* j = self;
  unsigned seen = 0;
  pthread_mutex_lock(&j->mutex);
  while (1) {
    while (j->number == seen && !j->stop) pthread_cond_wait(&j->wake, &j->mutex);
    if (j->stop) break;
    seen = j->number;
    if (!j->open) continue; /* this thread comes too late: the tasks are done */
    ++j->inside;
    pthread_mutex_unlock(&j->mutex);
    take_tasks(j);
    pthread_mutex_lock(&j->mutex);
    if (--j->inside == 0) pthread_cond_signal(&j->done);
  }
  pthread_mutex_unlock(&j->mutex);
  return NULL;
}

int start_jobs(job_threads* j, int n) {
  memset(j, 0, sizeof *j);
  pthread_mutex_init(&j->mutex, NULL);
  pthread_cond_init(&j->wake, NULL);
  pthread_cond_init(&j->done, NULL);
  while (j->n_threads < n && j->n_threads < kMostJobThreads) {
    if (pthread_create(&j->threads[j->n_threads], NULL, work, j) != 0) break;
    ++j->n_threads;
  }
  return j->n_threads;
}

void stop_jobs(job_threads* j) {
  pthread_mutex_lock(&j->mutex);
  j->stop = 1;
  pthread_cond_broadcast(&j->wake);
  pthread_mutex_unlock(&j->mutex);
  for (int i = 0; i < j->n_threads; ++i) pthread_join(j->threads[i], NULL);
}

void run_jobs(void* self, int64_t n, void (*fn)(void* arg, int64_t i), void* arg) {
  job_threads* j = self;
  pthread_mutex_lock(&j->mutex);
  const int mine = !j->owned;
  if (mine) {
    j->owned = j->open = 1;
    j->fn = fn, j->arg = arg, j->n = n;
    atomic_store(&j->next, 0);
    ++j->number;
    pthread_cond_broadcast(&j->wake);
  }
  pthread_mutex_unlock(&j->mutex);
  if (!mine) {
    for (int64_t i = 0; i < n; ++i) fn(arg, i);
    return;
  }
  take_tasks(j);
  pthread_mutex_lock(&j->mutex);
  j->open = 0;
  while (j->inside != 0) pthread_cond_wait(&j->done, &j->mutex);
  j->owned = 0;
  pthread_mutex_unlock(&j->mutex);
}
