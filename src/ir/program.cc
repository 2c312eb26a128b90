#include "ir/program.h"

#include "base/abi_text.h"
#include "base/hash.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

template <typename T>
base::HostAllocator<T> In(const Vocabulary* v) {
  return base::HostAllocator<T>(v->memory);
}

size_t DataBytes(const ricci_attr& a) {
  switch (a.kind) {
    case RICCI_ATTR_STRING:
      return a.count;
    case RICCI_ATTR_INTS:
      return a.count * sizeof(int64_t);
    case RICCI_ATTR_FLOATS:
      return a.count * sizeof(double);
    case RICCI_ATTR_PROGRAM:
    case RICCI_ATTR_PROGRAMS:
      return a.count * sizeof(void*);
    default:
      return 0;
  }
}

uint64_t HashOf(std::span<const std::byte> bytes) {
  return base::Hasher().Add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())).Done();
}

}  // namespace

ConstantData::ConstantData(const base::HostMemory* memory, std::span<const std::byte> from)
    : own_(from.begin(), from.end(), base::HostAllocator<std::byte>(memory)), bytes(own_), hash(HashOf(bytes)) {}

ConstantData::ConstantData(std::shared_ptr<const void> owner, std::span<const std::byte> in_place)
    : own_(base::HostAllocator<std::byte>(nullptr)),
      owner_(std::move(owner)),
      bytes(in_place),
      hash(HashOf(in_place)) {}

Program::Program(Vocabulary* v)
    : vocabulary_(v),
      context_(v->owner),
      values(In<Value>(v)),
      constants(In<Constant>(v)),
      equations(In<Equation>(v)),
      results(In<ValueId>(v)),
      param_types(In<TypeId>(v)),
      result_types(In<TypeId>(v)),
      arena(v->memory),
      nested(In<ProgramRef>(v)),
      outward(In<Outward>(v)),
      factors(v->memory) {}

ricci_attr CopyAttr(const ricci_attr& a, base::Arena& arena, base::Vec<ProgramRef>& nested) {
  ricci_attr copy = a;
  const size_t bytes = DataBytes(a);
  if (bytes == 0) {
    copy.data = nullptr;
    return copy;
  }
  auto* data = arena.Array<int64_t>((bytes + 7) / 8);
  std::memcpy(data, a.data, bytes);
  copy.data = data;
  for (ricci_program* p : Programs(a)) nested.push_back(ProgramRef(FromAbi(p)));
  return copy;
}

const ricci_attr* FindAttr(std::span<const ricci_attr> attrs, std::string_view name) {
  for (const ricci_attr& a : attrs) {
    if (base::View(a.name) == name) return &a;
  }
  return nullptr;
}

}}}  // namespace ricci::v0::ir
