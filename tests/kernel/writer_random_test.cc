// Random structured kernels (loops, whiles, branches, reductions, private arrays, a buffer that is read and written):
// what the Writer makes of them, interpreted, against a direct evaluation of the same tree.
#include <gtest/gtest.h>

#include <random>

#include "kernel/scalar/scalar_eval.h"
#include "kernel/writer.h"

namespace ricci::kernel { namespace {

constexpr int64_t kElements = 8;  // of every array; a power of two, so that `& 7` is a safe index
constexpr int kLocals = 2;

enum class Kind { kConst, kOp, kGet, kSet, kLoad, kStore, kFor, kIf, kReduce, kWhile };

struct Statement {
  Kind kind;
  uint32_t op = 0;  // scalar operation or combiner
  int64_t imm = 0;  // constant, array
  int in[3] = {};   // slots
  int out = 0;      // slot; of kFor and kReduce the index
  int result = 0;   // slot of a kReduce
  std::vector<Statement> body, other;
};

// ---- generation ----
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::vector<Statement> Run() {
    std::vector<Statement> body;
    for (int i = 0; i < 3; ++i) Constant(&body);
    Fill(&body, 10 + Below(10), 0);
    return body;
  }
  int slots() const { return slots_; }

 private:
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_); }

  int Constant(std::vector<Statement>* body) {
    static constexpr int64_t kUseful[] = {0, 1, 2, 3, 4, 7, 8, 12, -1, 5};
    return Append(body, {.kind = Kind::kConst, .imm = kUseful[Below(10)]}, &wide_);
  }
  int Append(std::vector<Statement>* body, Statement s, std::vector<int>* visible) {
    s.out = slots_++;
    body->push_back(std::move(s));
    visible->push_back(slots_ - 1);
    return slots_ - 1;
  }
  int Wide() { return wide_[wide_.size() - 1 - Below(static_cast<uint32_t>(std::min<size_t>(wide_.size(), 9)))]; }
  int Condition(std::vector<Statement>* body) {
    if (!bools_.empty() && Below(3) == 0) return bools_[Below(static_cast<uint32_t>(bools_.size()))];
    return Append(body, {.kind = Kind::kOp, .op = RICCI_S_EQ + Below(6), .in = {Wide(), Wide()}}, &bools_);
  }
  int Index(std::vector<Statement>* body) {
    const int mask = Append(body, {.kind = Kind::kConst, .imm = Below(2) ? 7 : int64_t{Below(8)}}, &wide_);
    return Append(body, {.kind = Kind::kOp, .op = RICCI_S_AND, .in = {Wide(), mask}}, &wide_);
  }
  std::vector<Statement> Block(int n, int depth) {
    const size_t wide = wide_.size(), bools = bools_.size();
    std::vector<Statement> body;
    Fill(&body, n, depth);
    wide_.resize(wide), bools_.resize(bools);
    return body;
  }
  void Fill(std::vector<Statement>* body, uint32_t n, int depth) {
    for (uint32_t i = 0; i < n; ++i) One(body, depth);
  }

  void One(std::vector<Statement>* body, int depth) {
    static constexpr uint32_t kOps[] = {RICCI_S_ADD, RICCI_S_SUB, RICCI_S_MUL, RICCI_S_DIV,
                                        RICCI_S_REM, RICCI_S_MIN, RICCI_S_MAX, RICCI_S_XOR};
    const uint32_t choice = Below(depth < 3 ? 15 : 11);
    if (choice < 4) {
      Append(body, {.kind = Kind::kOp, .op = kOps[Below(8)], .in = {Wide(), Wide()}}, &wide_);
    } else if (choice == 4) {
      const int c = Condition(body);
      Append(body, {.kind = Kind::kOp, .op = RICCI_S_SELECT, .in = {c, Wide(), Wide()}}, &wide_);
    } else if (choice < 7) {
      const bool local = Below(2);
      const int at = Index(body);
      const Statement s{.kind = local ? Kind::kGet : Kind::kLoad, .imm = Below(2), .in = {at}};
      Append(body, s, &wide_);
    } else if (choice < 10) {
      const bool local = Below(3) != 0;
      const int at = Index(body);
      body->push_back(
          {.kind = local ? Kind::kSet : Kind::kStore, .imm = local ? Below(kLocals) : 1, .in = {at, Wide()}});
    } else if (choice == 10) {
      Constant(body);
    } else {
      Nested(body, choice, depth);
    }
  }

  void Nested(std::vector<Statement>* body, uint32_t choice, int depth) {
    if (choice == 11) {
      Statement s{.kind = Kind::kIf, .in = {Condition(body)}};
      s.body = Block(1 + Below(5), depth + 1);
      if (Below(2)) s.other = Block(1 + Below(5), depth + 1);
      body->push_back(std::move(s));
      return;
    }
    // A bound is a small constant or unknown but small.
    const int lo = Append(body, {.kind = Kind::kConst, .imm = Below(3)}, &wide_);
    const int hi = Below(2) ? Append(body, {.kind = Kind::kConst, .imm = Below(5)}, &wide_) : Bound(body);
    const Kind kind = choice == 12 ? Kind::kReduce : choice == 13 ? Kind::kWhile : Kind::kFor;
    Statement s{.kind = kind, .in = {lo, hi}};
    s.out = slots_++;
    wide_.push_back(s.out);
    const size_t wide = wide_.size(), bools = bools_.size();
    Fill(&s.body, 1 + Below(5), depth + 1);
    if (kind == Kind::kReduce) {
      static constexpr uint32_t kCombiners[] = {RICCI_S_ADD, RICCI_S_MUL, RICCI_S_MIN, RICCI_S_XOR};
      s.op = kCombiners[Below(4)];
      s.in[2] = Wide();
      s.result = slots_++;
    }
    wide_.resize(wide - 1), bools_.resize(bools);
    if (kind == Kind::kReduce) wide_.push_back(s.result);
    body->push_back(std::move(s));
  }
  int Bound(std::vector<Statement>* body) {
    const int mask = Append(body, {.kind = Kind::kConst, .imm = 3}, &wide_);
    return Append(body, {.kind = Kind::kOp, .op = RICCI_S_AND, .in = {Wide(), mask}}, &wide_);
  }

  std::mt19937 random_;
  std::vector<int> wide_, bools_;
  int slots_ = 0;
};

