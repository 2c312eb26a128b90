// progress: one line that overwrites itself on a terminal; in a file or pipe one line for every tenth.
#ifndef SAMPLES_QUICKSTART_PROGRESS_H_
#define SAMPLES_QUICKSTART_PROGRESS_H_
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

// Reports `done` of `total`, with `text`.
inline void ShowProgress(int64_t done, int64_t total, const std::string& text) {
  const bool terminal = isatty(fileno(stdout)) != 0, last = done == total;
  if (!terminal && !last && done % std::max<int64_t>(total / 10, 1) != 0) return;
  std::printf("%s%s%s", terminal ? "\r" : "", text.c_str(), !terminal || last ? "\n" : "");
  std::fflush(stdout);
}

#endif
