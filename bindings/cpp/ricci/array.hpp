// ricci/array.hpp: concrete data on a device, as a shared handle.
//
// Copies share the data, which never changes; a result or argument of a jitted function is an Array. Reading asks for
// the exact element type, so that no conversion hides in a copy.
#ifndef RICCI_ARRAY_HPP_
#define RICCI_ARRAY_HPP_
#include <initializer_list>
#include <span>
#include <vector>

#include "ricci/context.hpp"
#include "ricci/dtype_of.hpp"
#include "ricci/value.hpp"

namespace ricci::inline v0 {

class Array {
 public:
  Array() = default;
  // A scalar with the dtype of T.
  template <ElementType T>
  Array(const Context& ctx, T scalar) : Array(ctx, kDTypeOf<T>, {}, &scalar) {}
  // One dimension, or `shape`, filled row-major.
  template <ElementType T>
  Array(const Context& ctx, std::span<const T> data, Dims shape) : ctx_(ctx.handle()) {
    if (static_cast<int64_t>(data.size()) != ElementCount(shape)) {
      Fail("array: ", data.size(), " elements do not fill shape ", shape);
    }
    Make(ctx.device(), kDTypeOf<T>, shape, data.data());
  }
  template <ElementType T>
  Array(const Context& ctx, const std::vector<T>& data, const Shape& shape)
      : Array(ctx, Contiguous<T>(data).view(), Dims(shape)) {}
  template <ElementType T>
  Array(const Context& ctx, const std::vector<T>& data) : Array(ctx, data, Shape{static_cast<int64_t>(data.size())}) {}
  template <ElementType T>
  Array(const Context& ctx, std::initializer_list<T> data, const Shape& shape)
      : Array(ctx, std::span<const T>(data.begin(), data.size()), Dims(shape)) {}
  template <ElementType T>
  Array(const Context& ctx, std::initializer_list<T> data)
      : Array(ctx, data, Shape{static_cast<int64_t>(data.size())}) {}
  // Copies as many bytes as the type has.
  Array(const Context& ctx, DType dtype, const Shape& shape, const void* data) : ctx_(ctx.handle()) {
    Make(ctx.device(), dtype, shape, data);
  }
  Array(Device device, const Context& ctx, DType dtype, const Shape& shape, const void* data) : ctx_(ctx.handle()) {
    Make(device, dtype, shape, data);
  }
  // Takes the reference that `handle` is.
  Array(ricci_ctx* ctx, ricci_array* handle) : ctx_(ctx), handle_(handle) {}

  Array(const Array& o) : ctx_(o.ctx_), handle_(o.handle_ == nullptr ? nullptr : ricci_array_retain(o.handle_)) {}
  Array(Array&& o) noexcept : ctx_(o.ctx_), handle_(std::exchange(o.handle_, nullptr)) {}
  Array& operator=(Array o) noexcept {
    std::swap(ctx_, o.ctx_);
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Array() {
    if (handle_ != nullptr) ricci_array_release(handle_);
  }

  bool empty() const { return handle_ == nullptr; }
  ricci_array* handle() const { return handle_; }
  // Lives at least as long as this array.
  ricci_ctx* context() const { return ctx_; }
  Device device() const { return Device(ricci_array_device(handle_)); }
  ricci_type type_id() const { return ricci_array_type(handle_); }
  ArrayType type() const {
    if (empty()) Fail("array: it is empty");
    return ArrayType(ctx_, type_id());
  }
  DType dtype() const { return type().dtype(); }
  Dims shape() const { return type().shape(); }
  int64_t dim(int64_t i) const { return type().dim(i); }
  int64_t rank() const { return type().rank(); }
  int64_t size() const { return type().elements(); }
  // Host memory on `ref` and `cpu`; NULL after donation.
  const void* data() const { return ricci_array_data(handle_); }

  // All elements, row-major. T must be the element type.
  template <ElementType T>
  std::vector<T> to_vector() const {
    WantDType(kDTypeOf<T>);
    if constexpr (std::same_as<T, bool>) {
      std::vector<uint8_t> bytes(static_cast<size_t>(size()));
      CopyTo(bytes.data());
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> out(static_cast<size_t>(size()));
      CopyTo(out.data());
      return out;
    }
  }
  // The only element.
  template <ElementType T>
  T item() const {
    WantDType(kDTypeOf<T>);
    if (size() != 1) Fail("array: item() needs one element, not ", type());
    T out{};
    CopyTo(&out);
    return out;
  }

 private:
  // The elements of a vector side by side, which those of vector<bool> are not.
  template <typename T>
  struct Contiguous {
    explicit Contiguous(const std::vector<T>& v) : from(&v) {}
    std::span<const T> view() const { return {from->data(), from->size()}; }
    const std::vector<T>* from;
  };

  void Make(Device device, DType dtype, Dims shape, const void* data) {
    Check(ricci_array_from_host(device.handle(), ArrayType::Make(ctx_, dtype, shape).id(), data, &handle_));
  }
  void CopyTo(void* out) const {
    Check(ricci_array_copy_to_host(handle_, out, static_cast<size_t>(ricci_array_bytes(handle_))));
  }
  void WantDType(DType d) const {
    if (dtype() != d) Fail("array: its elements are ", dtype(), ", not ", d);
  }

  ricci_ctx* ctx_ = nullptr;
  ricci_array* handle_ = nullptr;
};

template <>
struct Array::Contiguous<bool> {
  explicit Contiguous(const std::vector<bool>& v) : size(v.size()), bytes(new bool[v.size()]) {
    std::copy(v.begin(), v.end(), bytes);
  }
  Contiguous(const Contiguous&) = delete;
  ~Contiguous() { delete[] bytes; }
  std::span<const bool> view() const { return {bytes, size}; }
  size_t size;
  bool* bytes;
};

}  // namespace ricci::inline v0
#endif
