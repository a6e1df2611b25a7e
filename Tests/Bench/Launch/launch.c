// Runs a command, discards its output, and prints its wait status, its microseconds and its largest memory in KB.
//
// The kernel counts the memory of the starting process too. This process is small.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int descriptor = 1; descriptor <= 2; descriptor++)
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0);
  pid_t process;
  double start = now();
  if (posix_spawn(&process, words[1], &actions, NULL, words + 1, environ) != 0) return 1;
  int status;
  struct rusage usage;
  if (wait4(process, &status, 0, &usage) != process) return 1;
  printf("%d %.0f %ld\n", status, now() - start, usage.ru_maxrss);
  return 0;
}
