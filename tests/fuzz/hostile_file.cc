#include "fuzz/hostile_file.h"

#include <array>
#include <cstring>

#include "file/container.h"

namespace ricci::testing {
namespace {

using Section = file::SectionKind;

// Those that hold most of what a reader decides by are drawn most often.
constexpr Section kDrawn[] = {Section::kPrograms, Section::kPrograms,  Section::kPrograms,   Section::kPrograms,
                              Section::kTypes,    Section::kTypes,     Section::kTexts,      Section::kBlobs,
                              Section::kBlobs,    Section::kConstants, Section::kPrimitives, Section::kLocations};
constexpr uint64_t kHostile[] = {0,          1,          2,          3,          7,
                                 0xff,       0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
                                 1ull << 40, 1ull << 61, 1ull << 62, 1ull << 63, ~uint64_t{0}};

size_t SomePlace(Dice& dice, size_t n) { return static_cast<size_t>(dice.Below(static_cast<int64_t>(n))); }

// Another number in the place of one of 4 or 8 bytes; half of the time it is almost the old one.
void ChangeNumber(Dice& dice, std::string& s) {
  const size_t size = dice.Chance(0.7) ? 4 : 8;
  if (s.size() < size) return;
  char* const at = s.data() + SomePlace(dice, s.size() - size + 1);
  uint64_t v = 0;
  std::memcpy(&v, at, size);
  v = dice.Chance(0.5) ? v + static_cast<uint64_t>(dice.Between(-3, 3)) : dice.Pick(kHostile);
  std::memcpy(at, &v, size);
}

void Change(Dice& dice, std::string& s) {
  if (s.empty()) return s.append(static_cast<size_t>(dice.Between(1, 16)), '\0'), void();
  const size_t at = SomePlace(dice, s.size());
  const size_t n = std::min(s.size() - at, static_cast<size_t>(dice.Between(1, 24)));
  switch (dice.Below(8)) {
    case 0:
    case 1:
      s[at] = static_cast<char>(dice.Bits());
      return;
    case 2:
      s.resize(at);
      return;
    case 3:
      s.erase(at, n);
      return;
    case 4:
      s.insert(at, s.substr(SomePlace(dice, s.size()), n));
      return;
    default:
      return ChangeNumber(dice, s);
  }
}

}  // namespace

std::string MutatedFile(Dice& dice, const std::string& bytes) {
  file::Sections sections = file::ReadContainer(bytes, "drawn").value();
  std::array<std::string, std::tuple_size_v<file::Sections>> changed;
  for (size_t i = 0; i < sections.size(); ++i) changed[i] = sections[i];
  for (int64_t n = dice.Between(1, 3); n > 0; --n) Change(dice, changed[dice.Pick(kDrawn)]);
  for (size_t i = 0; i < sections.size(); ++i) sections[i] = changed[i];
  return file::WriteContainer(sections);
}

}  // namespace ricci::testing
