// A function of Values, traced into a program and run on `ref`, with inputs and results as doubles.
//
// The tests of the rows need little of a host binding: a context with the built-in primitives, programs made by
// transforms, and numbers in and out. Handles are released by shared_ptr.
#ifndef RICCI_TESTS_LAX_TRACED_FUNCTION_H_
#define RICCI_TESTS_LAX_TRACED_FUNCTION_H_
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "lax/optimized_run.h"
#include "ricci/plugin.hpp"
#include "ricci/ricci.h"

namespace ricci::testing {

using Program = std::shared_ptr<ricci_program>;
using Numbers = std::vector<double>;
using Function = std::function<Values(const Values&)>;

inline Program Own(ricci_program* p) { return Program(p, ricci_program_release); }

// A context with the built-in primitives and the reference backend.
class Bench {
 public:
  Bench() {
    ricci_ctx* ctx = nullptr;
    Check(ricci_context_create(nullptr, &ctx));
    ctx_ = std::shared_ptr<ricci_ctx>(ctx, ricci_context_release);
    Check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
    Check(ricci_context_add_plugin(ctx, ricci_plugin_query_nn));
  }
  ricci_ctx* context() const { return ctx_.get(); }
  ArrayType Type(DType dtype, Shape shape) const { return ArrayType::Make(context(), dtype, shape); }

  Program Trace(const std::vector<ArrayType>& params, const Function& f) const {
    std::vector<ricci_type> types;
    for (const ArrayType& t : params) types.push_back(t.id());
    std::vector<ricci_val> ids(params.size());
    ricci_builder* b = nullptr;
    Check(ricci_builder_create(context(), "f", 1, types.data(), static_cast<uint32_t>(types.size()), &b, ids.data()));
    std::unique_ptr<ricci_builder, void (*)(ricci_builder*)> guard(b, ricci_builder_abandon);
    Values in;
    for (ricci_val id : ids) in.push_back({b, id});
    std::vector<ricci_val> results;
    for (const Value& v : f(in)) results.push_back(v.id);
    ricci_program* p = nullptr;
    Check(ricci_builder_finish(b, results.data(), static_cast<uint32_t>(results.size()), &p));
    (void)guard.release();
    return Own(p);
  }

  std::vector<ArrayType> Params(const Program& p) const { return Signature(p, /*results=*/false); }
  std::vector<ArrayType> Results(const Program& p) const { return Signature(p, /*results=*/true); }

  // Runs on `ref` and also through all passes; both must agree.
  std::vector<Numbers> Run(const Program& p, const std::vector<Numbers>& inputs) const {
    ricci_compile_opts options{};
    options.hdr.size = sizeof options;
    ricci_device* const on = ricci_device_find(context(), "ref", 3);
    options.devices = &on;
    options.n_devices = 1;
    ricci_executable* raw = nullptr;
    Check(ricci_compile(p.get(), &options, &raw));
    const std::shared_ptr<ricci_executable> x(raw, ricci_executable_release);
    const std::vector<ArrayType> params = Params(p), results = Results(p);
    std::vector<std::shared_ptr<ricci_array>> owned;
    std::vector<ricci_array*> in;
    for (size_t i = 0; i < params.size(); ++i) {
      owned.push_back(ToArray(on, params[i], inputs.at(i)));
      in.push_back(owned.back().get());
    }
    std::vector<ricci_array*> out(results.size());
    Check(ricci_executable_run(raw, in.data(), static_cast<uint32_t>(in.size()), out.data(),
                               static_cast<uint32_t>(out.size()), nullptr));
    std::vector<Numbers> numbers;
    for (size_t i = 0; i < out.size(); ++i) {
      owned.emplace_back(out[i], ricci_array_release);
      numbers.push_back(ToNumbers(results[i], Bytes(out[i])));
    }
    CompareOptimized(p, in, results, numbers);
    return numbers;
  }

