// cache: the folder in which compiled programs are kept.
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "cli/command.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

// An entry, with texts of its own.
struct Entry {
  std::string file, program, about;
  uint32_t kind = 0;
  bool damaged = false;
  uint64_t bytes = 0, used_ns = 0;
};

std::vector<Entry> EntriesIn(const std::string& folder) {
  std::vector<Entry> entries;
  const auto add = [](void* sink, const ricci_cache_entry* e) {
    static_cast<std::vector<Entry>*>(sink)->push_back({std::string(View(e->file)), std::string(View(e->program)),
                                                       std::string(View(e->about)), e->kind, e->damaged != 0, e->bytes,
                                                       e->used_ns});
  };
  Check(ricci_cache_list(folder.data(), folder.size(), &entries, add));
  return entries;
}

uint64_t BytesOf(const std::vector<Entry>& entries) {
  uint64_t bytes = 0;
  for (const Entry& e : entries) bytes += e.bytes;
  return bytes;
}

std::string CountOfEntries(size_t n) { return std::to_string(n) + (n == 1 ? " entry" : " entries"); }

// `12 min`
std::string AgeOf(const Entry& e) {
  const auto now = static_cast<uint64_t>(std::time(nullptr));
  const uint64_t used = e.used_ns / 1'000'000'000, seconds = now > used ? now - used : 0;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / (24 * 3600)) + " days";
}

const char* KindOf(const Entry& e) {
  if (e.damaged) return "damaged";
  return e.kind == RICCI_CACHE_OF_EXECUTABLE ? "program" : "code";
}

// The line of `about` that begins with `word`, up to `end`.
std::string LineOf(const Entry& e, std::string_view word, std::string_view end) {
  const std::string_view about = e.about;
  size_t at = 0;
  while (at < about.size() && about.substr(at, word.size()) != word)
    at = std::min(about.find('\n', at), about.size() - 1) + 1;
  const std::string_view line = about.substr(at, about.find('\n', at) - at);
  return std::string(line.substr(0, line.find(end)));
}

void PrintEntry(const Entry& e, bool all) {
  std::printf("%-8s %12" PRIu64 " bytes  used %7s ago  %.16s  %s\n", KindOf(e), e.bytes, AgeOf(e).c_str(),
              e.file.c_str(), e.program.c_str());
  if (e.about.empty()) return;
  if (!all) {
    std::printf("         %s; %s\n", LineOf(e, "ricci ", " build").c_str(), LineOf(e, "code ", ", layout").c_str());
    return;
  }
  for (size_t at = 0; at < e.about.size();) {
    const size_t end = std::min(e.about.find('\n', at), e.about.size());
    std::printf("         %s\n", e.about.substr(at, end - at).c_str());
    at = end + 1;
  }
}

void List(const std::string& folder, bool all) {
  const std::vector<Entry> entries = EntriesIn(folder);
  for (const Entry& e : entries) PrintEntry(e, all);
  std::printf("%s, %" PRIu64 " bytes\n", CountOfEntries(entries.size()).c_str(), BytesOf(entries));
}

void Verify(const std::string& folder) {
  size_t damaged = 0;
  const std::vector<Entry> entries = EntriesIn(folder);
  for (const Entry& e : entries) {
    if (!e.damaged) continue;
    std::printf("damaged: %s/%s\n", folder.c_str(), e.file.c_str());
    ++damaged;
  }
  if (damaged != 0) {
    throw Failure(std::to_string(damaged) + " of " + CountOfEntries(entries.size()) +
                  " damaged or of another version; they are ignored, and `ricci cache clear` deletes all");
  }
  std::printf("%s, all whole\n", CountOfEntries(entries.size()).c_str());
}

void Clear(const std::string& folder) {
  uint64_t files = 0;
  Check(ricci_cache_clear(folder.data(), folder.size(), &files, nullptr));
  std::printf("%s deleted\n", CountOfEntries(files).c_str());
}

void Cache(const Session&, const Arguments& arguments) {
  if (arguments.operands().size() != 1) throw UsageError("takes one of list, verify, clear and path");
  const std::string& what = arguments.operands()[0];
  const std::string folder = arguments.option_or("dir", "");
  if (folder.empty()) throw UsageError("needs --dir DIR: there is no folder unless one is named");
  if (what == "list") return List(folder, arguments.flag("long"));
  if (what == "verify") return Verify(folder);
  if (what == "clear") return Clear(folder);
  if (what != "path") throw UsageError("knows list, verify, clear and path, not `" + what + "`");
  std::printf("%s\n", std::filesystem::absolute(folder).lexically_normal().c_str());
}

}  // namespace

std::span<const Command> CacheCommands() {
  static const Command kCommands[] = {
      {"cache",
       "--dir DIR list|verify|clear|path",
       "lists, checks or deletes the compiled programs that --cache DIR keeps",
       "\n  list       entries, those used last first: whole programs with their names and the versions that made "
       "them,\n"
       "             and machine code; --long: all that a program depends on\n"
       "  verify     reads all entries; those that are damaged, or of another version, are an error\n"
       "  clear      deletes the entries, and nothing else in the folder\n"
       "  path       the folder as a full path\n"
       "\n  --dir DIR  the folder (in the library: ricci_context_config with cache_dir)\n",
       {"dir"},
       {"long"},
       Cache},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
