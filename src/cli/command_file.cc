// info, convert: what is in a file, and the same in another form.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>

#include "cli/command.h"
#include "cli/stored_arrays.h"

namespace ricci { inline namespace v0 { namespace cli {
namespace {

// ---- info ----
// How often each primitive is used in a program and those nested in it; each distinct program is counted once.
struct Census {
  std::map<std::string, uint64_t> uses;
  std::set<const ricci_program*> programs;
  std::map<std::string, uint64_t> callbacks;  // functions of the host, by name
  uint64_t equations = 0;

  void Count(const Session& session, const ricci_program* f) {
    if (!programs.insert(f).second) return;
    for (uint32_t i = 0; i < ricci_program_equation_count(f); ++i) {
      ricci_op op{};
      op.hdr.size = sizeof op;
      Check(ricci_program_equation(f, i, &op));
      ricci_str name{};
      ricci_prim_name(session.context(), op.prim, &name);
      ++uses[std::string(View(name))];
      ++equations;
      for (uint32_t a = 0; a < op.n_attrs; ++a) CountAttr(session, op.attrs[a]);
    }
  }
  void CountAttr(const Session& session, const ricci_attr& a) {
    if (a.kind == RICCI_ATTR_STRING && View(a.name) == "callback")
      ++callbacks[std::string(static_cast<const char*>(a.data), a.count)];
    if (a.kind != RICCI_ATTR_PROGRAM && a.kind != RICCI_ATTR_PROGRAMS) return;
    for (uint32_t i = 0; i < a.count; ++i) Count(session, static_cast<ricci_program* const*>(a.data)[i]);
  }
};

std::string Types(const Session& session, const std::vector<ricci_type>& types) {
  std::string text = "(";
  for (size_t i = 0; i < types.size(); ++i) text += (i == 0 ? "" : ", ") + session.TypeText(types[i]);
  return text + ")";
}

uint64_t BytesOf(const Session& session, const std::vector<ricci_type>& types) {
  uint64_t out = 0;
  for (ricci_type t : types) out += session.Info(t).bytes();
  return out;
}

// A program that calls functions of the host compiles where there are some of their names; these are never called.
void AddStandIns(const Session& session, const std::map<std::string, uint64_t>& callbacks) {
  ricci_callback f{};
  f.hdr.size = sizeof f;
  f.call = [](void*, const ricci_callback_call*) {
    constexpr std::string_view kText = "info runs nothing";
    return ricci_status_make(RICCI_INTERNAL, kText.data(), kText.size());
  };
  for (const auto& [name, uses] : callbacks) {
    ricci_status_free(ricci_context_add_callback(session.context(), name.data(), name.size(), &f));
  }
}

// Counted in the plan of the reference device, with all passes.
void PrintCosts(const Session& session, const ricci_program* p) try {
  const Executable x = Compile(p, session.Device("ref"), 0);
  ricci_executable_stats stats{};
  stats.hdr.size = sizeof stats;
  ricci_executable_info(x.get(), &stats);
  std::printf("constants   %" PRIu64 " bytes\noperations  %" PRIu64 " floating, per run\n", stats.constant_bytes,
              stats.flops);
} catch (const Failure& e) {
  std::printf("operations  not counted, because the program does not compile: %s\n", e.what());
}

void PrintUses(const std::map<std::string, uint64_t>& uses) {
  for (const auto& [name, n] : uses) std::printf("  %-22s %" PRIu64 "\n", name.c_str(), n);
}

void InfoOfProgram(const Session& session, const ricci_program* p, bool binary) {
  ricci_str name{};
  ricci_program_name(p, &name);
  const Signature s = SignatureOf(p);
  Census census;
  census.Count(session, p);
  std::printf("%s program %.*s: %s -> %s\n", binary ? "binary" : "text", static_cast<int>(name.len), name.ptr,
              Types(session, s.params).c_str(), Types(session, s.results).c_str());
  std::printf("arguments   %" PRIu64 " bytes\nresults     %" PRIu64 " bytes\n", BytesOf(session, s.params),
              BytesOf(session, s.results));
  std::erase_if(census.callbacks, [&](const auto& f) {
    return ricci_context_callback(session.context(), f.first.data(), f.first.size()) != nullptr;
  });
  AddStandIns(session, census.callbacks);
  PrintCosts(session, p);
  std::printf("equations   %" PRIu64 ", in %zu program%s\n", census.equations, census.programs.size(),
              census.programs.size() == 1 ? "" : "s");
  PrintUses(census.uses);
  if (census.callbacks.empty()) return;
  std::printf("functions   %zu of the host, which a context must know to run it (ricci_context_add_callback)\n",
              census.callbacks.size());
  PrintUses(census.callbacks);
}

constexpr const char* kFormats[] = {"", "npy", "npz", "safetensors"};

void InfoOfArrays(const ricci_array_file* f) {
  const std::vector<ricci_named_array> arrays = ArraysOf(f);
  uint64_t bytes = 0;
  for (const ricci_named_array& a : arrays) bytes += a.bytes;
  std::printf("%s: %zu array%s, %" PRIu64 " bytes\n", kFormats[ricci_array_file_format(f)], arrays.size(),
              arrays.size() == 1 ? "" : "s", bytes);
  for (const ricci_named_array& a : arrays) {
    std::printf("  %.*s%s%s\n", static_cast<int>(a.name.len), a.name.ptr, a.name.len == 0 ? "" : ": ",
                Session::TypeText(a.dtype, a.dims, a.rank).c_str());
  }
}

// Does the file hold arrays? Programs are text, or have a magic of their own.
bool HoldsArrays(std::string_view bytes) {
  if (ricci_program_is_binary(bytes.data(), bytes.size()) != 0) return false;
  const bool numpy = bytes.substr(0, 6) == "\x93NUMPY" || bytes.substr(0, 2) == "PK";
  return numpy || (bytes.size() > 8 && bytes[7] == 0 && bytes[8] == '{');
}

// Arrays are read from files.
const std::string& ArraysPath(const std::string& path) {
  if (path == "-") throw Failure("standard input holds arrays, which are read from a file; give its name");
  return path;
}

void Info(const Session& session, const Arguments& arguments) {
  const std::string& path = arguments.file();
  const std::string bytes = ReadAll(path);
  if (HoldsArrays(bytes)) return InfoOfArrays(LoadArrays(session, ArraysPath(path)).get());
  const Program p = session.ToProgram(bytes, path);
  InfoOfProgram(session, p.get(), ricci_program_is_binary(bytes.data(), bytes.size()) != 0);
}

// ---- convert ----
bool NamesArrays(std::string_view path) {
  return std::any_of(std::begin(kFormats) + 1, std::end(kFormats),
                     [&](std::string_view format) { return path.ends_with("." + std::string(format)); });
}

void ConvertProgram(const Session& session, const std::string& bytes, const std::string& from, const std::string& to,
                    std::string form) {
  const Program p = session.ToProgram(bytes, from);
  if (form.empty()) {
    if (NamesArrays(to)) {
      throw Failure(to + ": that ending is one of arrays, and " + (from == "-" ? "<stdin>" : from) +
                    " holds a program");
    }
    form = ricci_program_is_binary(bytes.data(), bytes.size()) != 0 ? "text" : "binary";
  }
  if (form == "text") return WriteAll(to, TextOf(p.get()));
  if (form != "binary") throw UsageError("--to: a program is text or binary, not `" + form + "`");
  Check(ricci_program_save(p.get(), to.data(), to.size()));
}

void ConvertArrays(const Session& session, const std::string& from, const std::string& to, const std::string& form) {
  uint32_t format = form.empty() ? 0 : RICCI_ARRAYS_SAFETENSORS + 1;
  for (uint32_t i = 1; i < std::size(kFormats); ++i) {
    if (form == kFormats[i]) format = i;
  }
  if (format > RICCI_ARRAYS_SAFETENSORS) {
    throw UsageError("--to: arrays are npy, npz or safetensors, not `" + form + "`");
  }
  const ArrayFile file = LoadArrays(session, from);
  std::vector<ricci_named_array> arrays = ArraysOf(file.get());
  for (ricci_named_array& a : arrays) {
    if (a.name.len == 0) a.name = {"0", 1};  // an array of npy has no name; the other formats need one
  }
  Check(ricci_array_file_save(to.data(), to.size(), format, arrays.data(), static_cast<uint32_t>(arrays.size())));
}

void Convert(const Session& session, const Arguments& arguments) {
  const auto to = arguments.option("output");
  const std::string& from = arguments.file();
  if (!to) throw UsageError("takes --output FILE");
  const std::string bytes = ReadAll(from), form = arguments.option_or("to", "");
  if (HoldsArrays(bytes)) return ConvertArrays(session, ArraysPath(from), *to, form);
  ConvertProgram(session, bytes, from, *to, form);
}

}  // namespace

std::span<const Command> FileCommands() {
  static const Command kCommands[] = {
      {"info",
       "FILE",
       "what is in a file: of a program its signature, sizes and primitives; of arrays names and types",
       "\nReads programs as text and binary, and .npy, .npz and .safetensors. Floating operations and constants are\n"
       "counted in the optimized program; a loop with an unknown trip count counts as one trip.\n",
       {},
       {},
       Info},
      {"convert",
       "--output FILE [OPTIONS] FILE",
       "writes a program or arrays in another form",
       "\nA text program becomes a binary one, and the reverse. Arrays are written by the ending of the output: .npy\n"
       "(one array), .npz, .safetensors; an array that has no name gets the name 0.\n"
       "\n  --output FILE  what to write\n"
       "  --to FORM      text or binary; npy, npz or safetensors\n",
       {"output", "to"},
       {},
       Convert},
  };
  return kCommands;
}

}}}  // namespace ricci::v0::cli
