// Functions for tiles: copies that pass the registers by, and matrices for tensor cores (device_matrix.cc multiplies
// them). What they ask of the GPU is PTX, inside of these functions only; without a GPU (__CUDA_ARCH__ is not defined)
// they call ricci_meet_*, which the program that runs the text on a processor provides (tests/cuda/standin). Layouts of
// matrices are those of PTX ISA, "ldmatrix".
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"

namespace ricci::cuda {

std::string CopyTogether(DeviceText& d, const std::string& type, int64_t n) {
  const std::string count = std::to_string(n), vector = d.Vector(type, n), name = "ricci_dev_copy_" + vector;
  const int64_t bytes = n * (type == "i8" || type == "u8"                      ? 1
                             : type == "u16"                                   ? 2
                             : type == "f64" || type == "i64" || type == "u64" ? 8
                                                                               : 4);
  return d.Function(name, [&] {
    return Fill(
        "void $n($t* to, const $t* from, bool aligned, bool inside) {\n"
        "#if __CUDA_ARCH__ >= 800\n"
        "  if (aligned) {\n"
        "    asm volatile(\"cp.async.$h.shared.global [%0], [%1], $b, %2;\" "
        "::\"r\"((u32)__cvta_generic_to_shared(to)),\n"
        "                 \"l\"(from), \"r\"(inside ? $b : 0) : \"memory\");\n"
        "    return;\n"
        "  }\n"
        "#else\n"
        "  if (aligned && inside) {\n"
        "    *($v*)to = *(const $v*)from;\n"
        "    return;\n"
        "  }\n"
        "#endif\n"
        "#pragma unroll 1\n"
        "  for (i32 e = 0; e < $c; ++e) to[e] = inside ? from[e] : ($t)0;\n}",
        {{'n', name},
         {'t', type},
         {'v', vector},
         {'c', count},
         {'h', bytes == 16 ? "cg" : "ca"},
         {'b', std::to_string(bytes)}});
  });
}

std::string CommitCopies(DeviceText& d) {
  return d.Function("ricci_dev_commit_copies", [] {
    return "void ricci_dev_commit_copies() {\n#if __CUDA_ARCH__ >= 800\n"
           "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n#endif\n}";
  });
}

std::string WaitForCopies(DeviceText& d, int64_t all_but) {
  const std::string count = std::to_string(all_but), name = "ricci_dev_wait_for_copies_but_" + count;
  return d.Function(name, [&] {
    return "void " + name +
           "() {\n#if __CUDA_ARCH__ >= 800\n"
           "  asm volatile(\"cp.async.wait_group " +
           count + ";\" ::: \"memory\");\n#endif\n}";
  });
}

std::string LoadMatrices(DeviceText& d, bool transposed) {
  const std::string name = transposed ? "ricci_dev_warp_load_transposed" : "ricci_dev_warp_load_matrices";
  return d.Function(name, [&] {
    return Fill(
        "void $n(u32* out, const u16* row) {\n"
        "#ifdef __CUDA_ARCH__\n"
        "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4$t.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
        "               : \"=r\"(out[0]), \"=r\"(out[1]), \"=r\"(out[2]), \"=r\"(out[3])\n"
        "               : \"r\"((u32)__cvta_generic_to_shared(row)) : \"memory\");\n"
        "#else\n"
        "  ricci_meet_ldmatrix(out, row, $b);\n"
        "#endif\n}",
        {{'n', name}, {'t', transposed ? ".trans" : ""}, {'b', transposed ? "true" : "false"}});
  });
}

}  // namespace ricci::cuda
