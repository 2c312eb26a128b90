// Bytes to programs. write_program.cc says what the sections hold.
//
// Every id is checked before it is used, and refers to something that comes before it, so programs are built in
// sequence, without recursion. What the bytes get wrong is DATA_LOSS: an undamaged file that this library wrote has
// none of it, but the checksums of a file can be made to fit anything.
#include "absl/strings/str_join.h"
#include "base/abi_text.h"
#include "file/bytes.h"
#include "file/container.h"
#include "file/program_file.h"
#include "trace/attrs.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

using trace::Builder;
using trace::Vals;

class Reader {
 public:
  Reader(prim::Registry& registry, const Sections& sections, std::string_view origin, std::shared_ptr<const void> owner)
      : registry_(registry), constants_(sections[kConstants]), origin_(origin), owner_(std::move(owner)) {}

  absl::StatusOr<ir::ProgramRef> Run(const Sections& sections) {
    RICCI_TRY(ReadTexts(sections[kTexts]));
    RICCI_TRY(ReadTypes(sections[kTypes]));
    RICCI_TRY(ReadLocations(sections[kLocations]));
    RICCI_TRY(ReadBlobs(sections[kBlobs]));
    RICCI_TRY(ReadPrimitives(sections[kPrimitives]));
    return ReadPrograms(sections[kPrograms]);
  }

 private:
  template <typename... Args>
  absl::Status Damaged(const Args&... what) const {
    return absl::DataLossError(base::Cat(origin_, ": the file is damaged: ", what...));
  }
  absl::Status Within(std::string_view what, size_t id, size_t n) const {
    return id < n ? absl::OkStatus() : Damaged(what, " ", id, " does not exist");
  }
  absl::Status Finished(const ByteReader& r, std::string_view what) const {
    return r.finished() ? absl::OkStatus() : Damaged("section ", what, " does not have the size that it needs");
  }

  absl::Status ReadTexts(std::string_view section) {
    ByteReader r(section);
    for (uint32_t n = r.Count(4), i = 0; i < n; ++i) texts_.push_back(r.GetText());
    return Finished(r, "texts");
  }
  absl::StatusOr<std::string_view> Text(ByteReader& r) const {
    const auto id = r.Get<uint32_t>();
    RICCI_TRY(Within("text", id, texts_.size()));
    return texts_[id];
  }

  absl::StatusOr<uint32_t> DType(ByteReader& r) const {
    RICCI_ASSIGN(const std::string_view name, Text(r));
    const uint32_t dtype = types::DTypeByName(name);
    if (dtype == 0) return base::InvalidArgument(origin_, ": dtype ", name, " is unknown");
    return dtype;
  }
  absl::Status ReadTypes(std::string_view section) {
    ByteReader r(section);
    for (uint32_t n = r.Count(8), i = 0; i < n; ++i) {
      RICCI_ASSIGN(const uint32_t dtype, DType(r));
      std::vector<int64_t> shape(r.Count(sizeof(int64_t)));
      for (int64_t& d : shape) d = r.Get<int64_t>();
      auto id = registry_.vocabulary().types.Intern(dtype, shape);
      if (!id.ok()) return absl::Status(id.status().code(), base::Cat(origin_, ": ", id.status().message()));
      types_.push_back(*id);
    }
    return Finished(r, "types");
  }
  absl::StatusOr<ir::TypeId> Type(ByteReader& r) const {
    const auto id = r.Get<uint32_t>();
    RICCI_TRY(Within("type", id, types_.size()));
    return types_[id];
  }

  absl::Status ReadLocations(std::string_view section) {
    ByteReader r(section);
    for (uint32_t n = r.Count(12), i = 0; i < n; ++i) {
      RICCI_ASSIGN(const std::string_view file, Text(r));
      RICCI_ASSIGN(const std::string_view func, Text(r));
      locations_.push_back(registry_.vocabulary().InternLocation(file, r.Get<uint32_t>(), func));
    }
    return Finished(r, "locations");
  }

  // Data is made of them when they are first used, so that one that is in many programs is there once.
  struct Blob {
    std::string_view bytes;
    std::shared_ptr<const ir::ConstantData> data;
  };
  absl::Status ReadBlobs(std::string_view section) {
    ByteReader r(section);
    uint64_t end = 0;  // of the previous one: blobs do not overlap, so together they fit in the file
    for (uint32_t n = r.Count(16), i = 0; i < n; ++i) {
      const auto offset = r.Get<uint64_t>(), size = r.Get<uint64_t>();
      if (offset < end || offset > constants_.size() || size > constants_.size() - offset) {
        return Damaged("constant ", i, " is outside of its section");
      }
      end = offset + size;
      blobs_.push_back({constants_.substr(offset, size), nullptr});
    }
    return Finished(r, "blobs");
  }