 private:
  std::vector<ArrayType> Signature(const Program& p, bool results) const {
    uint32_t n[2] = {};
    const ricci_type* types[2] = {};
    ricci_program_signature(p.get(), &n[0], &types[0], &n[1], &types[1]);
    std::vector<ArrayType> out;
    for (uint32_t i = 0; i < n[results]; ++i) out.emplace_back(context(), types[results][i]);
    return out;
  }
  static std::shared_ptr<ricci_array> ToArray(ricci_device* device, const ArrayType& t, const Numbers& numbers) {
    std::vector<unsigned char> bytes;
    for (double v : numbers) {
      const Element e = Encode(t.dtype(), v);
      bytes.insert(bytes.end(), e.bytes.begin(), e.bytes.begin() + e.size);
    }
    if (bytes.size() != static_cast<size_t>(t.elements() * SizeOf(t.dtype()))) Fail("input does not fit ", t);
    ricci_array* a = nullptr;
    Check(ricci_array_from_host(device, t.id(), bytes.data(), nullptr, &a));
    return {a, ricci_array_release};
  }
  template <typename T>
  static Numbers Cast(const std::vector<unsigned char>& bytes) {
    Numbers out(bytes.size() / sizeof(T));
    for (size_t i = 0; i < out.size(); ++i) {
      T v;
      std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
      out[i] = static_cast<double>(v);
    }
    return out;
  }
  static std::vector<unsigned char> Bytes(const ricci_array* a) {
    std::vector<unsigned char> bytes(ricci_array_bytes(a));
    Check(ricci_array_copy_to_host(a, bytes.data(), bytes.size()));
    return bytes;
  }
  static void CompareOptimized(const Program& p, const std::vector<ricci_array*>& in,
                               const std::vector<ArrayType>& results, const std::vector<Numbers>& want) {
    std::vector<void*> inputs, outputs;
    for (const ricci_array* a : in) inputs.push_back(const_cast<void*>(ricci_array_data(a)));
    std::vector<std::vector<unsigned char>> bytes;
    for (const ArrayType& t : results) bytes.emplace_back(static_cast<size_t>(t.elements() * SizeOf(t.dtype())));
    for (auto& b : bytes) outputs.push_back(b.data());
    RunOptimized(p.get(), inputs.data(), outputs.data());
    for (size_t i = 0; i < results.size(); ++i) {
      const Numbers got = ToNumbers(results[i], bytes[i]);
      for (size_t k = 0; k < got.size(); ++k) {
        const double bound = 1e-9 * std::max(1.0, std::fabs(want[i][k]));
        const bool near = got[k] == want[i][k] || std::fabs(got[k] - want[i][k]) <= bound;
        if (!near && !(std::isnan(got[k]) && std::isnan(want[i][k]))) {
          Fail("after all passes element ", k, " of result ", i, " is ", got[k], ", not ", want[i][k]);
        }
      }
    }
  }
  static Numbers ToNumbers(const ArrayType& t, const std::vector<unsigned char>& bytes) {
    switch (t.dtype()) {
      case DType::kF64:
        return Cast<double>(bytes);
      case DType::kF32:
        return Cast<float>(bytes);
      case DType::kF16:
      case DType::kBF16:
        return CastNarrow(bytes, t.dtype());
      case DType::kI64:
        return Cast<int64_t>(bytes);
      case DType::kI32:
        return Cast<int32_t>(bytes);
      case DType::kI16:
        return Cast<int16_t>(bytes);
      case DType::kI8:
        return Cast<int8_t>(bytes);
      case DType::kU64:
        return Cast<uint64_t>(bytes);
      case DType::kU32:
        return Cast<uint32_t>(bytes);
      case DType::kU16:
        return Cast<uint16_t>(bytes);
      case DType::kU8:
      case DType::kBool:
        return Cast<uint8_t>(bytes);
      default:
        Fail("no numbers from ", t);
    }
  }
  // Elements of a 16-bit floating format.
  static Numbers CastNarrow(const std::vector<unsigned char>& bytes, DType dtype) {
    Numbers out = Cast<uint16_t>(bytes);
    for (double& v : out) v = ricci_float_decode(FormatOf(dtype), static_cast<uint64_t>(v));
    return out;
  }

  std::shared_ptr<ricci_ctx> ctx_;
};

}  // namespace ricci::testing
#endif
