// Device: one backend of a context, as its plugin gave it: the ABI's ricci_backend itself, with texts owned.
#ifndef RICCI_RUNTIME_DEVICE_H_
#define RICCI_RUNTIME_DEVICE_H_
#include <string>

#include "pass/target.h"
#include "ricci/backend.h"
#include "ricci/device.h"

namespace ricci::inline v0::runtime {

class Context;

struct Device {
  Context* context;
  ricci_backend backend;  // its texts lead into this Device
  pass::Target target;
  std::string kind, name;
  int32_t ordinal;  // among the devices of its kind
  bool reference;   // programs are lowered without any pass

  Device(Context* context, const ricci_backend& from, const ricci_target& target, int32_t ordinal);
  Device(const Device&) = delete;
  // Drops the backend only once it has been taken over (Context::AddBackend).
  ~Device();
  bool owns_self = false;
};

// The C handle of a device is its address.
inline ricci_device* Abi(const Device* d) { return reinterpret_cast<ricci_device*>(const_cast<Device*>(d)); }
inline Device* FromAbi(const ricci_device* d) { return reinterpret_cast<Device*>(const_cast<ricci_device*>(d)); }

}  // namespace ricci::inline v0::runtime
#endif
