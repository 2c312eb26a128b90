#include "cli/interrupt.h"

#include <set>

namespace ricci { inline namespace v0 { namespace cli {
namespace {

uint32_t interrupted = 0;  // a handler sees nothing but globals

class LoopSearch {
 public:
  explicit LoopSearch(const Session& session) : session_(session) {}

  void Visit(const ricci_program* f) {
    if (!seen_.insert(f).second) return;
    for (uint32_t i = 0; i < ricci_program_equation_count(f); ++i) {
      ricci_op op{};
      op.hdr.size = sizeof op;
      Check(ricci_program_equation(f, i, &op));
      Visit(op);
    }
  }
  const std::string& found() const { return found_; }

 private:
  void Visit(const ricci_op& op) {
    ricci_str name{};
    ricci_prim_name(session_.context(), op.prim, &name);
    bool bounded = View(name) != "while";
    for (uint32_t i = 0; i < op.n_attrs; ++i) {
      const ricci_attr& a = op.attrs[i];
      bounded |= View(a.name) == "max_trips";
      const bool holds = a.kind == RICCI_ATTR_PROGRAM || a.kind == RICCI_ATTR_PROGRAMS;
      for (uint32_t k = 0; holds && k < a.count; ++k) Visit(static_cast<ricci_program* const*>(a.data)[k]);
    }
    if (!bounded) Add(op, View(name));
  }
  void Add(const ricci_op& op, std::string_view name) {
    ricci_str file{};
    uint32_t line = 0;
    ricci_location_get(session_.context(), op.location, &file, &line, nullptr);
    found_ += (found_.empty() ? "" : ", ") + std::string(name);
    if (file.len != 0) found_ += " at " + std::string(View(file)) + ":" + std::to_string(line);
  }

  const Session& session_;
  std::set<const ricci_program*> seen_;
  std::string found_;
};

}  // namespace

Interrupt::Interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, &before_);
}
Interrupt::~Interrupt() { ::sigaction(SIGINT, &before_, nullptr); }

const uint32_t* Interrupt::word() { return &interrupted; }

std::string LoopsWithoutBound(const Session& session, const ricci_program* p) {
  LoopSearch search(session);
  search.Visit(p);
  return search.found();
}

}}}  // namespace ricci::v0::cli