// ---- through the Writer ----
class Emitter {
 public:
  Emitter(Writer& w, int slots) : w_(w), v_(static_cast<size_t>(slots)) {
    in_ = w.Buffer(RICCI_I64, kElements, RICCI_ACCESS_READ);
    out_ = w.Buffer(RICCI_I64, kElements, RICCI_ACCESS_READ_WRITE);
    for (LocalId& l : locals_) {
      l = w.Local(RICCI_I64, kElements);
      for (int64_t i = 0; i < kElements; ++i) w.Set(l, w.Index(i), w.Index(i));
    }
  }

  void Emit(const std::vector<Statement>& body) {
    for (const Statement& s : body) EmitOne(s);
  }
  // Makes the contents of the private arrays visible.
  void Finish() {
    for (int64_t i = 0; i < kElements; ++i) {
      const Val at = w_.Index(i);
      w_.Store(out_, at, w_.Op(RICCI_S_XOR, w_.Load(out_, at), w_.Add(w_.Get(locals_[0], at), w_.Get(locals_[1], at))));
    }
  }

 private:
  Val In(const Statement& s, int i) const { return v_[static_cast<size_t>(s.in[i])]; }

  void EmitOne(const Statement& s) {
    switch (s.kind) {
      case Kind::kConst:
        v_[s.out] = w_.Index(s.imm);
        break;
      case Kind::kOp: {
        const Val in[] = {In(s, 0), In(s, 1), In(s, 2)};
        v_[s.out] = w_.Scalar(s.op, 0, {in, InfoOf(s.op).arity});
        break;
      }
      case Kind::kGet:
        v_[s.out] = w_.Get(locals_[s.imm], In(s, 0));
        break;
      case Kind::kSet:
        w_.Set(locals_[s.imm], In(s, 0), In(s, 1));
        break;
      case Kind::kLoad:
        v_[s.out] = w_.Load(s.imm ? out_ : in_, In(s, 0));
        break;
      case Kind::kStore:
        w_.Store(out_, In(s, 0), In(s, 1));
        break;
      case Kind::kIf:
        w_.If(In(s, 0));
        Emit(s.body);
        if (!s.other.empty()) w_.Else();
        Emit(s.other);
        w_.End();
        break;
      case Kind::kFor:
        v_[s.out] = w_.For(In(s, 0), In(s, 1));
        Emit(s.body);
        w_.End();
        break;
      case Kind::kReduce:
        v_[s.out] = w_.Reduce(s.op, In(s, 0), In(s, 1));
        Emit(s.body);
        v_[s.result] = w_.Yield(In(s, 2));
        break;
      case Kind::kWhile:
        EmitWhile(s);
        break;
    }
  }
  void EmitWhile(const Statement& s) {
    const Val zero = w_.Index(0);
    const LocalId counter = w_.Local(RICCI_I64, 1);
    w_.Set(counter, zero, In(s, 0));
    w_.While();
    w_.Cond(w_.Less(w_.Get(counter, zero), In(s, 1)));
    v_[s.out] = w_.Get(counter, zero);
    Emit(s.body);
    w_.Set(counter, zero, w_.Add(v_[s.out], w_.Index(1)));
    w_.End();
  }

