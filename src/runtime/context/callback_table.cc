#include "runtime/context/callback_table.h"

#include <cstring>

#include "base/abi_struct.h"
#include "base/foreign_call.h"
#include "runtime/context/context.h"

namespace ricci { inline namespace v0 { namespace runtime {
namespace {

absl::Status CopyAll(const ricci_callback_call& c) {
  if (c.n_in != c.n_out) {
    return base::InvalidArgument("ricci.copy: called with ", base::Count(c.n_in, "operand"), " for ",
                                 base::Count(c.n_out, "result"));
  }
  for (uint32_t i = 0; i < c.n_in; ++i) {
    if (c.in_types[i] != c.out_types[i]) return base::InvalidArgument("ricci.copy: operand and result ", i, " differ");
    std::memcpy(c.out[i], c.in[i], FromAbi(c.ctx)->types().Get(c.in_types[i]).bytes);
  }
  return absl::OkStatus();
}

ricci_status* CopyBatch(void*, ricci_builder*, const ricci_op* op, const ricci_batch_args* a) {
  const uint32_t n = std::min(op->n_in, op->n_out);  // the core refuses results that are not given
  std::copy_n(a->in, n, a->out);
  std::copy_n(a->in_dims, n, a->out_dims);
  return nullptr;
}

}  // namespace

Callbacks::Callbacks() {
  ricci_callback copy{};
  copy.hdr.size = sizeof copy;
  copy.call = [](void*, const ricci_callback_call* c) { return base::AtBorder([&] { return CopyAll(*c); }); };
  copy.batch = CopyBatch;
  by_name_.emplace("ricci.copy", copy);
}

Callbacks::~Callbacks() {
  for (const auto& named : by_name_) {
    const ricci_callback& f = named.second;
    if (f.drop_self != nullptr) base::CallQuietly([&] { f.drop_self(f.self); });
  }
}

absl::Status Callbacks::Add(std::string_view name, const ricci_callback& given) {
  RICCI_ASSIGN(const ricci_callback f, base::ReadStruct(&given, "callback"));
  if (f.call == nullptr && f.batch == nullptr) {
    return base::InvalidArgument("callback ", name, ": call and batch are NULL");
  }
  if (name.empty()) return base::InvalidArgument("a callback needs a name");
  if (name.starts_with(kOurCallbacks)) {
    return base::InvalidArgument("callback ", name, ": names that begin with ", kOurCallbacks, " are reserved");
  }
  const std::lock_guard lock(mutex_);
  if (!by_name_.emplace(name, f).second) {
    return absl::AlreadyExistsError(base::Cat("callback ", name, " exists already; choose another name"));
  }
  return absl::OkStatus();
}

const ricci_callback* Callbacks::Find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second;
}

}}}  // namespace ricci::v0::runtime
