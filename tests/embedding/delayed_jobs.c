/* The threads of samples/game_loop with several callers at once, when each thread wakes up late.
 *
 * A thread that was woken competes for the mutex with all others, and may get it long after. Here it does so after a
 * random time: what depends on who wakes first goes wrong in seconds. Callers meet after each job, since the jobs of
 * others would wake a caller that was forgotten. Each counts its own tasks; one that waits for ever ends the test by an
 * alarm. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { kCallers = 3, kThreads = 3, kTasks = 5, kJobs = 1500, kLate = 300, kWork = 60 }; /* microseconds at most */

static _Thread_local unsigned dice;

static void sleep_some(unsigned most) {
  dice = dice * 1664525u + 1013904223u + (unsigned)(size_t)&dice;
  usleep((dice >> 8) % most);
}

/* pthread_cond_wait of a thread that gets the mutex late. */
static int wait_and_wake_late(pthread_cond_t* c, pthread_mutex_t* m) {
  const int error = pthread_cond_wait(c, m);
  if (error != 0) return error;
  pthread_mutex_unlock(m);
  sleep_some(kLate);
  return pthread_mutex_lock(m);
}

#define pthread_cond_wait wait_and_wake_late
#include "game_loop/job_threads.c"
#undef pthread_cond_wait

static job_threads jobs;
static pthread_barrier_t all;
static atomic_int wrong;

static void count(void* arg, int64_t i) {
  sleep_some(kWork); /* so that other threads get tasks too */
  atomic_fetch_add((atomic_int*)arg + i, 1);
}

static void* call_jobs(void* self) {
  (void)self;
  for (int n = 0; n < kJobs; ++n) {
    atomic_int done[kTasks] = {0};
    pthread_barrier_wait(&all);
    sleep_some(kLate);
    run_jobs(&jobs, kTasks, count, done);
    for (int i = 0; i < kTasks; ++i) wrong += done[i] != 1;
  }
  return NULL;
}

static void give_up(int signal) {
  static const char kText[] = "a caller waits for ever\n";
  (void)signal;
  (void)!write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(1);
}

int main(void) {
  pthread_t callers[kCallers];
  signal(SIGALRM, give_up);
  alarm(60);
  pthread_barrier_init(&all, NULL, kCallers);
  if (start_jobs(&jobs, kThreads) != kThreads) return 1;
  for (int i = 0; i < kCallers; ++i) pthread_create(&callers[i], NULL, call_jobs, NULL);
  for (int i = 0; i < kCallers; ++i) pthread_join(callers[i], NULL);
  stop_jobs(&jobs);
  if (wrong != 0) fprintf(stderr, "%d tasks did not run exactly once before their call returned\n", wrong);
  return wrong != 0;
}
