// Functions that multiply matrices on tensor cores (mma.sync, from sm_80 on), whose elements are spread over the lanes
// of a warp as PTX ISA says, "matrix fragments for mma.m16n8k16 with floating point type", "mma.m16n8k32" of integers,
// and "mma.m16n8k8" of tf32. Without a GPU they call ricci_meet_*, as those of device_tile.cc do.
#include "cuda/device/device_text.h"
#include "cuda/device/tensor_format.h"
#include "cuda/device/types.h"

namespace ricci::cuda {
namespace {

// As PTX says it.
std::string_view PtxName(uint32_t dtype) {
  switch (dtype) {
    case RICCI_I8:
      return "s8";
    case RICCI_U8:
      return "u8";
    case RICCI_F32:
      return "tf32";
    default:
      return DTypeName(dtype);
  }
}

}  // namespace

std::string MultiplyMatrices(DeviceText& d, uint32_t rows, uint32_t columns) {
  const bool is_integer = rows == RICCI_I8 || rows == RICCI_U8;
  const std::string of_rows(PtxName(rows)), of_columns(PtxName(columns));
  const std::string both = of_rows == of_columns ? of_rows : of_rows + "_" + of_columns;
  const std::string name = "ricci_dev_warp_multiply_" + both;
  return d.Function(name, [&] {
    return Fill(
        "void $n($t* sums, const u32* rows, const u32* columns) {\n"
        "#if __CUDA_ARCH__ >= 800\n"
        "  asm(\"mma.sync.aligned.m16n8k$k.row.col.$s.$a.$b.$s {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
        "%9}, \"\n"
        "      \"{%0, %1, %2, %3};\"\n"
        "      : \"+$r\"(sums[0]), \"+$r\"(sums[1]), \"+$r\"(sums[2]), \"+$r\"(sums[3])\n"
        "      : \"r\"(rows[0]), \"r\"(rows[1]), \"r\"(rows[2]), \"r\"(rows[3]), \"r\"(columns[0]), "
        "\"r\"(columns[1]));\n"
        "#elif !defined(__CUDA_ARCH__)\n"
        "  ricci_meet_mma_$m(sums, rows, columns);\n"
        "#endif\n}",
        {{'n', name},
         {'t', is_integer ? "i32" : "f32"},
         {'k', std::to_string(TripsOfMatrices(rows))},
         {'s', is_integer ? "s32" : "f32"},
         {'a', of_rows},
         {'b', of_columns},
         {'r', is_integer ? "r" : "f"},
         {'m', is_integer ? "integers<" + std::string(TypeName(rows)) + ", " + std::string(TypeName(columns)) + ">"
                          : both}});
  });
}

std::string RoundToTf32(DeviceText& d) {
  const std::string name = "ricci_dev_warp_round_to_tf32", number = RealOfBits(d, RICCI_F32, "bits[i]");
  return d.Function(name, [&] {
    return Fill(
        "void $n(u32* bits) {\n"
        "#pragma unroll\n"
        "  for (i32 i = 0; i < 4; ++i) {\n"
        "#if __CUDA_ARCH__ >= 800\n"
        "    asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(bits[i]) : \"f\"($f));\n"
        "#else\n"
        "    if ($f == $f) bits[i] = (bits[i] + 4096u) & ~8191u;\n"
        "#endif\n"
        "  }\n}",
        {{'n', name}, {'f', number}});
  });
}

}  // namespace ricci::cuda
