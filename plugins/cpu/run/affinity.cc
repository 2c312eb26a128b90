#include "cpu/run/affinity.h"

#include <charconv>

namespace ricci::cpu {
namespace {

// Takes a number from the front of `text`. False if there is none.
bool TakeNumber(std::string_view& text, unsigned& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool Take(std::string_view& text, char what) {
  if (text.empty() || text[0] != what) return false;
  text.remove_prefix(1);
  return true;
}

std::string Written(const cpu_set_t& set) {
  std::string list;
  for (unsigned i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    unsigned last = i;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    list += (list.empty() ? "" : ",") + std::to_string(i) + (last == i ? "" : "-" + std::to_string(last));
    i = last;
  }
  return list;
}

}  // namespace

bool ParseProcessors(std::string_view text, cpu_set_t& out, std::string& error) {
  cpu_set_t here;
  CPU_ZERO(&out);
  if (sched_getaffinity(0, sizeof here, &here) != 0) {
    error = "the system does not report which processors this process may use";
    return false;
  }
  std::string_view left = text;
  do {
    unsigned first = 0, last = 0;
    if (!TakeNumber(left, first) || (last = first, Take(left, '-') && !TakeNumber(left, last)) || last < first) {
      error = "`" + std::string(text) + "` is not a list of processors, such as 0-3,6";
      return false;
    }
    for (unsigned i = first; i <= last; ++i) {
      if (i >= CPU_SETSIZE || !CPU_ISSET(i, &here)) {
        error = "`" + std::string(text) + "`: processor " + std::to_string(i) + " is not one of this process, " +
                Written(here);
        return false;
      }
      CPU_SET(i, &out);
    }
  } while (Take(left, ','));
  if (left.empty()) return true;
  error = "`" + std::string(text) + "` is not a list of processors, such as 0-3,6";
  return false;
}

}  // namespace ricci::cpu