  Writer& w_;
  std::vector<Val> v_;
  uint32_t in_, out_;
  LocalId locals_[kLocals];
};

// ---- directly ----
class Evaluator {
 public:
  explicit Evaluator(int slots) : v_(static_cast<size_t>(slots)) {
    for (int64_t i = 0; i < kElements; ++i) {
      in_[i] = 3 * i - 5, out_[i] = i * i;
      for (auto& l : locals_) l[i] = i;
    }
  }
  void Run(const std::vector<Statement>& body) {
    for (const Statement& s : body) RunOne(s);
  }
  std::vector<int64_t> Result() const {
    std::vector<int64_t> r;
    for (int64_t i = 0; i < kElements; ++i) {
      const uint64_t sum = static_cast<uint64_t>(locals_[0][i]) + static_cast<uint64_t>(locals_[1][i]);
      r.push_back(out_[i] ^ static_cast<int64_t>(sum));
    }
    return r;
  }

 private:
  int64_t In(const Statement& s, int i) const { return v_[static_cast<size_t>(s.in[i])]; }
  static int64_t Apply(uint32_t op, int64_t a, int64_t b, int64_t c) {
    const ScalarFn fn = FindScalarFn(op, RICCI_I64, RICCI_I64);
    return static_cast<int64_t>(fn(static_cast<uint64_t>(a), static_cast<uint64_t>(b), static_cast<uint64_t>(c)));
  }

  void RunOne(const Statement& s) {
    switch (s.kind) {
      case Kind::kConst:
        v_[s.out] = s.imm;
        break;
      case Kind::kOp:
        v_[s.out] = Apply(s.op, In(s, 0), In(s, 1), In(s, 2));
        break;
      case Kind::kGet:
        v_[s.out] = locals_[s.imm][In(s, 0)];
        break;
      case Kind::kSet:
        locals_[s.imm][In(s, 0)] = In(s, 1);
        break;
      case Kind::kLoad:
        v_[s.out] = (s.imm ? out_ : in_)[In(s, 0)];
        break;
      case Kind::kStore:
        out_[In(s, 0)] = In(s, 1);
        break;
      case Kind::kIf:
        Run(In(s, 0) ? s.body : s.other);
        break;
      case Kind::kFor:
      case Kind::kWhile:
      case Kind::kReduce:
        RunLoop(s);
        break;
    }
  }
  void RunLoop(const Statement& s) {
    const bool reduce = s.kind == Kind::kReduce;
    int64_t sum = reduce ? static_cast<int64_t>(IdentityOf(s.op, RICCI_I64)) : 0;
    const int64_t hi = In(s, 1);
    for (int64_t i = In(s, 0); i < hi; ++i) {
      v_[s.out] = i;
      Run(s.body);
      if (reduce) sum = Apply(s.op, sum, In(s, 2), 0);
    }
    if (reduce) v_[s.result] = sum;
  }

  std::vector<int64_t> v_;
  int64_t in_[kElements], out_[kElements], locals_[kLocals][kElements];
};

void CheckSeed(uint32_t seed) {
  Generator g(seed);
  const std::vector<Statement> body = g.Run();
  Writer w("random");
  Emitter emitter(w, g.slots());
  emitter.Emit(body);
  emitter.Finish();
  const absl::StatusOr<Kernel> k = w.Finish();
  ASSERT_TRUE(k.ok()) << "seed " << seed << ": " << k.status();
  std::vector<int64_t> in(kElements), out(kElements);
  for (int64_t i = 0; i < kElements; ++i) in[i] = 3 * i - 5, out[i] = i * i;
  void* const buffers[] = {in.data(), out.data()};
  const absl::Status run = Interpret(k->View(), buffers);
  ASSERT_TRUE(run.ok()) << "seed " << seed << ": " << run << "\n" << ToText(*k);
  Evaluator direct(g.slots());
  direct.Run(body);
  ASSERT_EQ(out, direct.Result()) << "seed " << seed << "\n" << ToText(*k);
}

TEST(WriterRandom, StructuredKernelsAgreeWithDirectEvaluation) {
  for (uint32_t seed = 0; seed < 10000 && !testing::Test::HasFatalFailure(); ++seed) CheckSeed(seed);
}

}  // namespace
}  // namespace ricci::kernel
