#include "fuzz/shuffled_text.h"

#include <cctype>
#include <string_view>

namespace ricci::testing {
namespace {

class Shuffler {
 public:
  Shuffler(std::string_view text, Dice& dice) : text_(text), dice_(dice) {}

  std::string Run() {
    std::string out;
    while (at_ < text_.size()) {
      const size_t from = at_;
      if (text_[at_] == '"') {
        SkipString();
      } else {
        ++at_;
      }
      out += text_.substr(from, at_ - from);
      if (out.back() == ')') out += Attributes();
    }
    return out;
  }

 private:
  // All ` name=value` that follow.
  std::string Attributes() {
    std::vector<std::string> found;
    while (AtAttribute()) {
      const size_t from = at_;
      at_ = text_.find('=', at_) + 1;
      SkipValue();
      found.push_back(Shuffler(text_.substr(from, at_ - from), dice_).Run());
    }
    dice_.Shuffle(found);
    std::string out;
    for (const std::string& a : found) out += a;
    return out;
  }
  bool AtAttribute() const {
    size_t end = at_;
    if (end >= text_.size() || text_[end] != ' ') return false;
    for (++end; end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_');)
      ++end;
    return end > at_ + 1 && end < text_.size() && text_[end] == '=';
  }
  void SkipString() {
    for (++at_; text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
    ++at_;
  }
  // A word, a quoted text, or something in brackets; a program up to its closing brace.
  void SkipValue() {
    const bool program = text_.substr(at_).starts_with("program");
    for (int depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
        continue;
      }
      if (depth == 0 && !program && (c == ' ' || c == '\n')) return;
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
      ++at_;
      if (program && depth == 0 && c == '}') return;
    }
  }

  std::string_view text_;
  Dice& dice_;
  size_t at_ = 0;
};

}  // namespace

std::string WithShuffledAttributes(const std::string& text, Dice& dice) { return Shuffler(text, dice).Run(); }

}  // namespace ricci::testing
