#include "control/control.h"

#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {

absl::Status RegisterAll(prim::Registry& registry) {
  registry.Begin("core");
  for (const StructuralRow* row :
       {&kCallRow, &kCondRow, &kWhileRow, &kScanRow, &kVmapRow, &kCheckRow, &kCheckpointRow, &kCustomJvpRow,
        &kCustomVjpRow, &kCustomLinearRow, &kCustomVmapRow, &kCustomLinearSolveRow, &kLinearCallRow, &kPureCallbackRow,
        &kIoCallbackRow, &kDebugCallbackRow, &kDebugPrintRow}) {
    RICCI_TRY(registry.Add(DefinitionOf(*row), row->flow).status());
  }
  registry.Commit();
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::control
