// Interrupt: while one exists, SIGINT (Ctrl-C) ends the run that looks at its word, and not the process; a second one
// ends the process as usual.
#ifndef RICCI_CLI_INTERRUPT_H_
#define RICCI_CLI_INTERRUPT_H_
#include <csignal>

#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  ~Interrupt();
  // For ricci_run_opts.cancel.
  static const uint32_t* word();
  static bool came() { return *word() != 0; }

 private:
  struct sigaction before_ {};
};

// The loops of a program that nothing but their condition ends, with their locations: what an endless run may be in.
std::string LoopsWithoutBound(const Session& session, const ricci_program* p);

}}}  // namespace ricci::v0::cli
#endif
