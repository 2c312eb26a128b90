// SameBytes: programs on the simulated GPU must give the same bytes as on `ref`, whatever the addresses of their
// arguments are; where products are contracted with sums, as on `cpu`.
#ifndef RICCI_TESTS_CUDA_SAME_BYTES_H_
#define RICCI_TESTS_CUDA_SAME_BYTES_H_
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing {

struct ReleaseArray {
  void operator()(ricci_array* a) const { ricci_array_release(a); }
};
using Array = std::unique_ptr<ricci_array, ReleaseArray>;
using Bytes = std::vector<unsigned char>;

struct Ways {
  uint64_t shift = 0;          // elements between an aligned address and each argument
  bool donate = false;         // argument 0 of two
  int32_t alias = 0;           // what result 0 then shares with: argument 0, or nothing (-1)
  std::string_view like = {};  // `ref`, or what the fixture chooses
  bool again = false;          // also once more with aligned addresses, and then with these
};

class SameBytes : public ::testing::Test {
 protected:
  explicit SameBytes(ricci_plugin_query_fn gpu = QuerySimulatedGpu) {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), gpu)));
#ifdef RICCI_CUDA_TEST_CPU
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), ricci_plugin_query_cpu)));
#endif
  }

  void ExpectSameBytes(const Program& f, Ways ways = {}) {
    if (ways.like.empty()) ways.like = "ref";
    const bool is_there = ricci_device_find(runner_.ctx(), ways.like.data(), ways.like.size()) != nullptr;
    if (!is_there) GTEST_SKIP() << "built without the backend `" << ways.like << "`";
    const std::vector<Bytes> want = Run(f, ways.like, {}), got = Run(f, "cuda", ways);
    ASSERT_EQ(got.size(), want.size());
    for (size_t r = 0; r < want.size(); ++r) {
      ASSERT_EQ(got[r].size(), want[r].size());
      if (got[r] == want[r]) continue;
      const auto at = std::mismatch(got[r].begin(), got[r].end(), want[r].begin()).first - got[r].begin();
      EXPECT_EQ(static_cast<size_t>(at), got[r].size()) << "result " << r << " differs at this byte";
    }
  }

  std::vector<Bytes> Run(const Program& f, std::string_view device, Ways ways);

  ProgramRunner runner_;
  bool all_f8_ = false;  // arguments of 8 bits hold all patterns of bits

 private:
  // Small numbers that sums and products of a few keep exactly.
  static void Append(Bytes& to, uint32_t dtype, uint64_t i) {
    const auto add = [&](auto v) {
      to.insert(to.end(), reinterpret_cast<unsigned char*>(&v), reinterpret_cast<unsigned char*>(&v) + sizeof v);
    };
    const auto v = static_cast<int>(i * 37 % 61) - 30;
    const auto single = static_cast<float>(v);
    switch (dtype) {
      case RICCI_BOOL:
        return add(static_cast<uint8_t>(v > 0));
      case RICCI_F8E4M3FN:
      case RICCI_F8E5M2: {  // from -4 to 4, so that sums stay exact
        static constexpr uint8_t kSizes[2][5] = {{0, 0x38, 0x40, 0x44, 0x48}, {0, 0x3c, 0x40, 0x42, 0x44}};
        const int size = std::abs(v) % 5;
        return add(static_cast<uint8_t>(kSizes[dtype == RICCI_F8E5M2][size] | (v < 0 && size != 0 ? 0x80 : 0)));
      }
      case RICCI_U8:
      case RICCI_I8:
        return add(static_cast<uint8_t>(v));
      case RICCI_U16:
      case RICCI_I16:
        return add(static_cast<uint16_t>(v));
      case RICCI_U32:
      case RICCI_I32:
        return add(v);
      case RICCI_KEY:
      case RICCI_U64:
      case RICCI_I64:
        return add(int64_t{v});
      case RICCI_C64:
        add(single);
        return add(single / 2);
      case RICCI_C128:
        add(static_cast<double>(v));
        return add(static_cast<double>(v) / 2);
      case RICCI_F64:
        return add(static_cast<double>(v));
      case RICCI_BF16: {
        uint32_t bits;
        std::memcpy(&bits, &single, sizeof bits);
        return add(static_cast<uint16_t>(bits >> 16));
      }
      case RICCI_F16: {  // of such numbers the exponent needs another bias, the rest fits
        uint32_t bits;
        std::memcpy(&bits, &single, sizeof bits);
        return add(static_cast<uint16_t>(v == 0 ? 0 : bits >> 31 << 15 | ((bits >> 13 & 0x3ffff) - (112 << 10))));
      }
      default:
        return add(single);
    }
  }

  // So many of them. They repeat, and are copied, since arguments of products are large.
  static Bytes BytesOf(uint32_t dtype, uint64_t n) {
    constexpr uint64_t kPeriod = 61;
    Bytes some, all(n * ricci_dtype_size(dtype));
    for (uint64_t i = 0; i < kPeriod; ++i) Append(some, dtype, i);
    for (uint64_t at = 0; at < all.size(); at += some.size()) {
      std::memcpy(all.data() + at, some.data(), std::min(some.size(), all.size() - at));
    }
    return all;
  }

  // The results of `x` for arguments that are `shift` elements after an aligned address.
  std::vector<Bytes> RunOnce(ricci_executable* x, ricci_device* d, uint64_t shift);
  // `shift` elements after the begin of memory that `memory` then owns.
  ricci_array* Argument(ricci_device* d, ricci_type t, uint64_t shift, Array& memory) {
    ricci_type_desc desc = ricci_type_desc_default();
    EXPECT_TRUE(Ok(ricci_type_get(runner_.ctx(), t, &desc)));
    int64_t elements = 1;
    for (uint32_t i = 0; i < desc.rank; ++i) elements *= desc.dims[i];
    Bytes bytes, more(shift * ricci_dtype_size(desc.dtype));
    if (all_f8_) {
      for (int64_t i = 0; i < elements; ++i) bytes.push_back(static_cast<unsigned char>(i * 7 + i / 256));
    } else {
      bytes = BytesOf(desc.dtype, static_cast<uint64_t>(elements));
    }
    ricci_array* out = nullptr;
    if (shift == 0) {
      EXPECT_TRUE(Ok(ricci_array_from_host(d, t, bytes.data(), nullptr, &out)));
      return out;
    }
    more.insert(more.end(), bytes.begin(), bytes.end());
    const auto n = static_cast<int64_t>(more.size());
    const ricci_type_desc line = ricci_type_desc_of(RICCI_U8, 1, &n);
    ricci_type longer = 0;
    EXPECT_TRUE(Ok(ricci_type_make(runner_.ctx(), &line, &longer)));
    EXPECT_TRUE(Ok(ricci_array_from_host(d, longer, more.data(), nullptr, &out)));
    memory.reset(out);
    char* const data = static_cast<char*>(ricci_array_device_data(out)) + shift * ricci_dtype_size(desc.dtype);
    EXPECT_TRUE(Ok(ricci_array_wrap(d, t, data, nullptr, nullptr, nullptr, &out)));
    return out;
  }
};

