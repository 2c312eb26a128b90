// ricci/array.hpp: concrete data on a device, as a shared handle.
//
// Copies share the data, which never changes; a result or argument of a jitted function is an Array. Reading asks for
// the exact element type, so that no conversion hides in a copy. The element type of an Array is that of the C++ data:
// Array(ctx, 0.5) is an f64 scalar, which promotes others to f64 (Array(ctx, 0.5f) is f32). A plain number in an
// expression promotes nothing.
#ifndef RICCI_ARRAY_HPP_
#define RICCI_ARRAY_HPP_
#include <initializer_list>
#include <span>
#include <vector>

#include "ricci/caller.hpp"
#include "ricci/context.hpp"
#include "ricci/dtype_of.hpp"

namespace ricci { inline namespace v0 {

// The shape of the data: as given, or one dimension of their length.
class DataShape {
 public:
  DataShape() = default;
  DataShape(std::initializer_list<int64_t> dims) : dims_(dims) {}  // NOLINT
  DataShape(Shape dims) : dims_(std::move(dims)) {}                // NOLINT
  static DataShape Line() {
    DataShape s;
    s.line_ = true;
    return s;
  }
  Shape Of(size_t n) const { return line_ ? Shape{static_cast<int64_t>(n)} : dims_; }

 private:
  Shape dims_;
  bool line_ = false;
};

class Array : public Handle<ricci_array, ricci_array_retain, ricci_array_release> {
 public:
  Array() = default;
  // A scalar with the dtype of T.
  template <ElementType T>
  Array(const Context& ctx, T scalar, Location at = Location::Here()) : Array(ctx, kDTypeOf<T>, {}, &scalar, at) {}
  // One dimension, or `shape`, filled row-major. Throws unless the data fill the shape.
  template <ElementType T>
  Array(const Context& ctx, std::span<const T> data, Dims shape, Location at = Location::Here())
      : Array(ctx, kDTypeOf<T>, shape, data.data(), data.size(), at) {}
  template <ElementType T>
  Array(const Context& ctx, const std::vector<T>& data, const DataShape& shape = DataShape::Line(),
        Location at = Location::Here())
      : Array(ctx, kDTypeOf<T>, shape.Of(data.size()), Contiguous<T>(data).data(), data.size(), at) {}
  template <ElementType T>
  Array(const Context& ctx, std::initializer_list<T> data, const DataShape& shape = DataShape::Line(),
        Location at = Location::Here())
      : Array(ctx, kDTypeOf<T>, shape.Of(data.size()), data.begin(), data.size(), at) {}
  // Copies as many bytes as the type has. The array is on the context's first device, but not committed to it: a run on
  // another one takes it too.
  Array(const Context& ctx, DType dtype, const Shape& shape, const void* data, Location at = Location::Here());
  // Committed to the device.
  Array(Device device, const Context& ctx, DType dtype, const Shape& shape, const void* data,
        Location at = Location::Here());
  // The elements of a Value that operations on Arrays gave: compiled and run now, unless they were before. Throws for a
  // Value of a function that is being traced.
  Array(const Value& pending, Location at = Location::Here());  // NOLINT: `Array y = sin(x);`
  // Takes the reference that `handle` is.
  Array(ricci_ctx* ctx, ricci_array* handle) : Handle(handle), ctx_(ctx) {}

  Array(const Array& o);
  Array(Array&& o) noexcept = default;
  Array& operator=(const Array& o);
  Array& operator=(Array&& o) noexcept = default;
  ~Array() = default;

  bool empty() const { return handle() == nullptr; }
  // Lives at least as long as this array.
  ricci_ctx* context() const { return ctx_; }
  Device device() const { return Device(ricci_array_device(handle())); }
  ricci_type type_id() const { return ricci_array_type(handle()); }
  ArrayType type() const;
  DType dtype() const { return type().dtype(); }
  Dims shape() const { return type().shape(); }
  int64_t dim(int64_t i) const { return type().dim(i); }
  int64_t rank() const { return type().rank(); }
  int64_t size() const { return type().elements(); }
  bool is_committed() const { return ricci_array_is_committed(handle()) != 0; }
  // Waits, then: host memory. NULL after donation, and where the host cannot read the device's memory.
  const void* data() const { return ricci_array_data(handle()); }
  // A jitted function returns when its work has begun. These tell and wait for its end; reading waits by itself. Throws
  // what the work failed with.
  bool is_ready() const { return ricci_array_is_ready(handle()) != 0; }
  const Array& block_until_ready(Location at = Location::Here()) const;

  // All elements, row-major. T must be the element type; a donated array has no elements left.
  template <ElementType T>
  std::vector<T> to_vector(Location at = Location::Here()) const {
    const size_t n = CountOf(kDTypeOf<T>, at);
    if constexpr (std::same_as<T, bool>) {
      std::vector<uint8_t> bytes(n);
      CopyTo(bytes.data(), at);
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> out(n);
      CopyTo(out.data(), at);
      return out;
    }
  }
  // The only element.
  template <ElementType T>
  T item(Location at = Location::Here()) const {
    T out{};
    CopyItemTo(&out, kDTypeOf<T>, at);
    return out;
  }

 private:
  // The elements of a vector, contiguous in memory, which those of vector<bool> are not.
  template <typename T>
  struct Contiguous {
    explicit Contiguous(const std::vector<T>& v) : from(&v) {}
    const T* data() const { return from->data(); }
    const std::vector<T>* from;
  };

  // `n` elements, as many as the shape has.
  Array(const Context& ctx, DType dtype, Dims shape, const void* data, size_t n, const Location& at);
  // The number of elements; throws unless they are of this dtype.
  size_t CountOf(DType d, const Location& at) const;
  void CopyTo(void* out, const Location& at) const;
  void CopyItemTo(void* out, DType d, const Location& at) const;

  ricci_ctx* ctx_ = nullptr;
};

// A copy of `a` that is committed to `device`; `a` itself if it already is.
Array device_put(const Array& a, Device device, Location at = Location::Here());
// The device of the first array that is committed to one; the empty Device if none is.
Device CommittedDevice(std::span<const Array> arrays);

template <typename T>
std::vector<T> Value::to_vector(Location at) const {
  return Array(*this, at).to_vector<T>(at);
}
template <typename T>
T Value::item(Location at) const {
  return Array(*this, at).item<T>(at);
}

template <>
struct Array::Contiguous<bool> {
  explicit Contiguous(const std::vector<bool>& v) : bytes(new bool[v.size()]) {
    for (size_t i = 0; i < v.size(); ++i) bytes[i] = v[i];
  }
  Contiguous(const Contiguous&) = delete;
  ~Contiguous() { delete[] bytes; }
  const bool* data() const { return bytes; }
  bool* bytes;
};

}}  // namespace ricci::v0
#endif
