// Programs of ricci/build.h: counted, inspected, compared, printed and parsed.
#include "api/arguments.h"
#include "base/abi_struct.h"
#include "ir/print.h"
#include "ir/structural.h"
#include "ir/verify.h"
#include "runtime/context/context.h"
#include "trace/parse_program.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::View;
using ir::FromAbi;

extern "C" {

ricci_program* ricci_program_retain(ricci_program* f) {
  if (f != nullptr) FromAbi(f)->Retain();
  return f;
}

void ricci_program_release(ricci_program* f) {
  if (f != nullptr) FromAbi(f)->Release();
}

void ricci_program_signature(const ricci_program* f, uint32_t* n_params, const ricci_type** params, uint32_t* n_results,
                             const ricci_type** results) {
  const ir::Program* p = FromAbi(f);
  if (n_params != nullptr) *n_params = p == nullptr ? 0 : p->n_params();
  if (params != nullptr) *params = p == nullptr ? nullptr : p->param_types.data();
  if (n_results != nullptr) *n_results = p == nullptr ? 0 : p->n_results();
  if (results != nullptr) *results = p == nullptr ? nullptr : p->result_types.data();
}

void ricci_program_name(const ricci_program* f, ricci_str* out) {
  if (out != nullptr) *out = f == nullptr ? ricci_str{"", 0} : api::ToStr(FromAbi(f)->name);
}

int32_t ricci_program_result_param(const ricci_program* f, uint32_t i) {
  if (f == nullptr || i >= FromAbi(f)->n_results()) return -1;
  const ir::ValueId result = FromAbi(f)->results[i];
  return result < FromAbi(f)->n_params() ? static_cast<int32_t>(result) : -1;
}

uint32_t ricci_program_equation_count(const ricci_program* f) {
  return f == nullptr ? 0 : static_cast<uint32_t>(FromAbi(f)->equations.size());
}

ricci_status* ricci_program_equation(const ricci_program* f, uint32_t i, ricci_op* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    const ir::Program& p = *FromAbi(f);
    if (i >= p.equations.size()) {
      return args.Wrong("i is ", i, ", but program ", p.name, " has ", p.equations.size(), " equations");
    }
    if (!base::WriteStruct(out, *trace::Op(p, p.equations[i]).get())) {
      return args.Wrong("out->hdr.size is not set; set it to the size of the struct");
    }
    return absl::OkStatus();
  });
}

uint64_t ricci_program_hash(const ricci_program* f) { return f == nullptr ? 0 : ir::Hash(*FromAbi(f)); }

uint32_t ricci_program_equal(const ricci_program* a, const ricci_program* b) {
  if (a == b) return 1;
  return a != nullptr && b != nullptr && ir::Equal(*FromAbi(a), *FromAbi(b));
}

ricci_status* ricci_program_print(const ricci_program* f, void* sink,
                                  void (*write)(void* sink, const char* p, size_t n)) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"write", reinterpret_cast<const void*>(write)}}));
    const std::string text = ir::Print(*FromAbi(f));
    write(sink, text.data(), text.size());
    return absl::OkStatus();
  });
}

ricci_status* ricci_program_parse(ricci_ctx* c, const char* text, size_t len, const char* origin, size_t origin_len,
                                  ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"text", text}, {"out", out}}));
    RICCI_TRY(args.Array("origin", origin, origin_len));
    RICCI_ASSIGN(ir::ProgramRef program,
                 trace::ParseProgram(runtime::FromAbi(c)->registry(), View(text, len), View(origin, origin_len)));
    *out = ir::Abi(program.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_program_verify(const ricci_program* f) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}}));
    return ir::Verify(*FromAbi(f));
  });
}
}