  // Looks all of them up before the first is used, so that one message names every plugin that is needed.
  absl::Status ReadPrimitives(std::string_view section) {
    ByteReader r(section);
    std::vector<std::string> missing;
    for (uint32_t n = r.Count(4), i = 0; i < n; ++i) {
      RICCI_ASSIGN(const std::string_view name, Text(r));
      primitives_.push_back(registry_.vocabulary().FindPrim(name));
      if (primitives_.back() == 0) missing.emplace_back(name);
    }
    if (missing.empty()) return Finished(r, "primitives");
    return absl::NotFoundError(base::Cat(origin_, ": no such primitive: ", absl::StrJoin(missing, ", "),
                                         "; add the plugin that provides ", missing.size() == 1 ? "it" : "them"));
  }

  absl::StatusOr<ir::ProgramRef> ReadPrograms(std::string_view section) {
    ByteReader r(section);
    for (uint32_t n = r.Count(16), i = 0; i < n; ++i) {
      RICCI_ASSIGN(ir::ProgramRef p, ReadProgram(r));
      programs_.push_back(std::move(p));
    }
    const auto root = r.Get<uint32_t>();
    RICCI_TRY(Finished(r, "programs"));
    RICCI_TRY(Within("program", root, programs_.size()));
    return programs_[root];
  }

  absl::StatusOr<ir::ProgramRef> ReadProgram(ByteReader& r) {
    RICCI_ASSIGN(const std::string_view name, Text(r));
    std::vector<ir::TypeId> params(r.Count(4));
    for (ir::TypeId& t : params) {
      RICCI_ASSIGN(t, Type(r));
    }
    RICCI_ASSIGN(auto b, Builder::Create(registry_, name, params));
    Vals values = b->params();
    for (uint32_t n = r.Count(9), i = 0; i < n && !r.failed(); ++i) {
      RICCI_TRY(r.Get<uint8_t>() == 0 ? Constant(*b, r, values) : Equation(*b, r, values));
    }
    RICCI_ASSIGN(const Vals results, ValuesOf(r, values));
    return b->Finish(results);
  }

  absl::StatusOr<Vals> ValuesOf(ByteReader& r, const Vals& values) const {
    Vals out(r.Count(4));
    for (ricci_val& v : out) {
      const auto id = r.Get<uint32_t>();
      RICCI_TRY(Within("value", id, values.size()));
      v = values[id];
    }
    return out;
  }

  absl::Status Constant(Builder& b, ByteReader& r, Vals& values) {
    RICCI_ASSIGN(const ir::TypeId type, Type(r));
    const auto id = r.Get<uint32_t>();
    RICCI_TRY(Within("constant", id, blobs_.size()));
    Blob& blob = blobs_[id];
    const ir::ArrayType& t = b.types().Get(type);
    const bool splat = blob.bytes.size() == types::Info(t.dtype).size;
    if (!splat && blob.bytes.size() != t.bytes) {
      return Damaged("a constant of ", ToText(t), " has ", base::Count(blob.bytes.size(), "byte"));
    }
    if (!AreElements(t.dtype, blob.bytes)) {
      return Damaged("a constant of ", ToText(t), " has bytes that are not values of ", types::Info(t.dtype).name);
    }
    if (blob.data == nullptr) blob.data = DataOf(blob.bytes);
    RICCI_ASSIGN(const ricci_val v, b.Constant(type, splat, blob.data));
    values.push_back(v);
    return absl::OkStatus();
  }

  // Not every byte is one of the types that use fewer bits.
  static bool AreElements(uint32_t dtype, std::string_view bytes) {
    const unsigned most = dtype == RICCI_BOOL ? 1 : dtype == RICCI_F4E2M1FN ? 15 : 255;
    return most == 255 ||
           std::all_of(bytes.begin(), bytes.end(), [&](char b) { return static_cast<unsigned char>(b) <= most; });
  }

