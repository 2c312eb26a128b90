#include "engine_control.h"

#include <utility>

namespace engine {
namespace {

std::map<const mjData*, EngineCall*>& Table() {
  static std::map<const mjData*, EngineCall*> table;
  return table;
}

void Control(const mjModel*, mjData* d) {
  const auto found = Table().find(d);
  if (found != Table().end()) RunInEngine(*found->second);
}

}  // namespace

EngineControl::EngineControl(std::map<const mjData*, EngineCall*> calls) {
  Table() = std::move(calls);
  mjcb_control = Control;
}
EngineControl::~EngineControl() {
  mjcb_control = nullptr;
  Table().clear();
}

}  // namespace engine
