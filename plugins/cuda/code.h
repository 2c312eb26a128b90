// Code: a compiled plan: one module of kernels, and the steps that a run issues into a stream.
#ifndef RICCI_CUDA_CODE_H_
#define RICCI_CUDA_CODE_H_
#include <memory>
#include <string>
#include <vector>

#include "gpu.h"
#include "kernel_text.h"

namespace ricci::cuda {

// The text of all kernels of a program, and how each is launched; empty, with `error`, if one cannot be printed.
std::string PrintModule(const ricci_compile_args& a, std::vector<Launch>& launches, std::string& error);

class Code {
 public:
  // `wrong_source`: as in ricci_code_info.
  static ricci_status* Create(Gpu& device, const ricci_compile_args& a, std::unique_ptr<Code>& out,
                              uint32_t& wrong_source);
  ~Code();
  Code(const Code&) = delete;

  const ricci_compile_args& given() const { return given_; }
  uint64_t bytes() const { return bytes_; }
  ricci_status* Enqueue(const ricci_run_args& a, ricci_done_fn done, void* arg, void** event);

 private:
  struct Function {
    CuFunction f;
    unsigned grid[3], block[3];
    unsigned shared_bytes = 0;
  };
  struct Run;

  Code(Gpu& device, const ricci_compile_args& a) : device_(device), given_(a) {}
  ricci_status* LoadKernels();
  ricci_status* LoadSource(uint32_t i);
  // The machine code of a text as a module of this code; `if_refused`: the status code if the compiler does not take
  // it.
  ricci_status* Load(const std::string& text, uint32_t if_refused, CuModule& out);
  ricci_status* Find(CuModule module, const std::string& name, Function& f);
  void FindEnds();
  CuPointer AddressOf(const Run& run, uint32_t buffer) const;
  std::vector<CuPointer> Addresses(const Run& run, const ricci_plan_step& step) const;
  ricci_status* Steps(Run& run, uint32_t first, uint32_t last);
  ricci_status* Kernel(Run& run, const ricci_plan_step& step);
  ricci_status* Source(Run& run, const ricci_plan_step& step);
  ricci_status* Start(const Run& run, const Function& f, std::vector<CuPointer>& arguments);
  ricci_status* Copy(Run& run, const ricci_plan_step& step);
  ricci_status* While(Run& run, uint32_t step);
  ricci_status* Case(Run& run, uint32_t step);
  ricci_status* Read(Run& run, uint32_t buffer, uint32_t bytes);

  Gpu& device_;
  const ricci_compile_args given_;  // its tables live as long as the code
  std::vector<CuModule> modules_;
  std::vector<Function> kernels_, sources_;
  std::vector<uint32_t> close_;  // by step: of WHILE and CASE its END, of others 0
  uint64_t bytes_ = 0;
};

}  // namespace ricci::cuda
#endif