  // A file of another writer may hold constants that are not aligned as ours are: these are copied.
  std::shared_ptr<const ir::ConstantData> DataOf(std::string_view bytes) const {
    const std::span from(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0;
    if (owner_ != nullptr && aligned) return std::make_shared<const ir::ConstantData>(owner_, from);
    return std::make_shared<const ir::ConstantData>(registry_.vocabulary().memory, from);
  }

  absl::Status Equation(Builder& b, ByteReader& r, Vals& values) {
    const auto primitive = r.Get<uint32_t>(), location = r.Get<uint32_t>();
    RICCI_TRY(Within("primitive", primitive, primitives_.size()));
    RICCI_TRY(Within("location", location, locations_.size() + 1));
    b.SetLocation(location == 0 ? 0 : locations_[location - 1]);
    std::vector<AttrData> data(r.Count(12));
    std::vector<ricci_attr> attrs;
    for (AttrData& d : data) {
      RICCI_ASSIGN(ricci_attr a, Attr(r, d));
      attrs.push_back(a);
    }
    RICCI_ASSIGN(const Vals operands, ValuesOf(r, values));
    if (r.failed()) return Finished(r, "programs");
    RICCI_ASSIGN(const Vals out, b.Emit(primitives_[primitive], attrs, operands));
    return CheckResults(b, r, registry_.vocabulary().PrimName(primitives_[primitive]), out, values);
  }

  // What a row infers must be what it inferred when the file was written.
  absl::Status CheckResults(Builder& b, ByteReader& r, std::string_view primitive, const Vals& out, Vals& values) {
    const uint32_t n = r.Count(4);
    if (n != out.size()) {
      return base::InvalidArgument(origin_, ": ", primitive, ": the file has ", base::Count(n, "result"),
                                   ", the primitive ", out.size());
    }
    for (uint32_t i = 0; i < n; ++i) {
      RICCI_ASSIGN(const ir::TypeId type, Type(r));
      if (type != b.type_id(out[i])) {
        return base::InvalidArgument(origin_, ": ", primitive, ": result ", i, " is ", ToText(b.type(out[i])),
                                     ", the file says ", ToText(b.types().Get(type)));
      }
      values.push_back(out[i]);
    }
    return absl::OkStatus();
  }

  // What an attribute points to while it is in use.
  struct AttrData {
    std::vector<uint64_t> words;
    std::vector<ricci_program*> programs;
  };
  absl::StatusOr<ricci_attr> Attr(ByteReader& r, AttrData& data) const {
    RICCI_ASSIGN(const std::string_view name, Text(r));
    const auto kind = r.Get<uint32_t>();
    switch (kind) {
      case RICCI_ATTR_INT:
      case RICCI_ATTR_BOOL:
        return trace::IntAttr(name, r.Get<int64_t>(), kind);
      case RICCI_ATTR_FLOAT: {
        ricci_attr a = trace::IntAttr(name, 0, kind);
        a.f = r.Get<double>();
        return a;
      }
      case RICCI_ATTR_DTYPE: {
        RICCI_ASSIGN(const uint32_t dtype, DType(r));
        return trace::DTypeAttr(name, dtype);
      }
      case RICCI_ATTR_STRING: {
        RICCI_ASSIGN(const std::string_view text, Text(r));
        return trace::StringAttr(name, text);
      }
      case RICCI_ATTR_INTS:
      case RICCI_ATTR_FLOATS:
        data.words.resize(r.Count(8));
        for (uint64_t& w : data.words) w = r.Get<uint64_t>();
        return trace::AttrBase(name, kind, static_cast<uint32_t>(data.words.size()), data.words.data());
      case RICCI_ATTR_PROGRAM:
      case RICCI_ATTR_PROGRAMS:
        return ProgramsAttr(r, name, kind, data);
      default:
        return Damaged("attribute ", name, " is of kind ", kind);
    }
  }
  absl::StatusOr<ricci_attr> ProgramsAttr(ByteReader& r, std::string_view name, uint32_t kind, AttrData& data) const {
    data.programs.resize(r.Count(4));
    for (ricci_program*& p : data.programs) {
      const auto id = r.Get<uint32_t>();
      RICCI_TRY(Within("program", id, programs_.size()));
      p = ir::Abi(programs_[id].get());
    }
    return trace::AttrBase(name, kind, static_cast<uint32_t>(data.programs.size()), data.programs.data());
  }

  prim::Registry& registry_;
  const std::string_view constants_, origin_;
  const std::shared_ptr<const void> owner_;  // of the bytes; NULL: the caller, until reading has ended
  std::vector<std::string_view> texts_;
  std::vector<ir::TypeId> types_;
  std::vector<ir::LocationId> locations_;
  std::vector<Blob> blobs_;
  std::vector<prim::PrimId> primitives_;
  std::vector<ir::ProgramRef> programs_;
};

}  // namespace

absl::StatusOr<ir::ProgramRef> ReadProgram(prim::Registry& registry, std::string_view bytes, std::string_view origin,
                                           std::shared_ptr<const void> owner) {
  const std::string_view name = origin.empty() ? "<memory>" : origin;
  RICCI_ASSIGN(const Sections sections, ReadContainer(bytes, name));
  return Reader(registry, sections, name, std::move(owner)).Run(sections);
}

}}}  // namespace ricci::v0::file
