/* libdbus: a daemon of our own, a service with an object, a filter, and a client with calls that
   are answered, refused, cancelled. */
#include <dbus/dbus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count.h"

static struct count notified = {.name = "on_reply"}, object = {.name = "on_message"},
                    filter = {.name = "on_filter"};
static pid_t broker;

static DBusHandlerResult on_message(DBusConnection *bus, DBusMessage *message, void *arg) {
  (void)arg;
  object.waits++;
  if (!dbus_message_is_method_call(message, "org.example.Test", "Ask"))
    return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
  DBusMessage *reply = dbus_message_new_method_return(message);
  dbus_connection_send(bus, reply, NULL);
  dbus_message_unref(reply);
  return DBUS_HANDLER_RESULT_HANDLED;
}

/* All that its connection gets: of the daemon, and the calls. */
static DBusHandlerResult on_filter(DBusConnection *bus, DBusMessage *message, void *arg) {
  (void)bus, (void)message, (void)arg;
  filter.waits++;
  return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
}

static void on_reply(DBusPendingCall *pending, void *errors) {
  DBusMessage *reply = dbus_pending_call_steal_reply(pending);
  *(int *)errors += dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_ERROR;
  dbus_message_unref(reply);
  notified.done++;
  notified.waits++;
}

static DBusConnection *dial(const char *address) {
  DBusConnection *bus = dbus_connection_open_private(address, NULL);
  if (bus == NULL || !dbus_bus_register(bus, NULL))
    abort();
  dbus_connection_set_exit_on_disconnect(bus, FALSE);
  return bus;
}

static DBusPendingCall *call(DBusConnection *bus, const char *to, const char *method, int *errors) {
  DBusPendingCall *pending = NULL;
  DBusMessage *message = dbus_message_new_method_call(to, "/x", "org.example.Test", method);
  if (!dbus_connection_send_with_reply(bus, message, &pending, -1) || pending == NULL)
    abort();
  dbus_message_unref(message);
  dbus_pending_call_set_notify(pending, on_reply, errors, NULL);
  notified.created++;
  return pending;
}

static void stop(void) {
  kill(broker, SIGKILL);
  waitpid(broker, NULL, 0);
}

/* A daemon of our own; its address in `address`. */
static void start(char *address, size_t size) {
  int out[2];
  char number[16];
  if (pipe(out) != 0 || (broker = fork()) < 0)
    abort();
  snprintf(number, sizeof number, "%d", out[1]);
  if (broker == 0) {
    if (freopen("/dev/null", "w", stderr) == NULL)
      _exit(1);
    execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork", "--nosyslog", "--print-address",
           number, (char *)NULL);
    _exit(1);
  }
  close(out[1]);
  ssize_t n = read(out[0], address, size - 1);
  if (n <= 0) {
    puts("there is no dbus-daemon");
    exit(77);
  }
  atexit(stop);
  address[n] = '\0';
  address[strcspn(address, "\n")] = '\0';
}

int main(void) {
  static const DBusObjectPathVTable table = {.message_function = on_message};
  DBusPendingCall *pending[30];
  char address[1024], data;
  int errors = 0;
  start(address, sizeof address);
  DBusConnection *service = dial(address), *client = dial(address);
  if (!dbus_connection_register_object_path(service, "/x", &table, &data) ||
      !dbus_connection_add_filter(service, on_filter, &data, NULL))
    return 1;
  object.created++, filter.created++;

  for (int i = 0; i < 30; i++)
    pending[i] =
        call(client, dbus_bus_get_unique_name(service), i % 3 == 0 ? "No" : "Ask", &errors);
  dbus_pending_call_cancel(pending[29]);
  notified.cancelled++, notified.waits++;
  while (notified.done < 29 || object.waits < 30) {
    dbus_connection_read_write_dispatch(service, 1);
    dbus_connection_read_write_dispatch(client, 1);
  }
  for (int i = 0; i < 30; i++)
    dbus_pending_call_unref(pending[i]);
  dbus_connection_remove_filter(service, on_filter, &data);
  filter.done++, filter.waits++;

  dbus_connection_close(client);
  dbus_connection_close(service);
  dbus_connection_unref(client);
  dbus_connection_unref(service);
  printf("%d errors\n", errors);
  count_print(&notified);
  count_print(&object);
  count_print(&filter);
  return 0;
}
/* SPDX-License-Identifier: MIT */
