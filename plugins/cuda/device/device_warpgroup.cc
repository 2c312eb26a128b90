// Functions for products of groups of four warps (wgmma of sm_90a), whose factors tensor cores read from shared memory
// themselves, while the threads do something else.
//
// A factor is named by a descriptor: where it begins, how its lines lie, and how groups of 16 bytes change places in
// them (PTX ISA, "asynchronous warpgroup level matrix instructions"; tile_layout.h is the other half). Sums are
// operands of BeginProducts and FinishProducts, so that the compiler moves no use of them in between: products that it
// must serialise (its advisory C7510) would lose what the instruction is for.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"

namespace ricci::cuda {
namespace {

std::string N(int64_t v) { return std::to_string(v); }

// `%0, %1, ... %31`, in lines of a string literal.
std::string Operands(int64_t n) {
  std::string text;
  for (int64_t i = 0; i < n; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(i % 16 == 0 && i != 0 ? "\"\n      \"" : "") + "%" + N(i);
  }
  return text;
}
// `"+f"(sums[0]), ...`
std::string Sums(int64_t n) {
  std::string text;
  for (int64_t i = 0; i < n; ++i) {
    text += (i == 0 ? "" : i % 8 == 0 ? ",\n        " : ", ") + ("\"+f\"(sums[" + N(i) + "])");
  }
  return text;
}

// A function that only orders; `meets`: what it calls without a GPU.
std::string Ordering(DeviceText& d, const std::string& name, const std::string& ptx, int64_t columns,
                     const std::string& meets) {
  return OnSm90a(d, name, "f32* sums", meets,
                 "  asm volatile(\"" + ptx + "\"\n      : " + Sums(columns / 2) + " :: \"memory\");");
}

}  // namespace

std::string ShowToTensorCores(DeviceText& d) {
  return d.Function("ricci_dev_show_to_tensor_cores", [] {
    return "__forceinline__ void ricci_dev_show_to_tensor_cores() {\n"
           "#ifndef __CUDA_ARCH__\n"
           "  ricci_fence_proxy_async();\n"
           "#elif __CUDA_ARCH__ >= 900\n"
           "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n"
           "#endif\n}";
  });
}

std::string MatrixInShared(DeviceText& d, int64_t bytes) {
  const std::string name = "ricci_dev_warpgroup_matrix_" + N(bytes);
  return d.Function(name, [&] {
    return Fill(
        "__forceinline__ u64 $n(const u16* first, u32 leading, u32 stride) {\n"
        "#ifdef __CUDA_ARCH__\n"
        "  const u32 address = (u32)__cvta_generic_to_shared(first);\n"
        "#else\n"
        "  const u32 address = ricci_shared_address(first);\n"
        "#endif\n"
        "  return (u64)$m << 62 | (u64)(stride >> 4) << 32 | (u64)(leading >> 4) << 16 | (u64)(address >> 4);\n}",
        {{'n', name},
         {'m', bytes == 128  ? "1"
               : bytes == 64 ? "2"
                             : "3"}});
  });
}

std::string BeginProducts(DeviceText& d, int64_t columns) {
  return Ordering(d, "ricci_dev_warpgroup_begin_" + N(columns), "wgmma.fence.sync.aligned;", columns,
                  "ricci_meet_wgmma_fence();");
}

std::string FinishProducts(DeviceText& d, int64_t columns) {
  return Ordering(d, "ricci_dev_warpgroup_finish_" + N(columns),
                  "wgmma.commit_group.sync.aligned;\\n\"\n      \"wgmma.wait_group.sync.aligned 0;", columns,
                  "ricci_meet_wgmma_commit();\n  ricci_meet_wgmma_wait(0);");
}

std::string WaitForSums(DeviceText& d, int64_t columns) {
  return Ordering(d, "ricci_dev_warpgroup_wait_" + N(columns), "wgmma.wait_group.sync.aligned 0;", columns,
                  "ricci_meet_wgmma_wait(0);");
}

std::string MultiplyShared(DeviceText& d, const WarpgroupProduct& p) {
  const auto way = [](bool along_sum) { return along_sum ? "k" : "m"; };
  const std::string type(DTypeName(p.dtype)), columns = N(p.columns);
  const std::string name =
      "ricci_dev_warpgroup_multiply_" + type + "_" + columns + "_" + way(p.rows_along_sum) + way(p.columns_along_sum);
  return d.Function(name, [&] {
    return Fill(
        "__forceinline__ void $n(f32* sums, u64 rows, u64 columns) {\n"
        "#ifndef __CUDA_ARCH__\n"
        "  ricci_meet_wgmma_$t(sums, $c, rows, columns, $x, $y);\n"
        "#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
        "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n$ck16.f32.$t.$t {\"\n"
        "      \"$o\"\n"
        "      \"}, %$r, %$s, 1, 1, 1, $x, $y;\"\n"
        "      : $a\n"
        "      : \"l\"(rows), \"l\"(columns));\n"
        "#endif\n}",
        {{'n', name},
         {'t', type},
         {'c', columns},
         {'x', p.rows_along_sum ? "0" : "1"},
         {'y', p.columns_along_sum ? "0" : "1"},
         {'o', Operands(p.columns / 2)},
         {'r', N(p.columns / 2)},
         {'s', N(p.columns / 2 + 1)},
         {'a', Sums(p.columns / 2)}});
  });
}

}  // namespace ricci::cuda
