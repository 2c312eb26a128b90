#include "bench_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <string>

namespace bench {
namespace {

double Best(const std::function<void()>& run, double seconds) {
  run();
  double total = 0, quickest = std::numeric_limits<double>::infinity();
  for (int64_t n = 1; total < seconds;) {
    const double start = Now();
    for (int64_t i = 0; i < n; ++i) run();
    const double taken = Now() - start;
    total += taken;
    quickest = std::min(quickest, taken / static_cast<double>(n));
    if (taken < 0.02) n *= 2;
  }
  return quickest;
}

double InUnit(std::string_view unit, double seconds, double work) {
  if (unit == "us") return seconds * 1e6;
  if (unit == "ms") return seconds * 1e3;
  if (unit == "GFLOP/s") return work / seconds / 1e9;
  if (unit == "GB/s") return work / seconds / 1e9;
  if (unit == "MLUPS") return work / seconds / 1e6;
  return seconds;
}

void Answer(std::string_view what, const Case& c, const Prepared& p, const Settings& s) {
  const double taken = p.once ? p.once() : Best(p.run, s.seconds);
  std::printf(
      R"({"case": "%s", "unit": "%s", "value": %.9g, "what": "%s", "check": %.9g, "seconds": %.9g, "bytes": %.9g, "flops": %.9g})"
      "\n",
      std::string(c.name).c_str(), std::string(c.unit).c_str(), InUnit(c.unit, taken, p.work),
      std::string(what).c_str(), p.check ? p.check() : 0.0, taken, p.bytes, p.flops);
  std::fflush(stdout);
}

void Refuse(const std::string& name, const char* why) {
  std::string text = why;
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::printf(R"({"case": "%s", "error": "%s"})"
              "\n",
              name.c_str(), text.c_str());
  std::fflush(stdout);
}

int List(const std::vector<Case>& cases) {
  std::string text;
  for (const Case& c : cases) text += (text.empty() ? "[\"" : ", \"") + std::string(c.name) + "\"";
  std::puts((text + "]").c_str());
  return 0;
}

int Loop(std::string_view what, const std::vector<Case>& cases, const Settings& settings) {
  Prepared prepared;
  std::string current;
  for (std::string name; std::getline(std::cin, name);) {
    const auto c = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; });
    try {
      if (c == cases.end()) throw std::invalid_argument("no such case");
      if (name != current) {
        prepared = {};
        prepared = c->prepare(settings);
        current = name;
      }
      Answer(what, *c, prepared, settings);
    } catch (const std::exception& e) {
      Refuse(name, e.what());
      current.clear();
    }
  }
  return 0;
}

}  // namespace

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<float> Uniform(int64_t n, uint32_t seed) {
  std::vector<float> out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) {
    uint32_t h = (static_cast<uint32_t>(i) + seed * 7919u) * 2654435761u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    h *= 3266489917u;
    h ^= h >> 16;
    out[i] = static_cast<float>(h * 0x1p-31 - 1);
  }
  return out;
}
std::vector<float> Positive(int64_t n) {
  std::vector<float> out = Uniform(n);
  for (float& v : out) v = 1 + 0.5f * v;
  return out;
}
std::vector<float> Ramp(int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(static_cast<double>(i) * (6.0 / static_cast<double>(n)) - 3.0);
  return out;
}
double Magnitude(const float* p, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::abs(static_cast<double>(p[i]));
  return sum;
}
double Magnitude(const std::vector<float>& v) { return Magnitude(v.data(), static_cast<int64_t>(v.size())); }

int Serve(int argc, char** argv, std::string_view what, const std::vector<Case>& cases,
          const std::function<void()>& start) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--list") return List(cases);
    if (word == "--start") {
      start();
      return 0;
    }
    if (word == "--small") settings.small = true;
    if (word == "--seconds" && i + 1 < argc) settings.seconds = std::stod(argv[++i]);
  }
  return Loop(what, cases, settings);
}

}  // namespace bench
