// ProgramRunner: parses program text, transforms it, runs it on a device, all through the C ABI, on numbers as doubles.
#ifndef RICCI_TESTS_SUPPORT_PROGRAM_RUNNER_H_
#define RICCI_TESTS_SUPPORT_PROGRAM_RUNNER_H_
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/primitive.h"
#include "ricci/ricci.h"

namespace ricci::testing {

using Numbers = std::vector<double>;

inline std::string Message(ricci_status* s) {
  ricci_str text;
  ricci_status_message(s, &text);
  std::string out(text.ptr, text.len);
  ricci_status_free(s);
  return out;
}
// Fails the test with the message unless `s` is OK.
inline bool Ok(ricci_status* s) {
  if (s == nullptr) return true;
  ADD_FAILURE() << Message(s);
  return false;
}

struct ReleaseProgram {
  void operator()(ricci_program* p) const { ricci_program_release(p); }
};
using Program = std::unique_ptr<ricci_program, ReleaseProgram>;

class ProgramRunner {
 public:
  explicit ProgramRunner(const ricci_context_opts* options = nullptr) {
    EXPECT_TRUE(Ok(ricci_context_create(options, &ctx_)));
    // RICCI_TEST_LAX: the plugin as a shared object, in place of the one in the core.
    const char* loaded = std::getenv("RICCI_TEST_LAX");
    EXPECT_TRUE(Ok(loaded == nullptr ? ricci_context_add_plugin(ctx_, ricci_plugin_query_lax)
                                     : ricci_context_load_plugin(ctx_, loaded, std::strlen(loaded))));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx_, ricci_plugin_query_nn)));
#ifdef RICCI_TEST_CPU
    EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx_, ricci_plugin_query_cpu)));
