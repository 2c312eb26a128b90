// Central differences: the tangents of a program against how its results change, in f64.
//
// At ordinary points every element has a slope. At corners (points where branches meet: equal elements, zeros,
// infinities) only some have, and the differences say which: where one-sided slopes and two steps agree. So no row says
// where it is smooth, and one that is smooth everywhere, a sum of exponentials, must be right where elements are equal.
#ifndef RICCI_LAWS_TANGENT_DIFFERENCES_H_
#define RICCI_LAWS_TANGENT_DIFFERENCES_H_
#include "laws/trial.h"

namespace ricci { inline namespace v0 { namespace laws {

inline constexpr double kFirstOrder = 1e-6, kSecondOrder = 1e-4;  // tolerances

// Which parameters have a tangent.
using Active = std::vector<uint8_t>;
Active PreciseParams(const Runnable& f);
// x, then a tangent for each active operand.
Arrays WithTangents(Trial& t, const Runnable& f, const Arrays& x, const Active& active);

// Of a derivative that fails because of the results beside it.
absl::Status Unchanged(const absl::Status& s);

// By each precise parameter alone, so that rules see tangents that are symbolic zeros; messages call it a `noun`.
absl::Status EachAlone(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance, std::string_view noun,
                       Where where);
// By all precise parameters together; if that fails, by each alone, to name the one at fault.
absl::Status Differences(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance);
// The same at a corner, of all parameters together.
absl::Status DifferencesAtCorner(Trial& t, LawId law, Runnable& f, const Arrays& x, double tolerance, Points points);

}}}  // namespace ricci::v0::laws
#endif
