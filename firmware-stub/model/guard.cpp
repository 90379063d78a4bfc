// SPDX-License-Identifier: MIT
// The SIGBUS handler and the jump out of it.
#include "firmware-stub/model/guard.hpp"

#include <signal.h>
#include <ucontext.h>

#include <csetjmp>
#include <csignal>
#include <mutex>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace sdmacc::model {
namespace {

struct Landing {
  sigjmp_buf jump;
  std::uintptr_t fault = 0;
};

thread_local Landing* t_armed = nullptr;
struct sigaction g_previous;

// The control word is not part of a jump buffer, and arithmetic that is left in the middle may have
// changed it.
#if defined(__SSE__)
unsigned float_mode() {
  return _mm_getcsr();
}
void set_float_mode(unsigned mode) {
  _mm_setcsr(mode);
}
#else
unsigned float_mode() {
  return 0;
}
void set_float_mode(unsigned) {}
#endif

void on_sigbus(int number, siginfo_t* info, void* context) {
  if (Landing* landing = t_armed) {
    t_armed = nullptr;
    landing->fault = reinterpret_cast<std::uintptr_t>(info->si_addr);
    // The jump does not restore the signal mask: saving it would cost each packet a system call.
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    siglongjmp(landing->jump, 1);
  }
  if (g_previous.sa_flags & SA_SIGINFO) {
    g_previous.sa_sigaction(number, info, context);
  } else if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
    g_previous.sa_handler(number);
  } else {
    std::signal(SIGBUS, SIG_DFL);  // the access is repeated and ends the process
  }
}

}  // namespace

void install_guard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGBUS, &action, &g_previous);
  });
}

std::uintptr_t guarded(void (*move)(void*), void* argument) {
  Landing landing;
  const unsigned mode = float_mode();
  if (sigsetjmp(landing.jump, 0) != 0) {
    set_float_mode(mode);
    return landing.fault ? landing.fault : 1;
  }
  t_armed = &landing;
  move(argument);
  t_armed = nullptr;
  return 0;
}

}  // namespace sdmacc::model
