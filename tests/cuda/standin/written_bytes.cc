#include "written_bytes.h"

#include <cstring>
#include <new>

namespace ricci::cuda::standin {

WrittenBytes::WrittenBytes(uint64_t bytes) : is_written_(static_cast<unsigned char*>(std::calloc(1, bytes + 1))) {
  if (is_written_ == nullptr) throw std::bad_alloc();
}

void WrittenBytes::Write(uint64_t offset, uint64_t bytes) { std::memset(is_written_.get() + offset, 1, bytes); }

void WrittenBytes::Copy(uint64_t offset, uint64_t bytes, const WrittenBytes& from, uint64_t from_offset) {
  std::memmove(is_written_.get() + offset, from.is_written_.get() + from_offset, bytes);
}

uint64_t WrittenBytes::FirstMissing(uint64_t offset, uint64_t bytes) const {
  const unsigned char* const begin = is_written_.get() + offset;
  const void* const missing = std::memchr(begin, 0, bytes);
  return missing == nullptr ? offset + bytes
                            : offset + static_cast<uint64_t>(static_cast<const unsigned char*>(missing) - begin);
}

}  // namespace ricci::cuda::standin
