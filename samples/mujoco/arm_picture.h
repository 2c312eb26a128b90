// arm_picture: where the tips went, and the arms at the end, as an SVG file.
#ifndef SAMPLES_MUJOCO_ARM_PICTURE_H_
#define SAMPLES_MUJOCO_ARM_PICTURE_H_
#include <string>

#include "arm_in_engine.h"

namespace engine {

// False if the file cannot be written.
bool WriteArms(const std::string& path, const std::string& title, const std::vector<ArmRun>& arms);

}  // namespace engine
#endif
