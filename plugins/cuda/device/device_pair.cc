// Functions for pairs of blocks (clusters of two, sm_90 and later): PTX ISA, "cluster", "mapa", "mbarrier.arrive" and
// "cp.async.bulk.tensor" with multicast; and how groups of warps share the registers of a block ("setmaxnreg").
//
// Shared memory of both blocks has the same places, so a barrier or a box of the other block is named by one's own.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"

namespace ricci::cuda {

std::string RankInPair(DeviceText& d) {
  return d.Function("ricci_dev_pair_rank", [] {
    return "__forceinline__ i32 ricci_dev_pair_rank() {\n"
           "#ifndef __CUDA_ARCH__\n"
           "  return (i32)ricci_rank_in_cluster();\n"
           "#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
           "  u32 rank;\n"
           "  asm volatile(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n"
           "  return (i32)rank;\n"
           "#else\n"
           "  return 0;\n"
           "#endif\n}";
  });
}

std::string MeetPair(DeviceText& d) {
  return OnSm90a(
      d, "ricci_dev_pair_meet", "", "ricci_meet_cluster();",
      "  asm volatile(\"barrier.cluster.arrive.release;\\n barrier.cluster.wait.acquire;\" ::: \"memory\");");
}

std::string ShowBarriersToPair(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_pair_show_barriers", "", "ricci_fence_mbarrier_init();\n  ricci_fence_proxy_async();",
                 "  asm volatile(\"fence.mbarrier_init.release.cluster;\\n fence.proxy.async.shared::cta;\" ::: "
                 "\"memory\");");
}

std::string ArriveInPair(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_pair_arrive", "u64* barrier, i32 rank",
                 "ricci_mbarrier_arrive_in_cluster(barrier, (u32)rank);",
                 "  asm volatile(\"{\\n .reg .b32 there;\\n mapa.shared::cluster.u32 there, %0, %1;\\n\"\n"
                 "      \" mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\\n}\"\n"
                 "      ::\"r\"((u32)__cvta_generic_to_shared(barrier)), \"r\"(rank) : \"memory\");");
}

std::string WaitForPair(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_pair_wait", "u64* barrier, u32 parity", "ricci_meet_mbarrier_wait(barrier, parity);",
                 "  const u32 address = (u32)__cvta_generic_to_shared(barrier);\n"
                 "  u32 is_over;\n"
                 "  do {\n"
                 "    asm volatile(\"{\\n .reg .pred p;\\n\"\n"
                 "        \" mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\\n\"\n"
                 "        \" selp.u32 %0, 1, 0, p;\\n}\" : \"=r\"(is_over) : \"r\"(address), \"r\"(parity) : "
                 "\"memory\");\n"
                 "  } while (is_over == 0);");
}

std::string CopyBoxToPair(DeviceText& d, const std::string& type, uint32_t rank) {
  const std::string n = std::to_string(rank);
  const BoxArguments box = ArgumentsOfBox(d, type + "* to", rank, 4);
  return OnSm90a(
      d, "ricci_dev_pair_copy_box_" + type + "_" + n, box.signature + ", u64* barrier",
      "const i32 at[] = {" + box.given + "};\n  ricci_copy_box_to_cluster(to, &map, " + n + ", at, barrier, 3);",
      Fill("  asm volatile(\"cp.async.bulk.tensor.$nd.shared::cluster.global.mbarrier::complete_tx::bytes\"\n"
           "      \".multicast::cluster [%0], [%1, {$o}], [%2], %3;\"\n"
           "      ::\"r\"((u32)__cvta_generic_to_shared(to)), \"l\"(&map), "
           "\"r\"((u32)__cvta_generic_to_shared(barrier)), \"h\"((u16)3)$i : \"memory\");",
           {{'n', n}, {'o', box.operands}, {'i', box.inputs}}));
}

std::string HaveRegisters(DeviceText& d, int64_t n, bool more) {
  const std::string number = std::to_string(n);
  return OnSm90a(
      d, "ricci_dev_registers_" + number, "", "ricci_meet_setmaxnreg(" + number + ");",
      "  asm volatile(\"setmaxnreg." + std::string(more ? "inc" : "dec") + ".sync.aligned.u32 " + number + ";\");");
}

}  // namespace ricci::cuda
