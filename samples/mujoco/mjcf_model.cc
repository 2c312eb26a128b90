#include "mjcf_model.h"

#include <string>

namespace engine {
namespace {

using ricci::Fail;

constexpr std::string_view kSpace = " \t\r\n";

// Whether an attribute such as `file`, `fileright` or `filename` is in the text.
bool NamesFile(std::string_view mjcf) {
  for (size_t at = mjcf.find("file"); at != std::string_view::npos; at = mjcf.find("file", at + 1)) {
    size_t end = at;
    while (end < mjcf.size() && mjcf[end] >= 'a' && mjcf[end] <= 'z') ++end;
    end = mjcf.find_first_not_of(kSpace, end);
    if (end != std::string_view::npos && mjcf[end] == '=') return true;
  }
  return false;
}

mjModel* Compile(std::string_view op, const std::string& mjcf) {
  char error[1024] = "";
  mjSpec* const spec = mj_parseXMLString(mjcf.c_str(), nullptr, error, sizeof error);
  if (spec == nullptr) Fail(op, ": `model` is not MJCF: ", error);
  mjModel* const model = mj_compile(spec, nullptr);
  const std::string why = model == nullptr ? mjs_getError(spec) : "";
  mj_deleteSpec(spec);
  if (model == nullptr) Fail(op, ": `model` does not compile: ", why);
  return model;
}

void WantPureState(std::string_view op, const mjModel* m) {
  const auto refuse = [&](mjtSize size, std::string_view what) {
    if (size != 0)
      Fail(op, ": `model` has ", size, " numbers of ", what, ", which are not operands; remove what has them");
  };
  refuse(m->npluginstate, "plugin state");
  refuse(m->nhistory, "history (delays)");
  refuse(m->nplastic, "plastic deformation");
  if ((m->opt.enableflags & mjENBL_SLEEP) != 0) {
    Fail(op, ": `model` lets bodies sleep, and what sleeps is not an operand; remove the flag `sleep`");
  }
}

}  // namespace

MjcfModel::MjcfModel(std::string_view op, std::string_view mjcf) {
  if (NamesFile(mjcf)) {
    Fail(op,
         ": `model` names a file, but must hold all of the model; mj_saveXMLString writes one without includes, and ",
         "meshes can be given as vertices");
  }
  model_.reset(Compile(op, std::string(mjcf)));
  WantPureState(op, model_.get());
}

}  // namespace engine
