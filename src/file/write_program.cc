// Programs to bytes. The layout of each section is that of the function that adds to it; all ids are 32 bits, and
// whatever an entry refers to comes before it.
#include "base/abi_text.h"
#include "base/hash_map.h"
#include "file/bytes.h"
#include "file/container.h"
#include "file/program_file.h"
#include "ir/walk.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

using base::View;
using ir::Program;

// Entries of one section, each distinct one once: a number of entries, then the entries.
class Entries {
 public:
  uint32_t Add(std::string entry) {
    const auto [found, isnew] = ids_.emplace(std::move(entry), static_cast<uint32_t>(ids_.size()));
    if (isnew) content_.AddBytes(found->first);
    return found->second;
  }
  std::string Done() const {
    ByteWriter w;
    w.AddCount(ids_.size());
    w.AddBytes(content_.bytes());
    return std::string(w.bytes());
  }

 private:
  base::HashMap<std::string, uint32_t> ids_;
  ByteWriter content_;
};

class Writer {
 public:
  std::string Run(const Program& p) {
    for (const Program* inner : ir::NestedFirst(p)) {
      program_ids_[inner] = programs_.Add(Encoded(*inner));
    }
    const std::string texts = texts_.Done(), types = types_.Done(), locations = locations_.Done(),
                      blobs = blobs_.Done(), primitives = primitives_.Done(),
                      programs = programs_.Done() + Number(program_ids_.at(&p));
    return WriteContainer({texts, types, locations, blobs, primitives, programs, constants_});
  }

 private:
  static std::string Number(uint32_t v) {
    ByteWriter w;
    w.Add(v);
    return w.Take();
  }

  uint32_t Text(std::string_view text) {
    ByteWriter w;
    w.AddText(text);
    return texts_.Add(w.Take());
  }

  // What a context has numbers for is written once, and found again by those: a look-up by bytes for each use would
  // take most of the time.
  class Numbers {
   public:
    template <typename Add>
    uint32_t Of(uint32_t id, const Add& add) {
      if (id >= known_.size()) known_.resize(id + 1);
      if (known_[id] == 0) known_[id] = add() + 1;
      return known_[id] - 1;
    }

   private:
    std::vector<uint32_t> known_;  // 0: not yet
  };

  // Name of the dtype, rank, dimensions.
  uint32_t Type(const Program& p, ir::TypeId id) {
    return type_numbers_.Of(id, [&] { return AddType(p.vocabulary()->types.Get(id)); });
  }
  uint32_t AddType(const ir::ArrayType& t) {
    ByteWriter w;
    w.Add(Text(types::Info(t.dtype).name));
    w.AddCount(t.shape.size());
    for (int64_t d : t.shape) w.Add(d);
    return types_.Add(w.Take());
  }

  // File, function, line; 0 is the unknown location, which is not written.
  uint32_t Location(const Program& p, ir::LocationId id) {
    if (id == 0) return 0;
    return 1 + location_numbers_.Of(id, [&] { return AddLocation(p.vocabulary()->GetLocation(id)); });
  }
  uint32_t AddLocation(const ir::Location& at) {
    ByteWriter w;
    w.Add(Text(at.file));
    w.Add(Text(at.func));
    w.Add(at.line);
    return locations_.Add(w.Take());
  }

  uint32_t Primitive(const Program& p, ir::PrimId id) {
    return primitive_numbers_.Of(id, [&] { return primitives_.Add(Number(Text(p.vocabulary()->PrimName(id)))); });
  }

  // Offset of the bytes in the section of constants, and their number. Those with equal bytes share an offset.
  uint32_t Blob(const ir::ConstantData& data) {
    const std::string_view bytes(reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size());
    for (const WrittenBlob& known : written_[data.hash]) {
      if (std::string_view(constants_).substr(known.offset, known.size) == bytes) return known.blob;
    }
    constants_.resize(Aligned(constants_.size()));
    ByteWriter w;
    w.Add(uint64_t{constants_.size()});
    w.Add(uint64_t{bytes.size()});
    const uint32_t blob = blobs_.Add(w.bytes());
    written_[data.hash].push_back({constants_.size(), bytes.size(), blob});
    constants_.append(bytes);
    return blob;
  }

  // Name, types of parameters, statements, results. Values have the numbers that the reader gives them again:
  // parameters first, then what each statement defines.
  std::string Encoded(const Program& p) {
    ByteWriter w;
    w.Add(Text(p.name));
    w.AddCount(p.n_params());
    for (ir::TypeId t : p.param_types) w.Add(Type(p, t));
    const auto statements = ir::Statements(p);
    w.AddCount(statements.size());
    for (const ir::Statement& s : statements) {
      s.constant != nullptr ? AddConstant(w, p, *s.constant) : AddEquation(w, p, *s.equation);
    }
    w.AddCount(p.n_results());
    for (ir::ValueId v : p.results) w.Add(v);
    return w.Take();
  }

  // 0, type, bytes: those of all elements, or of one for all.
  void AddConstant(ByteWriter& w, const Program& p, const ir::Constant& c) {
    w.Add(uint8_t{0});
    w.Add(Type(p, p.type_id(c.value)));
    w.Add(Blob(*c.data));
  }

  // 1, primitive, location, attributes, operands, types of results.
  void AddEquation(ByteWriter& w, const Program& p, const ir::Equation& e) {
    w.Add(uint8_t{1});
    w.Add(Primitive(p, e.prim));
    w.Add(Location(p, e.location));
    w.AddCount(e.attrs.size());
    for (const ricci_attr& a : e.attrs) AddAttr(w, a);
    w.AddCount(e.operands.size());
    for (ir::ValueId v : e.operands) w.Add(v);
    w.AddCount(e.n_results);
    for (uint32_t i = 0; i < e.n_results; ++i) w.Add(Type(p, p.type_id(e.result(i))));
  }

  // Name, kind (the numbers of the C ABI), value.
  void AddAttr(ByteWriter& w, const ricci_attr& a) {
    w.Add(Text(View(a.name)));
    w.Add(a.kind);
    switch (a.kind) {
      case RICCI_ATTR_INT:
      case RICCI_ATTR_BOOL:
        return w.Add(a.i);
      case RICCI_ATTR_FLOAT:
        return w.Add(a.f);
      case RICCI_ATTR_DTYPE:
        return w.Add(Text(types::Info(static_cast<uint32_t>(a.i)).name));
      case RICCI_ATTR_STRING:
        return w.Add(Text({static_cast<const char*>(a.data), a.count}));
      case RICCI_ATTR_INTS:
      case RICCI_ATTR_FLOATS:
        w.AddCount(a.count);
        return w.AddBytes({static_cast<const char*>(a.data), a.count * sizeof(int64_t)});
      default:
        w.AddCount(a.count);
        for (ricci_program* f : ir::Programs(a)) w.Add(program_ids_.at(ir::FromAbi(f)));
    }
  }

  struct WrittenBlob {
    size_t offset, size;
    uint32_t blob;
  };
  Entries texts_, types_, locations_, blobs_, primitives_, programs_;
  Numbers type_numbers_, location_numbers_, primitive_numbers_;
  std::string constants_;
  base::HashMap<const Program*, uint32_t> program_ids_;
  base::HashMap<uint64_t, std::vector<WrittenBlob>> written_;  // by the hash of the bytes
};

}  // namespace

std::string WriteProgram(const ir::Program& p) { return Writer().Run(p); }

}}}  // namespace ricci::v0::file
