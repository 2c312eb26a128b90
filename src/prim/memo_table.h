// What transforms remember of the programs of a context while they run; transform/memo.h says how it is used.
#ifndef RICCI_PRIM_MEMO_TABLE_H_
#define RICCI_PRIM_MEMO_TABLE_H_
#include <memory>
#include <mutex>

#include "base/hash_map.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace prim {

struct Memo {
  struct Entry {
    ir::ProgramRef program;  // named in the key by its address: lives as long as the entry
    std::shared_ptr<const void> result;
  };
  using Entries = base::HashMap<std::string, Entry>;

  std::mutex mutex;
  uint32_t uses = 0;  // transforms that are running
  Entries entries;
};

}}}  // namespace ricci::v0::prim
#endif
