#include "control/control.h"

#include "control/structural_row.h"

namespace ricci::inline v0::control {

absl::Status RegisterAll(prim::Registry& registry) {
  registry.Begin("core");
  for (auto* add :
       {RegisterCall, RegisterFusion, RegisterCond, RegisterWhile, RegisterScan, RegisterVmap, RegisterCheck,
        RegisterCheckpoint, RegisterCustomJvp, RegisterCustomVjp, RegisterCustomLinearSolve}) {
    RICCI_TRY(add(registry));
  }
  registry.Commit();
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::control
