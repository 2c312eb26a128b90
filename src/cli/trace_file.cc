#include "cli/trace_file.h"

#include <time.h>

#include <cstdio>
#include <set>

namespace ricci { inline namespace v0 { namespace cli {
namespace {

constexpr const char* kKinds[] = {"run", "kernel", "library", "copy", "source"};

uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// A string of JSON.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Nanoseconds as the format's microseconds.
std::string Micros(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned>(ns % 1000));
  return text;
}

std::string ThreadName(uint32_t thread) {
  const std::string name = thread == 0 ? "plan" : "worker " + std::to_string(thread - 1);
  return R"({"name":"thread_name","ph":"M","pid":1,"tid":)" + std::to_string(thread) + R"(,"args":{"name":)" +
         Quoted(name) + "}}";
}

}  // namespace

Profile::Profile() {
  hook_.hdr.size = sizeof hook_;
  hook_.self = this;
  hook_.span = Add;
}

void Profile::Begin() { begin_ns_ = Now(); }
void Profile::End() { end_ns_ = Now(); }

void Profile::Add(void* self, const ricci_span* s) {
  auto& p = *static_cast<Profile*>(self);
  const std::lock_guard lock(p.mutex_);
  p.slices_.push_back({s->kind, s->step, s->thread, s->line, std::string(View(s->name)), std::string(View(s->file)),
                       s->begin_ns, s->end_ns});
}

// Times are counted from the beginning of the run.
std::string Profile::Event(const Slice& s) const {
  std::string out = R"({"name":)" + Quoted(s.name) + R"(,"cat":")" + kKinds[s.kind] + R"(","ph":"X","pid":1,"tid":)" +
                    std::to_string(s.thread) + R"(,"ts":)" + Micros(s.begin_ns - begin_ns_) + R"(,"dur":)" +
                    Micros(s.end_ns - s.begin_ns);
  if (s.kind == 0) return out + "}";
  out += R"(,"args":{"step":)" + std::to_string(s.step);
  if (s.line != 0) out += R"(,"source":)" + Quoted(s.file + ":" + std::to_string(s.line));
  return out + "}}";
}

void Profile::Write(const std::string& path, std::string_view program) const {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  std::set<uint32_t> threads{0};
  for (const Slice& s : slices_) threads.insert(s.thread);
  for (const uint32_t t : threads) text += ThreadName(t) + ",\n";
  text += Event({0, 0, 0, 0, std::string(program), "", begin_ns_, end_ns_});
  for (const Slice& s : slices_) text += ",\n" + Event(s);
  text += "\n]}\n";
  WriteAll(path, text);
}

}}}  // namespace ricci::v0::cli
