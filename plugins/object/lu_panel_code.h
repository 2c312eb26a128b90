// LuPanelCode: emits the factorisation with pivots of some columns of a matrix.
#ifndef RICCI_OBJECT_LU_PANEL_CODE_H_
#define RICCI_OBJECT_LU_PANEL_CODE_H_
#include "panel_code.h"

namespace ricci::object {

class LuPanelCode : protected PanelCode {
 protected:
  using PanelCode::PanelCode;
  // A function (PanelCode::Panel) whose pivots are i32, from the first of its rows on.
  V LuPanel();

 private:
  V FindPivot(V j);
  void SwapRows(V i, V k);
  void EliminateTop(V first);
};

}  // namespace ricci::object
#endif