inline std::vector<Bytes> SameBytes::RunOnce(ricci_executable* x, ricci_device* d, uint64_t shift) {
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
  ricci_executable_signature(x, &n_params, &params, &n_results, &results);
  std::vector<ricci_array*> in, out(n_results);
  std::vector<Array> owners, memory(n_params);
  for (uint32_t i = 0; i < n_params; ++i) {
    in.push_back(Argument(d, params[i], shift, memory[i]));
    owners.emplace_back(in.back());
  }
  std::vector<Bytes> bytes;
  if (Ok(ricci_executable_run(x, in.data(), n_params, out.data(), n_results, nullptr))) {
    for (ricci_array* a : out) {
      bytes.emplace_back(ricci_array_bytes(a));
      EXPECT_TRUE(Ok(ricci_array_copy_to_host(a, bytes.back().data(), bytes.back().size())));
      ricci_array_release(a);
    }
  }
  return bytes;
}

inline std::vector<Bytes> SameBytes::Run(const Program& f, std::string_view device, Ways ways) {
  ricci_device* const d = ricci_device_find(runner_.ctx(), device.data(), device.size());
  ricci_compile_opts o = ricci_compile_opts_default();
  const uint8_t donate[] = {1, 0};
  o.devices = &d;
  o.n_devices = 1;
  if (ways.donate) {
    o.donate = donate;
    o.n_donate = 2;
  }
  ricci_executable* x = nullptr;
  if (f == nullptr || !Ok(ricci_compile(f.get(), &o, &x))) return {};
  EXPECT_EQ(ricci_executable_alias(x, 0), ways.donate ? ways.alias : -1);
  const std::vector<Bytes> bytes = RunOnce(x, d, ways.shift);
  if (ways.again) {
    EXPECT_TRUE(RunOnce(x, d, 0) == bytes);
    EXPECT_TRUE(RunOnce(x, d, ways.shift) == bytes);
  }
  ricci_executable_release(x);
  return bytes;
}

}  // namespace ricci::testing
#endif
