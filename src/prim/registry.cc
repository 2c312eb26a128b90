#include "prim/registry.h"

#include "base/abi_struct.h"
#include "base/abi_text.h"
#include "base/foreign_call.h"
#include "ir/text_lexer.h"

namespace ricci { inline namespace v0 { namespace prim {
namespace {

using base::View;

void Drop(const Row& row) {
  if (row.def.drop_self != nullptr) base::CallQuietly([&] { row.def.drop_self(row.def.self); });
}

// ---- texts ----
// They are read before anything else of a row is, so a length that was never set must not be believed.

constexpr size_t kLongestName = 256;
constexpr size_t kLongestText = 1 << 20;  // of docs, examples, factors
constexpr uint32_t kMostSpecs = 256, kMostLowerings = 1024;

// Is `text` UTF-8 (RFC 3629): no surrogates, nothing longer than needed?
bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(at < text.size() ? text[at] : 0); };
    const unsigned first = byte(i);
    const size_t n = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first >= 0x80 && (first < 0xC2 || first > 0xF4)) return false;
    for (size_t k = 1; k < n; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    const unsigned second = byte(i + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return false;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return false;
    i += n;
  }
  return true;
}

// `what` names the text in messages: `h.op: doc`.
absl::Status CheckText(std::string_view owner, std::string_view what, ricci_str s, size_t longest) {
  if (s.ptr == nullptr) return absl::OkStatus();  // empty, whatever length comes with it
  if (s.len > longest) {
    return base::InvalidArgument(owner, ": ", what, " has ", s.len, " bytes; at most ", longest, " are allowed");
  }
  if (IsUtf8(View(s))) return absl::OkStatus();
  return base::InvalidArgument(owner, ": ", what, " is not UTF-8");
}

absl::Status CheckTexts(std::string_view name, const ricci_prim_def& def) {
  const std::pair<const char*, ricci_str> texts[] = {
      {"doc", def.doc}, {"examples", def.examples}, {"factors", def.factors}, {"missing", def.missing}};
  for (const auto& [what, text] : texts) RICCI_TRY(CheckText(name, what, text, kLongestText));
  return absl::OkStatus();
}

// A word of small letters and digits, or `*`.
bool IsTarget(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return text == "*" || std::all_of(text.begin(), text.end(), fits);
}

// ---- attributes ----

// The size of the attribute specs of `def`. A writer whose header had no `doc` yet compiled them without `absent`.
uint32_t SpecSize(const ricci_prim_def& def) {
  if (def.attr_spec_size != 0) return def.attr_spec_size;
  return RICCI_HAS(&def, doc) ? sizeof(ricci_attr_spec) : offsetof(ricci_attr_spec, absent);
}

absl::Status CopyAttrSpecs(const ricci_prim_def& def, Row& row) {
  for (uint32_t i = 0; i < def.n_attr_specs; ++i) {
    ricci_attr_spec spec = base::ReadElement(def.attr_specs, SpecSize(def), i);
    RICCI_TRY(CheckText(row.name, base::Cat("name of attribute spec ", i), spec.name, kLongestName));
    RICCI_TRY(CheckText(row.name, base::Cat("absent of attribute spec ", i), spec.absent, kLongestText));
    const std::string& name = row.attr_texts.emplace_back(View(spec.name));
    const std::string& absent = row.attr_texts.emplace_back(View(spec.absent));
    if (!ir::IsIdentifier(name)) return base::InvalidArgument(row.name, ": attribute spec ", i, " needs a name");
    if (spec.kind < RICCI_ATTR_INT || spec.kind > RICCI_ATTR_PROGRAMS) {
      return base::InvalidArgument(row.name, ": attribute ", name, " has kind ", spec.kind,
                                   "; known: 1 (INT) to 9 (PROGRAMS)");
    }
    if (!absent.empty() && (spec.flags & RICCI_ATTR_OPTIONAL) == 0) {
      return base::InvalidArgument(row.name, ": attribute ", name, " is `", absent,
                                   "` when left out, but has no flag RICCI_ATTR_OPTIONAL");
    }
    if ((spec.flags & ~uint32_t{RICCI_ATTR_OPTIONAL}) != 0) {
      return base::InvalidArgument(row.name, ": attribute ", name, " has flags ", spec.flags,
                                   "; known: 1 (RICCI_ATTR_OPTIONAL)");
    }
    const auto same = [&](const ricci_attr_spec& other) { return View(other.name) == name; };
    if (std::any_of(row.attr_specs.begin(), row.attr_specs.end(), same)) {
      return base::InvalidArgument(row.name, ": attribute ", name, " is declared twice");
    }
    spec.name = {name.data(), name.size()};
    spec.absent = {absent.data(), absent.size()};
    row.attr_specs.push_back(spec);
  }
  return absl::OkStatus();
}

// An array of the definition may be NULL only if it is empty.
absl::Status CheckArrays(std::string_view name, const ricci_prim_def& def) {
  if (def.n_attr_specs != 0 && def.attr_specs == nullptr) {
    return base::InvalidArgument(name, ": attr_specs is NULL, but n_attr_specs is ", def.n_attr_specs);
  }
  if (def.attr_spec_size != 0 && (def.attr_spec_size < sizeof(ricci_str) || def.attr_spec_size > 4096)) {
    return base::InvalidArgument(name, ": attr_spec_size is ", def.attr_spec_size,
                                 "; set it to the size of ricci_attr_spec");
  }
  if (def.n_lowerings != 0 && def.lowerings == nullptr) {
    return base::InvalidArgument(name, ": lowerings is NULL, but n_lowerings is ", def.n_lowerings);
  }
  if (def.n_attr_specs > kMostSpecs) {
    return base::InvalidArgument(name, ": n_attr_specs is ", def.n_attr_specs, "; at most ", kMostSpecs,
                                 " are allowed");
  }
  if (def.n_lowerings > kMostLowerings) {
    return base::InvalidArgument(name, ": n_lowerings is ", def.n_lowerings, "; at most ", kMostLowerings,
                                 " are allowed");
  }
  if (def.batch_kind > RICCI_BATCH_ELEMENTWISE) {
    return base::InvalidArgument(name, ": batch_kind is ", def.batch_kind, "; known: 0 (NONE), 1 (ELEMENTWISE)");
  }
  return absl::OkStatus();
}

// Flags that mean nothing without something else.
absl::Status CheckFlags(const Row& row) {
  if (row.has(RICCI_PRIM_NAMES)) {
    const auto is_name = [](const ricci_attr_spec& a) { return View(a.name) == "name" && a.kind == RICCI_ATTR_STRING; };
    if (std::none_of(row.attr_specs.begin(), row.attr_specs.end(), is_name)) {
      return base::InvalidArgument(row.name, ": has RICCI_PRIM_NAMES, but no attribute `name` of kind STRING");
    }
  }
  if (row.has(RICCI_PRIM_SAVES_INSIDE) && row.def.partial_eval == nullptr) {
    return base::InvalidArgument(row.name,
                                 ": has RICCI_PRIM_SAVES_INSIDE, but partial_eval is NULL, which must obey it");
  }
  return absl::OkStatus();
}

constexpr std::string_view kLoweringKinds[] = {"", "DECOMPOSE", "SCALAR", "INDEX", "LOOPS", "LIBRARY", "SOURCE"};
static_assert(std::size(kLoweringKinds) == RICCI_LOWER_SOURCE + 1);

// The name of the callback for a lowering's kind, and whether it is set.
std::pair<std::string_view, bool> CallbackOf(const ricci_lowering& l) {
  const std::pair<std::string_view, bool> callbacks[] = {{"", false},
                                                         {"decompose", l.decompose != nullptr},
                                                         {"scalar", l.scalar != nullptr},
                                                         {"index", l.index != nullptr},
                                                         {"loops", l.loops != nullptr},
                                                         {"library", l.library != nullptr},
                                                         {"source", l.source != nullptr}};
  static_assert(std::size(callbacks) == std::size(kLoweringKinds));
  return callbacks[l.kind];
}

absl::StatusOr<ricci_library> ReadLibrary(const ricci_library& from, const std::string& what) {
  RICCI_ASSIGN(const ricci_library library,
               base::ReadStruct(&from, base::Cat(what, ": library"), {RICCI_FLAG(RICCI_LIBRARY_ONLY_ENQUEUES)}));
  if (library.plan != nullptr && library.launch != nullptr) return library;
  return base::InvalidArgument(what, ": ", library.plan == nullptr ? "plan" : "launch", " of its library is NULL");
}

absl::Status AddTo(Row& row, const ricci_lowering* from) {
  if (from == nullptr) return base::InvalidArgument(row.name, ": a lowering is NULL");
  RICCI_ASSIGN(ricci_lowering l,
               base::ReadStruct(from, base::Cat(row.name, ": lowering"),
                                {RICCI_FLAG(RICCI_LOWERING_TRANSFORMABLE), RICCI_FLAG(RICCI_LOWERING_UPDATES)}));
  if (l.kind == 0 || l.kind >= std::size(kLoweringKinds)) {
    return base::InvalidArgument(row.name, ": a lowering has kind ", l.kind, "; known: 1 (DECOMPOSE) to 6 (SOURCE)");
  }
  const std::string what = base::Cat(row.name, ": ", kLoweringKinds[l.kind], " lowering");
  const auto [callback, given] = CallbackOf(l);
  if (!given) return base::InvalidArgument(what, ": its callback `", callback, "` is NULL");
  if (l.kind == RICCI_LOWER_LIBRARY) {
    RICCI_ASSIGN(const ricci_library library, ReadLibrary(*l.library, what));
    l.library = &row.libraries.emplace_back(library);
  }
  if ((l.hdr.flags & RICCI_LOWERING_TRANSFORMABLE) != 0 && l.kind != RICCI_LOWER_DECOMPOSE) {
    return base::InvalidArgument(what, ": RICCI_LOWERING_TRANSFORMABLE is for DECOMPOSE only");
  }
  if ((l.hdr.flags & RICCI_LOWERING_UPDATES) != 0 && l.kind != RICCI_LOWER_LOOPS) {
    return base::InvalidArgument(what, ": RICCI_LOWERING_UPDATES is for LOOPS only");
  }
  RICCI_TRY(CheckText(what, "target", l.target, kLongestName));
  const std::string_view given_target = View(l.target);
  if (!IsTarget(given_target)) {
    return base::InvalidArgument(what, ": target `", given_target, "` is neither `*` nor a word of small letters");
  }
  if (l.self == nullptr) l.self = row.def.self;
  const std::string& target = row.targets.emplace_back(given_target.empty() ? "*" : given_target);
  if (l.kind == RICCI_LOWER_SOURCE && target == "*") {
    return base::InvalidArgument(what, ": its target is `*`; name the one whose compiler reads the text");
  }
  const bool is_library = l.kind == RICCI_LOWER_LIBRARY;
  if (is_library && target == "*" && (l.library->hdr.flags & RICCI_LIBRARY_ONLY_ENQUEUES) != 0) {
    return base::InvalidArgument(what,
                                 ": its target is `*`, where it is a function of the host and has no stream; "
                                 "RICCI_LIBRARY_ONLY_ENQUEUES is for the lowering of one target");
  }
  l.target = {target.data(), target.size()};
  auto after = std::find_if(row.lowerings.begin(), row.lowerings.end(),
                            [&](const ricci_lowering& o) { return o.priority < l.priority; });
  row.lowerings.insert(after, l);
  row.PublishLowerings();
  return absl::OkStatus();
}

}  // namespace

std::string_view KindName(uint32_t kind) { return kLoweringKinds[kind]; }

Registry::Registry(const base::HostMemory* memory, base::Shared* owner, ricci_ctx* abi)
    : vocabulary_(memory, owner, abi) {
  vocabulary_.registry = this;
  rows_.push_back(std::make_unique<Row>());  // of ids that are gone: a plugin may keep a program beyond its attach
  rows_.back()->name = "a primitive whose plugin failed to attach";
  rows_.back()->plugin = "no plugin";
  uses_.emplace_back();
}

Registry::~Registry() {
  for (const Replaced& r : replaced_) Drop(*r.row);
  for (const auto& row : retired_) Drop(*row);
  for (const auto& row : rows_) Drop(*row);
}

Registry& Registry::Of(const ir::Vocabulary& v) { return *v.registry; }

absl::StatusOr<PrimId> Registry::Add(const ricci_prim_def& from, Flow flow) {
  RICCI_ASSIGN(
      ricci_prim_def def,
      base::ReadStruct(
          &from, "primitive",
          {RICCI_FLAG(RICCI_PRIM_LINEAR), RICCI_FLAG(RICCI_PRIM_EFFECTFUL), RICCI_FLAG(RICCI_PRIM_OVERRIDE),
           RICCI_FLAG(RICCI_PRIM_COMMUTATIVE), RICCI_FLAG(RICCI_PRIM_EXPENSIVE), RICCI_FLAG(RICCI_PRIM_TRANSCENDENTAL),
           RICCI_FLAG(RICCI_PRIM_READS_ONCE), RICCI_FLAG(RICCI_PRIM_VIEW), RICCI_FLAG(RICCI_PRIM_MAY_FAIL),
           RICCI_FLAG(RICCI_PRIM_BARRIER), RICCI_FLAG(RICCI_PRIM_NAMES), RICCI_FLAG(RICCI_PRIM_SAVES_INSIDE)}));
  RICCI_TRY(CheckText("primitive", "name", def.name, kLongestName));
  const std::string_view name = View(def.name);
  if (name.empty()) return base::InvalidArgument("primitive: a row needs a name");
  if (!ir::IsIdentifier(name)) {
    return base::InvalidArgument("primitive: `", name,
                                 "` is not a name; use letters, digits, _, . and -, with a letter first");
  }
  if (def.abstract_eval == nullptr) {
    return base::InvalidArgument(name, ": a row needs abstract_eval, which gives the types of its results");
  }
  RICCI_TRY(CheckArrays(name, def));
  RICCI_TRY(CheckTexts(name, def));
  const PrimId known = vocabulary_.FindPrim(name);
  if (known != 0 && !(def.hdr.flags & RICCI_PRIM_OVERRIDE)) {
    return base::InvalidArgument(name, ": already registered by ", Get(known).plugin,
                                 "; RICCI_PRIM_OVERRIDE replaces it");
  }
  auto row = std::make_unique<Row>();
  row->name = name;
  row->plugin = attaching_.empty() ? "the host" : base::Cat("plugin ", attaching_);
  row->factors = View(def.factors);
  row->missing = View(def.missing);
  row->examples = View(def.examples);
  row->doc_text = View(def.doc);
  RICCI_ASSIGN(row->doc, ParseDoc(row->name, row->doc_text));
  row->flow = flow;
  RICCI_TRY(CopyAttrSpecs(def, *row));
  row->def = def;
  row->def.name = {row->name.data(), row->name.size()};
  row->def.factors = {row->factors.data(), row->factors.size()};
  row->def.missing = {row->missing.data(), row->missing.size()};
  row->def.examples = {row->examples.data(), row->examples.size()};
  row->def.doc = {row->doc_text.data(), row->doc_text.size()};
  row->def.attr_specs = row->attr_specs.data();
  row->def.lowerings = nullptr;
  row->def.n_lowerings = 0;
  RICCI_TRY(CheckFlags(*row));
  for (uint32_t i = 0; i < def.n_lowerings; ++i) RICCI_TRY(AddTo(*row, def.lowerings[i]));
  if (uses_.size() <= rows_.size()) uses_.emplace_back();
  rows_.reserve(rows_.size() + 1);  // from here on only the table of names allocates
  replaced_.reserve(replaced_.size() + 1);
  retired_.reserve(retired_.size() + replaced_.size() + 1);
  row->id = known != 0 ? known : vocabulary_.AddPrimName(name);
  const PrimId id = row->id;
  if (known != 0) {
    replaced_.push_back({known, nullptr});
    replaced_.back().row = std::exchange(rows_[known], std::move(row));
  } else {
    rows_.push_back(std::move(row));
  }
  return id;
}

absl::Status Registry::AddLowering(PrimId id, const ricci_lowering& lowering) {
  if (id == 0 || id >= rows_.size()) return base::InvalidArgument("lowering: no primitive has id ", id);
  Row& row = *rows_[id];
  added_lowerings_.reserve(added_lowerings_.size() + 1);
  RICCI_TRY(AddTo(row, &lowering));
  added_lowerings_.push_back({id, row.targets.back().data()});
  return absl::OkStatus();
}

void Registry::Begin(std::string_view name) {
  Commit();  // what the host registered itself must not be taken back with this plugin
  attaching_ = name;
  rows_before_ = rows_.size();
}

void Registry::Commit() {
  // Executables compiled earlier call into the replaced rows, and hosts may hold rows from ricci_prim_at.
  for (Replaced& r : replaced_) retired_.push_back(std::move(r.row));
  replaced_.clear();
  added_lowerings_.clear();
  attaching_.clear();
}

void Registry::Rollback() noexcept {
  for (; !replaced_.empty(); replaced_.pop_back()) {
    Drop(*rows_[replaced_.back().id]);
    rows_[replaced_.back().id] = std::move(replaced_.back().row);
  }
  for (const AddedLowering& added : added_lowerings_) {
    Row& row = *rows_[added.id];
    std::erase_if(row.lowerings, [&](const ricci_lowering& l) { return l.target.ptr == added.target; });
    row.PublishLowerings();
  }
  added_lowerings_.clear();
  for (; rows_.size() > rows_before_; rows_.pop_back()) Drop(*rows_.back());
  vocabulary_.TruncatePrims(static_cast<uint32_t>(rows_before_));
  attaching_.clear();
}

const Row* Registry::Find(std::string_view name) const {
  const PrimId id = vocabulary_.FindPrim(name);
  return id == 0 ? nullptr : rows_[id].get();
}

const Row* Registry::Listed(uint32_t i) const {
  for (PrimId id = 1; id < size(); ++id) {
    if (Get(id).listed() && i-- == 0) return &Get(id);
  }
  return nullptr;
}

bool Registry::HasEffect(const ir::Equation& eqn) const {
  bool effect = Get(eqn.prim).effectful();
  for (const ricci_attr& a : eqn.attrs) {
    for (ricci_program* p : ir::Programs(a)) effect |= ir::FromAbi(p)->effectful;
  }
  return effect;
}

}}}  // namespace ricci::v0::prim
