/* SPDX-License-Identifier: MIT */
/* Methods and lambdas. */
#include "log.h"

#include <netdb.h>
#include <unistd.h>
#include <uv.h>

namespace net {
struct Resolver {
  int look(const char *name) {
    addrinfo *found;
    return getaddrinfo(name, nullptr, nullptr, &found); /* BAD */
  }
  int later(const char *) { return 0; }
  int apart() {
    sleep(1);
    return 0;
  }
};
static void sleep(int) {}
} // namespace net

void arm(uv_timer_t *timer) {
  net::Resolver resolver;
  uv_timer_start(
      timer, [](uv_timer_t *) { usleep(1); }, 1, 0); /* BAD */
  uv_timer_start(
      timer,
      [](uv_timer_t *) {
        net::Resolver resolver;
        resolver.look("localhost");
        resolver.later("localhost");
        net::sleep(1);
      },
      1, 0);
  resolver.apart();
}
