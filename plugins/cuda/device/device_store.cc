// Functions for results that the GPU stores from shared memory by itself (TMA of sm_90 and later), on their way there
// and back: PTX ISA, "stmatrix", "bar.sync", "cp.async.bulk.tensor" to global memory, "cp.async.bulk.commit_group" and
// "cp.async.bulk.wait_group".
//
// Stores are counted in groups of the thread that asks for them, and only that thread can wait for them. What threads
// have written must be shown to the GPU by each (ShowToTensorCores), and all must have met, before one asks for the
// store; the place may be written again when that one has waited for its reads, and all have met again.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"

namespace ricci::cuda {

std::string StoreMatrices(DeviceText& d) {
  return OnSm90a(
      d, "ricci_dev_store_matrices", "u16* row, const u32* in", "ricci_meet_stmatrix(row, in);",
      "  asm volatile(\"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\"\n"
      "      ::\"r\"((u32)__cvta_generic_to_shared(row)), \"r\"(in[0]), \"r\"(in[1]), \"r\"(in[2]), \"r\"(in[3]) : "
      "\"memory\");");
}

std::string MeetGroup(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_group_meet", "i32 group", "ricci_meet_named_barrier((u32)group, 128);",
                 "  asm volatile(\"bar.sync %0, 128;\" ::\"r\"(group) : \"memory\");");
}

std::string StoreBox(DeviceText& d, const std::string& type, uint32_t rank) {
  const std::string n = std::to_string(rank);
  const BoxArguments box = ArgumentsOfBox(d, "const " + type + "* from", rank, 2);
  return OnSm90a(d, "ricci_dev_store_box_" + type + "_" + n, box.signature,
                 "const i32 at[] = {" + box.given + "};\n  ricci_store_box(&map, from, " + n + ", at);",
                 Fill("  asm volatile(\"cp.async.bulk.tensor.$nd.global.shared::cta.bulk_group [%0, {$o}], [%1];\"\n"
                      "      ::\"l\"(&map), \"r\"((u32)__cvta_generic_to_shared(from))$i : \"memory\");",
                      {{'n', n}, {'o', box.operands}, {'i', box.inputs}}));
}

std::string CommitStores(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_stores_commit", "", "ricci_commit_stores();",
                 "  asm volatile(\"cp.async.bulk.commit_group;\" ::: \"memory\");");
}

std::string WaitForReads(DeviceText& d, int64_t all_but) {
  const std::string n = std::to_string(all_but);
  return OnSm90a(d, "ricci_dev_stores_are_read_but_" + n, "", "ricci_wait_for_stores(" + n + ", true);",
                 "  asm volatile(\"cp.async.bulk.wait_group.read " + n + ";\" ::: \"memory\");");
}

std::string WaitForStores(DeviceText& d) {
  return OnSm90a(d, "ricci_dev_stores_wait", "", "ricci_wait_for_stores(0, false);",
                 "  asm volatile(\"cp.async.bulk.wait_group 0;\" ::: \"memory\");");
}

}  // namespace ricci::cuda
