/* GLib: idle functions, timeouts that end in both ways, a GTask with and without a
   thread, a file that is read asynchronously, a loop in a callback, a pipe, a child whose
   callback sleeps, sources that are removed, messages of lines over a stream, D-Bus calls answered
   at once and later. */
#include <gio/gio.h>
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "count.h"

static struct count tick = {.name = "on_tick"}, shot = {.name = "on_shot"},
                    idle = {.name = "on_idle"}, opened = {.name = "on_opened"},
                    chunk = {.name = "on_chunk"}, result = {.name = "on_result"},
                    work = {.name = "do_work"}, nested = {.name = "on_nested"},
                    inner = {.name = "on_inner"}, never = {.name = "on_never"},
                    readable = {.name = "on_readable"}, child = {.name = "on_child"},
                    method = {.name = "on_method"}, reply = {.name = "on_reply"},
                    later = {.name = "on_later"}, property = {.name = "on_property"},
                    line = {.name = "on_line"};
static GMainLoop *loop;
static GMutex mutex; /* of what threads count */
static int finished;

static void finish_one(void) {
  if (++finished == 9)
    g_main_loop_quit(loop);
}

/* -- sources ------------------------------------------------------------------------- */

static gboolean on_idle(gpointer data) {
  guint *left = data;
  idle.waits++; /* but for its first run it has waited for this one */
  if (--*left > 0)
    return G_SOURCE_CONTINUE;
  if (++idle.done == 3)
    finish_one();
  return G_SOURCE_REMOVE;
}

static gboolean on_shot(gpointer data) {
  (void)data;
  shot.waits++;
  if (++shot.done == 8)
    finish_one();
  return G_SOURCE_REMOVE;
}

static gboolean on_tick(gpointer data) {
  (void)data;
  tick.waits++;
  g_timeout_add(1, on_shot, NULL);
  shot.created++;
  if (tick.waits < 8)
    return G_SOURCE_CONTINUE;
  tick.done++;
  return G_SOURCE_REMOVE;
}

static gboolean on_inner(gpointer data) {
  inner.waits++;
  inner.done++;
  g_main_loop_quit(data);
  return G_SOURCE_REMOVE;
}

/* Waits for its own timeout, and in between for the loop that it runs. */
static gboolean on_nested(gpointer data) {
  GMainLoop *mine = g_main_loop_new(NULL, FALSE);
  (void)data;
  nested.waits++;
  g_timeout_add(3, on_inner, mine);
  inner.created++;
  nested.waits++;
  g_main_loop_run(mine);
  g_main_loop_unref(mine);
  nested.done++;
  finish_one();
  return G_SOURCE_REMOVE;
}

/* -- GIO ------------------------------------------------------------------------------- */

static void on_chunk(GObject *object, GAsyncResult *got, gpointer data) {
  GInputStream *stream = G_INPUT_STREAM(object);
  gssize size = g_input_stream_read_finish(stream, got, NULL);
  chunk.waits++;
  chunk.done++;
  if (size <= 0) {
    g_object_unref(stream);
    finish_one();
    return;
  }
  g_input_stream_read_async(stream, data, 512, G_PRIORITY_DEFAULT, NULL, on_chunk, data);
  chunk.created++;
}

static void on_opened(GObject *object, GAsyncResult *got, gpointer data) {
  GFileInputStream *stream = g_file_read_finish(G_FILE(object), got, NULL);
  opened.waits++;
  opened.done++;
  g_input_stream_read_async(G_INPUT_STREAM(stream), data, 512, G_PRIORITY_DEFAULT, NULL, on_chunk,
                            data);
  chunk.created++;
}

static void do_work(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  (void)source, (void)data, (void)cancellable;
  g_mutex_lock(&mutex);
  work.done++;
  g_mutex_unlock(&mutex);
  g_usleep(1000);
  g_task_return_boolean(task, TRUE);
}

static void on_result(GObject *source, GAsyncResult *got, gpointer data) {
  (void)source, (void)data;
  if (!g_task_propagate_boolean(G_TASK(got), NULL))
    g_error("the task failed");
  result.waits++;
  result.done++;
  if (result.done == 4)
    finish_one();
}

static void start_task(gboolean thread) {
  GTask *task = g_task_new(NULL, NULL, on_result, NULL);
  result.created++;
  if (thread) {
    g_task_run_in_thread(task, do_work);
    work.created++;
  } else
    g_task_return_boolean(task, TRUE);
  g_object_unref(task);
}

