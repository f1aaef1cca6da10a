/* libcurl: transfers of this file, one after the other; one fails, one is given up. */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

static struct count transfers = {.name = "curl_multi_add_handle"};
static size_t bytes;
static unsigned failed;

static size_t on_data(char *data, size_t size, size_t n, void *arg) {
  (void)data, (void)arg;
  bytes += size * n;
  return size * n;
}

static CURL *start(CURLM *multi, const char *url) {
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
  if (curl_multi_add_handle(multi, easy) != CURLM_OK)
    abort();
  transfers.created++;
  return easy;
}

static void finish(CURLM *multi, CURL *easy) {
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  transfers.waits++;
}

int main(int argc, char **argv) {
  char url[4096], nowhere[] = "file:///nonexistent/at/all";
  int running, left;
  CURLM *multi = curl_multi_init();
  CURLMsg *message;
  char *path = realpath(argc > 1 ? argv[1] : __FILE__, NULL);
  if (path == NULL || snprintf(url, sizeof url, "file://%s", path) >= (int)sizeof url)
    return 1;
  if (strcspn(url, " #?%") != strlen(url)) {
    puts("the path of the source is no URL as it stands");
    return 77;
  }
  for (int i = 0; i < 9; i++)
    start(multi, url);
  start(multi, nowhere);
  finish(multi, start(multi, url));
  transfers.cancelled++;
  do {
    curl_multi_perform(multi, &running);
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
      failed += message->data.result != CURLE_OK;
      transfers.done++;
      finish(multi, message->easy_handle);
      if (transfers.created < 30)
        start(multi, url);
    }
    if (running > 0)
      curl_multi_poll(multi, NULL, 0, 100, NULL);
  } while (transfers.done + transfers.cancelled < transfers.created);

  printf("%u failed, some bytes: %d\n", failed, bytes > 0);
  count_print(&transfers);
  curl_multi_cleanup(multi);
  free(path);
  return 0;
}
/* SPDX-License-Identifier: MIT */
