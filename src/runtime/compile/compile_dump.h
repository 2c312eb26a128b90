// CompileDump: the stages of one compilation as files: `<dump_dir>/<program>-<key>/<number>-<stage>.txt`.
#ifndef RICCI_RUNTIME_COMPILE_DUMP_H_
#define RICCI_RUNTIME_COMPILE_DUMP_H_
#include <string>

#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {

class CompileDump {
 public:
  // If `dir` is empty, nothing is written.
  CompileDump(const std::string& dir, const CompileKey& key);
  bool wanted() const { return !folder_.empty(); }
  void Add(std::string_view stage, const std::string& text);
  // The first failure to write, if any.
  const absl::Status& status() const { return status_; }

 private:
  std::string folder_;
  uint32_t number_ = 0;
  absl::Status status_;
};

}}}  // namespace ricci::v0::runtime
#endif