/* Removed before their time: by id, by the source, by the data. */
static gboolean on_never(gpointer data) {
  (void)data;
  return G_SOURCE_REMOVE;
}

static void add_and_remove(void) {
  GSource *source = g_timeout_source_new(3600000);
  g_source_remove(g_timeout_add(3600000, on_never, NULL));
  g_source_set_callback(source, on_never, NULL, NULL);
  g_source_attach(source, NULL);
  g_source_destroy(source);
  g_source_unref(source);
  g_timeout_add_seconds(3600, on_never, &never);
  g_source_remove_by_user_data(&never);
  never.created = never.cancelled = never.waits = 3;
}

/* Its argument is the last of three. */
static gboolean on_readable(gint fd, GIOCondition condition, gpointer data) {
  char byte;
  (void)condition, (void)data;
  readable.waits++;
  if (read(fd, &byte, 1) == 1)
    return G_SOURCE_CONTINUE;
  readable.done++;
  close(fd);
  finish_one();
  return G_SOURCE_REMOVE;
}

static void feed_pipe(void) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "abc", 3) != 3)
    abort();
  close(ends[1]);
  g_unix_fd_add(ends[0], G_IO_IN | G_IO_HUP, on_readable, NULL);
  readable.created++;
}

/* Of another type than its source calls: cast, as GLib's manual says. */
static void on_child(GPid pid, gint status, gpointer data) {
  (void)status, (void)data;
  g_usleep(1000);
  g_spawn_close_pid(pid);
  child.waits++;
  child.done++;
  finish_one();
}

static void watch_child(void) {
  char *command[] = {"true", NULL};
  GPid pid;
  if (!g_spawn_async(NULL, command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                     NULL, &pid, NULL))
    abort();
  GSource *source = g_child_watch_source_new(pid);
  g_source_set_callback(source, G_SOURCE_FUNC(on_child), NULL, NULL);
  g_source_attach(source, NULL);
  g_source_unref(source);
  child.created++;
}

/* -- a stream ---------------------------------------------------------------------------- */

static GIOStream *stream(int fd) {
  return G_IO_STREAM(g_socket_connection_factory_create_connection(g_socket_new_from_fd(fd, NULL)));
}

static void send_lines(int fd, const char *lines) {
  if (write(fd, lines, strlen(lines)) != (ssize_t)strlen(lines))
    abort();
}

static void read_line(GDataInputStream *lines, int *fd);

/* The first message is of two lines, the second one of one; then it is closed. */
static void on_line(GObject *object, GAsyncResult *got, gpointer fd) {
  GDataInputStream *lines = G_DATA_INPUT_STREAM(object);
  char *text = g_data_input_stream_read_line_finish(lines, got, NULL, NULL);
  line.waits++;
  line.done++;
  if (!text) {
    g_object_unref(lines);
    finish_one();
    return;
  }
  if (line.done == 2)
    send_lines(*(int *)fd, "c\n");
  else if (line.done == 3)
    close(*(int *)fd);
  g_free(text);
  read_line(lines, fd);
}

static void read_line(GDataInputStream *lines, int *fd) {
  g_data_input_stream_read_line_async(lines, G_PRIORITY_DEFAULT, NULL, on_line, fd);
  line.created++;
}

static void read_messages(void) {
  static int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
    abort();
  send_lines(pair[1], "a\nb\n");
  read_line(g_data_input_stream_new(g_io_stream_get_input_stream(stream(pair[0]))), &pair[1]);
}

/* -- D-Bus ------------------------------------------------------------------------------ */

static const char interface[] =
    "<node><interface name='a.b'><method name='Ask'><arg type='i' direction='out'/></method>"
    "<property name='P' type='i' access='read'/></interface></node>";

static gboolean on_later(gpointer invocation) {
  later.waits++;
  later.done++;
  g_dbus_method_invocation_return_value(invocation, g_variant_new("(i)", 2));
  method.done++;
  method.waits++; /* since it was asked */
  return G_SOURCE_REMOVE;
}

