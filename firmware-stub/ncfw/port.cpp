// SPDX-License-Identifier: MIT
// Names of the failure codes, as status prints and error texts show them.
#include "firmware-stub/ncfw/port.hpp"

namespace sdmacc::ncfw {

const char* name(Code code) {
  switch (code) {
    case Code::None:
      return "none";
    case Code::BadImage:
      return "bad image";
    case Code::BadCtrl:
      return "bad CTRL entry";
    case Code::BadSlot:
      return "bad SLOT list";
    case Code::BadConfig:
      return "bad configuration";
    case Code::BadDispatch:
      return "no handler";
    case Code::Access:
      return "access refused";
    case Code::SemaphoreWrap:
      return "semaphore wrap";
    case Code::ZeroWait:
      return "wait for zero";
  }
  return "unknown";
}

}  // namespace sdmacc::ncfw