#endif
  }
  // The kinds of the available devices.
  std::vector<std::string> Devices() const {
    std::vector<std::string> kinds;
    for (uint32_t i = 0; i < ricci_device_count(ctx_); ++i) {
      ricci_device_desc d{};
      d.hdr.size = sizeof d;
      ricci_device_info(ricci_device_get(ctx_, i), &d);
      kinds.emplace_back(d.kind.ptr, d.kind.len);
    }
    return kinds;
  }
  ~ProgramRunner() { ricci_context_release(ctx_); }
  ProgramRunner(const ProgramRunner&) = delete;
  ricci_ctx* ctx() const { return ctx_; }

  Program Parse(std::string_view text) {
    ricci_program* p = nullptr;
    Ok(ricci_program_parse(ctx_, text.data(), text.size(), "test", 4, &p));
    return Program(p);
  }
  // The message of the error that parsing this must give.
  std::string ParseError(std::string_view text) {
    ricci_program* p = nullptr;
    ricci_status* s = ricci_program_parse(ctx_, text.data(), text.size(), "test", 4, &p);
    EXPECT_NE(s, nullptr);
    return Message(s);
  }

  Program Grad(const Program& f, std::vector<uint32_t> argnums = {0}, bool with_value = false) {
    ricci_program* p = nullptr;
    Ok(ricci_grad(f.get(), argnums.data(), static_cast<uint32_t>(argnums.size()), with_value, &p));
    return Program(p);
  }
  Program Jvp(const Program& f, std::vector<uint8_t> active) {
    ricci_program* p = nullptr;
    Ok(ricci_jvp(f.get(), active.data(), static_cast<uint32_t>(active.size()), &p));
    return Program(p);
  }
  Program Vmap(const Program& f, std::vector<int32_t> in_axes, std::vector<int32_t> out_axes, int64_t size) {
    ricci_program* p = nullptr;
    Ok(ricci_vmap(f.get(), in_axes.data(), static_cast<uint32_t>(in_axes.size()), out_axes.data(),
                  static_cast<uint32_t>(out_axes.size()), size, nullptr, &p));
    return Program(p);
  }
  Program Batch(const Program& f, std::vector<uint8_t> batched, int64_t size) {
    ricci_program* p = nullptr;
    std::vector<uint8_t> out(64, 1);
    Ok(ricci_batch(f.get(), batched.data(), static_cast<uint32_t>(batched.size()), size, nullptr, out.data(), &p));
    return Program(p);
  }
  std::string Print(const Program& f) {
    std::string text;
    Ok(ricci_program_print(f.get(), &text, Append));
    return text;
  }
  // Text of a stage of the compilation for `device`.
  std::string Dump(const Program& f, std::string_view stage, std::string_view device) {
    std::string text;
    if (ricci_executable* x = Compile(f, device)) {
      Ok(ricci_executable_dump(x, stage.data(), stage.size(), &text, Append));
      ricci_executable_release(x);
    }
    return text;
  }

  // Runs `f` on every device, checks that they agree with `ref` and gives its results.
  std::vector<Numbers> RunEverywhere(const Program& f, const std::vector<Numbers>& args, double tolerance = 1e-9) {
    const std::vector<Numbers> want = Run(f, args, "ref");
    for (const std::string& device : Devices()) {
      if (device == "ref") continue;
      const std::vector<Numbers> got = Run(f, args, device);
      EXPECT_EQ(got.size(), want.size()) << device;
      for (size_t i = 0; i < got.size() && i < want.size(); ++i) ExpectSame(got[i], want[i], tolerance, device);
    }
    return want;
  }

  // Runs `f` on `device`; arguments and results row-major, one list per parameter and result. Empty after a failure.
  std::vector<Numbers> Run(const Program& f, const std::vector<Numbers>& args, std::string_view device = "ref") {
    std::vector<Numbers> values;
    Ok(Try(f, args, device, &values));
    return values;
  }
  // The message of the status that running `f` must give on every device.
  std::string RunError(const Program& f, const std::vector<Numbers>& args) {
    std::string message;
    for (const std::string& device : Devices()) {
      std::vector<Numbers> values;
      ricci_status* s = Try(f, args, device, &values);
      EXPECT_NE(s, nullptr) << device;
      const std::string now = Message(s);
      EXPECT_EQ(now, message.empty() ? now : message) << device;
      message = now;
    }
    return message;
  }

  // The same on one device.
  std::string RunErrorOn(const Program& f, const std::vector<Numbers>& args, std::string_view device) {
    std::vector<Numbers> values;
    ricci_status* s = Try(f, args, device, &values);
    EXPECT_NE(s, nullptr) << device;
    return Message(s);
  }

 private:
  ricci_status* Try(const Program& f, const std::vector<Numbers>& args, std::string_view device,
                    std::vector<Numbers>* values) {
    ricci_executable* x = Compile(f, device);
    if (x == nullptr) return nullptr;
    uint32_t n_params, n_results;
    const ricci_type *params, *results;
    ricci_executable_signature(x, &n_params, &params, &n_results, &results);
    EXPECT_EQ(n_params, args.size());
    ricci_device* d = ricci_device_find(ctx_, device.data(), device.size());
    std::vector<ricci_array*> in(n_params), out(n_results);
    for (uint32_t i = 0; i < n_params; ++i) in[i] = ToArray(d, params[i], args[i]);
    ricci_status* const status = ricci_executable_run(x, in.data(), n_params, out.data(), n_results, nullptr);
    for (ricci_array* a : out) {
      if (status == nullptr) values->push_back(FromArray(a));
    }
    for (ricci_array* a : in) ricci_array_release(a);
    for (ricci_array* a : out) ricci_array_release(a);
    ricci_executable_release(x);
    return status;
  }

  static void ExpectSame(const Numbers& got, const Numbers& want, double tolerance, const std::string& device) {
    ASSERT_EQ(got.size(), want.size()) << device;
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;  // infinities are equal
      EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << device << ", element " << i;
    }
  }
  static void Append(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

  ricci_executable* Compile(const Program& f, std::string_view device) {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(ctx_, device.data(), device.size());
    o.devices = &on;
    o.n_devices = 1;
    EXPECT_NE(on, nullptr) << "no device " << device;
    ricci_executable* x = nullptr;
    if (f == nullptr || !Ok(ricci_compile(f.get(), &o, &x))) return nullptr;
    return x;
  }
  struct Type {
    uint32_t dtype, rank;
    const int64_t* dims;
    int64_t elements = 1;
  };
  Type Get(ricci_type t) {
    ricci_type_desc d = ricci_type_desc_default();
    Ok(ricci_type_get(ctx_, t, &d));
    Type out{d.dtype, d.rank, d.dims, 1};
    for (uint32_t i = 0; i < out.rank; ++i) out.elements *= out.dims[i];
    return out;
  }
  template <typename T>
  static void Write(std::vector<std::byte>& to, const Numbers& from) {
    to.resize(from.size() * sizeof(T));
    for (size_t i = 0; i < from.size(); ++i) {
      const T v = static_cast<T>(from[i]);
      std::memcpy(to.data() + i * sizeof(T), &v, sizeof(T));
    }
  }
  ricci_array* ToArray(ricci_device* d, ricci_type t, const Numbers& from) {
    std::vector<std::byte> bytes;
    const Type type = Get(t);
    EXPECT_EQ(static_cast<int64_t>(from.size()), type.elements);
    switch (type.dtype) {
      case RICCI_BOOL:
        Write<uint8_t>(bytes, from);
        break;
      case RICCI_I32:
        Write<int32_t>(bytes, from);
        break;
      case RICCI_I64:
        Write<int64_t>(bytes, from);
        break;
      case RICCI_U32:
        Write<uint32_t>(bytes, from);
        break;
      case RICCI_F32:
        Write<float>(bytes, from);
        break;
      case RICCI_F64:
        Write<double>(bytes, from);
        break;
      default:
        ADD_FAILURE() << "dtype " << type.dtype;
    }
    ricci_array* a = nullptr;
    Ok(ricci_array_from_host(d, t, bytes.data(), nullptr, &a));
    return a;
  }
  template <typename T>
  static Numbers Read(const void* data, int64_t n) {
    Numbers out;
    for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>(static_cast<const T*>(data)[i]));
    return out;
  }
  Numbers FromArray(ricci_array* a) {
    const Type type = Get(ricci_array_type(a));
    std::vector<std::byte> bytes(ricci_array_bytes(a));  // the array may be in memory that the host cannot read
    if (!Ok(ricci_array_copy_to_host(a, bytes.data(), bytes.size()))) return {};
    const void* const data = bytes.data();
    switch (type.dtype) {
      case RICCI_BOOL:
        return Read<uint8_t>(data, type.elements);
      case RICCI_I32:
        return Read<int32_t>(data, type.elements);
      case RICCI_I64:
        return Read<int64_t>(data, type.elements);
      case RICCI_U8:
        return Read<uint8_t>(data, type.elements);
      case RICCI_U16:
        return Read<uint16_t>(data, type.elements);
      case RICCI_U32:
        return Read<uint32_t>(data, type.elements);
      case RICCI_U64:
        return Read<uint64_t>(data, type.elements);
      case RICCI_F32:
        return Read<float>(data, type.elements);
      case RICCI_F64:
        return Read<double>(data, type.elements);
      default:
        ADD_FAILURE() << "dtype " << type.dtype;
        return {};
    }
  }

  ricci_ctx* ctx_ = nullptr;
};

inline void ExpectNear(const Numbers& got, const Numbers& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << "element " << i;
  }
}

// The gradient of the scalar result 0 with respect to argument `arg`, by central differences.
inline Numbers FiniteDifferences(ProgramRunner& r, const Program& f, std::vector<Numbers> args, size_t arg = 0) {
  constexpr double kStep = 1e-6;
  Numbers out;
  for (size_t i = 0; i < args[arg].size(); ++i) {
    const double x = args[arg][i];
    args[arg][i] = x + kStep;
    const double up = r.Run(f, args)[0][0];
    args[arg][i] = x - kStep;
    const double down = r.Run(f, args)[0][0];
    args[arg][i] = x;
    out.push_back((up - down) / (2 * kStep));
  }
  return out;
}

}  // namespace ricci::testing
#endif