/* Every other call is answered 2 ms later, one of them with an error. */
static void on_method(GDBusConnection *connection, const gchar *sender, const gchar *path,
                      const gchar *of, const gchar *name, GVariant *arguments,
                      GDBusMethodInvocation *invocation, gpointer data) {
  (void)connection, (void)sender, (void)path, (void)of, (void)name, (void)arguments, (void)data;
  unsigned n = method.created++;
  if (n % 2) {
    g_timeout_add(2, on_later, invocation);
    later.created++;
    return;
  }
  if (n == 0)
    g_dbus_method_invocation_return_error(invocation, G_IO_ERROR, G_IO_ERROR_FAILED, "no");
  else
    g_dbus_method_invocation_return_value(invocation, g_variant_new("(i)", 1));
  method.done++;
}

static GVariant *on_property(GDBusConnection *connection, const gchar *sender, const gchar *path,
                             const gchar *of, const gchar *name, GError **error, gpointer data) {
  (void)connection, (void)sender, (void)path, (void)of, (void)name, (void)error, (void)data;
  property.created++;
  property.done++;
  return g_variant_new_int32(7);
}

static const GDBusInterfaceVTable table = {.method_call = on_method, .get_property = on_property};
static GDBusConnection *asker;
static GDBusNodeInfo *node;

static void ask(const char *of, const char *method_name, GVariant *arguments);

static void on_reply(GObject *connection, GAsyncResult *answer, gpointer data) {
  (void)data;
  reply.waits++;
  GVariant *value = g_dbus_connection_call_finish(G_DBUS_CONNECTION(connection), answer, NULL);
  if (value)
    g_variant_unref(value);
  if (++reply.done < 6)
    ask("a.b", "Ask", NULL);
  else if (reply.done == 6)
    ask("org.freedesktop.DBus.Properties", "Get", g_variant_new("(ss)", "a.b", "P"));
  else
    finish_one();
}

static void ask(const char *of, const char *method_name, GVariant *arguments) {
  g_dbus_connection_call(asker, NULL, "/x", of, method_name, arguments, NULL,
                         G_DBUS_CALL_FLAGS_NONE, -1, NULL, on_reply, NULL);
  reply.created++;
}

static void connected(GObject *source, GAsyncResult *answer, gpointer object) {
  (void)source;
  GDBusConnection *connection = g_dbus_connection_new_finish(answer, NULL);
  if (!connection)
    abort();
  if (object)
    g_dbus_connection_register_object(connection, "/x", node->interfaces[0], &table, NULL, NULL,
                                      NULL);
  else
    asker = connection;
  static int both;
  if (++both == 2)
    ask("a.b", "Ask", NULL);
}

static void ask_each_other(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
    abort();
  node = g_dbus_node_info_new_for_xml(interface, NULL);
  char *guid = g_dbus_generate_guid();
  g_dbus_connection_new(stream(pair[0]), guid,
                        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER |
                            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_ALLOW_ANONYMOUS,
                        NULL, NULL, connected, (gpointer)&table);
  g_dbus_connection_new(stream(pair[1]), NULL, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL,
                        NULL, connected, NULL);
  g_free(guid);
}

int main(int argc, char **argv) {
  static char buffer[512];
  guint left[3] = {1, 2, 3};
  GFile *file = g_file_new_for_path(argv[argc - 1]);
  loop = g_main_loop_new(NULL, FALSE);

  for (int i = 0; i < 3; i++) {
    g_idle_add(on_idle, &left[i]);
    idle.created++;
    idle.waits--; /* its first run was queued, not waiting */
  }
  g_timeout_add(2, on_tick, NULL);
  tick.created++;
  g_timeout_add(1, on_nested, NULL);
  nested.created++;
  for (int i = 0; i < 4; i++)
    start_task(i % 2 == 0);
  g_file_read_async(file, G_PRIORITY_DEFAULT, NULL, on_opened, buffer);
  opened.created++;
  add_and_remove();
  feed_pipe();
  watch_child();
  read_messages();
  ask_each_other();
  g_main_loop_run(loop);

  g_main_loop_unref(loop);
  g_object_unref(file);
  count_print(&tick);
  count_print(&shot);
  count_print(&idle);
  count_print(&nested);
  count_print(&inner);
  count_print(&opened);
  count_print(&chunk);
  count_print(&result);
  count_print(&work);
  count_print(&never);
  count_print(&readable);
  count_print(&child);
  count_print(&method);
  count_print(&later);
  count_print(&property);
  count_print(&reply);
  count_print(&line);
  return 0;
}
/* SPDX-License-Identifier: MIT */
