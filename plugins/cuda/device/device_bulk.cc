// Functions for boxes of tensors that the GPU copies to shared memory by itself (TMA of sm_90 and later), and for the
// barriers there that count what has come: PTX ISA, "cp.async.bulk.tensor" and "mbarrier".
//
// A barrier goes from phase to phase. A phase completes when as many have arrived as the barrier was begun for and all
// bytes are there that they said to expect; who waits names the parity of the phase, whose number counts from 0. Copies
// make their bytes known to the barrier, so each thread that has waited sees them.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"

namespace ricci::cuda {
namespace {

constexpr const char* kAddress = "(u32)__cvta_generic_to_shared(barrier)";

}  // namespace

std::string OnSm90a(DeviceText& d, const std::string& name, const std::string& signature, const std::string& here,
                    const std::string& ptx) {
  return d.Function(name, [&] {
    return "__forceinline__ void " + name + "(" + signature + ") {\n#ifndef __CUDA_ARCH__\n  " + here +
           "\n#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)\n" + ptx + "\n#endif\n}";
  });
}

BoxArguments ArgumentsOfBox(DeviceText& d, const std::string& box, uint32_t rank, uint32_t first) {
  BoxArguments out{.signature = box + ", const " + d.Vector("u64", 16) + "& map"};
  for (uint32_t i = 0; i < rank; ++i) {
    const std::string c = "c" + std::to_string(i), comma = i == 0 ? "" : ", ";
    out.signature += ", i32 " + c;
    out.given += comma + c;
    out.operands += comma + "%" + std::to_string(first + i);
    out.inputs += ", \"r\"(" + c + ")";
  }
  return out;
}

std::string BeginBarrier(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_barrier_begin", "u64* barrier, u32 arrivals", "ricci_mbarrier_init(barrier, arrivals);",
                 Fill("  asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" ::\"r\"($a), \"r\"(arrivals) : "
                      "\"memory\");",
                      {{'a', kAddress}}));
}

std::string ArriveAtBarrier(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_barrier_arrive", "u64* barrier", "ricci_mbarrier_arrive(barrier, 0);",
                 Fill("  asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\" ::\"r\"($a) : \"memory\");",
                      {{'a', kAddress}}));
}

std::string ExpectBytes(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_barrier_expect", "u64* barrier, u32 bytes", "ricci_mbarrier_arrive(barrier, bytes);",
                 Fill("  asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" ::\"r\"($a), "
                      "\"r\"(bytes) : \"memory\");",
                      {{'a', kAddress}}));
}

std::string WaitForBarrier(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_barrier_wait", "u64* barrier, u32 parity", "ricci_meet_mbarrier_wait(barrier, parity);",
                 Fill("  const u32 address = $a;\n"
                      "  u32 is_over;\n"
                      "  do {\n"
                      "    asm volatile(\"{\\n .reg .pred p;\\n\"\n"
                      "        \" mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\\n\"\n"
                      "        \" selp.u32 %0, 1, 0, p;\\n}\" : \"=r\"(is_over) : \"r\"(address), \"r\"(parity) : "
                      "\"memory\");\n"
                      "  } while (is_over == 0);",
                      {{'a', kAddress}}));
}

std::string CopyBox(DeviceText& d, const std::string& type, uint32_t rank) {
  const std::string n = std::to_string(rank);
  const BoxArguments box = ArgumentsOfBox(d, type + "* to", rank, 3);
  return OnSm90a(
      d, "ricci_dev_copy_box_" + type + "_" + n, box.signature + ", u64* barrier",
      "const i32 at[] = {" + box.given + "};\n  ricci_copy_box(to, &map, " + n + ", at, barrier);",
      Fill("  asm volatile(\"cp.async.bulk.tensor.$nd.shared::cluster.global.mbarrier::complete_tx::bytes \"\n"
           "      \"[%0], [%1, {$o}], [%2];\"\n"
           "      ::\"r\"((u32)__cvta_generic_to_shared(to)), \"l\"(&map), \"r\"($a)$i : \"memory\");",
           {{'n', n}, {'o', box.operands}, {'a', kAddress}, {'i', box.inputs}}));
}

std::string IsElected(DeviceText& d) {
  return d.Function("ricci_dev_is_elected", [] {
    return "__forceinline__ bool ricci_dev_is_elected() {\n"
           "#ifndef __CUDA_ARCH__\n"
           "  return ricci_meet_elect();\n"
           "#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
           "  u32 is_elected;\n"
           "  asm volatile(\"{\\n .reg .pred p;\\n elect.sync _|p, 0xffffffff;\\n selp.u32 %0, 1, 0, p;\\n}\" : "
           "\"=r\"(is_elected));\n"
           "  return is_elected != 0;\n"
           "#else\n"
           "  return false;\n"
           "#endif\n}";
  });
}

std::string CommitProducts(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_warpgroup_commit", "", "ricci_meet_wgmma_commit();",
                 "  asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");");
}

std::string WaitForProducts(DeviceText& d, int64_t all_but) {
  const std::string n = std::to_string(all_but);
  return OnSm90a(d, "ricci_dev_warpgroup_wait_but_" + n, "", "ricci_meet_wgmma_wait(" + n + ");",
                 "  asm volatile(\"wgmma.wait_group.sync.aligned " + n + ";\" ::: \"memory\");");
}

}  // namespace ricci::cuda
