/* SPDX-License-Identifier: MIT */
/*
 * aprof set: how much is kept of spans of a live process, and of which tier they are. A store into
 * each site's record in its profile; no signal, no code of ours runs in it.
 */
#include "arguments.h"
#include "cli.h"
#include "control.h"
#include "show/spans.h"

#include <aprof/abi.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct set {
  bool json, has_detail, has_tier;
  uint32_t detail, tier;
  const char *tier_name; /* as it was given */
};

static const struct option_row options[] = {
    {"json", 0, OPTION_FLAG, offsetof(struct set, json),
     .text = "Print all spans as they are now, as JSON (aprof.spans/1)"},
    {0}};

/* -- what is asked for ------------------------------------------------------------------ */

static const char *const details[] = {
    [APROF_DETAIL_TIME] = "time", [APROF_DETAIL_COUNT] = "count", [APROF_DETAIL_OFF] = "off"};

/* "detail=count", "tier=db". */
static bool take_word(struct set *set, const char *word) {
  if (!strncmp(word, "tier=", 5)) {
    set->tier_name = word + 5;
    return set->has_tier = true;
  }
  for (uint32_t i = 0; i < sizeof details / sizeof *details; i++)
    if (!strncmp(word, "detail=", 7) && !strcmp(word + 7, details[i])) {
      set->detail = i;
      return set->has_detail = true;
    }
  complain("'%s' is neither detail=off, detail=count or detail=time, nor tier=TIER", word);
  return false;
}

static bool take_words(struct set *set, const struct arguments *a) {
  for (size_t i = 2; i < a->words; i++)
    if (!take_word(set, a->word[i]))
      return false;
  return true;
}

/* Names lie in the profile, where only its process makes new ones. */
static bool find_tier(struct set *set, const struct profile *p) {
  if (!set->has_tier || !*set->tier_name || !strcmp(set->tier_name, "none"))
    return true;
  for (set->tier = 1; set->tier < APROF_TIERS; set->tier++) {
    const char *name = profile_tier_name(p, set->tier);
    if (name && !strcmp(name, set->tier_name))
      return true;
  }
  complain("the program has no tier %s, or has not come to it yet: a line or attribute names each",
           set->tier_name);
  return false;
}

/* -- where ------------------------------------------------------------------------------ */

static bool matches(const char *pattern, const char *name) {
  return name && (!strcmp(pattern, name) || !fnmatch(pattern, name, 0));
}

static bool is_meant(const struct profile *p, const struct aprof_psite *site, const char *name) {
  return site && (site->kind == APROF_SITE_SPAN || site->kind == APROF_SITE_TIER) &&
         (matches(name, profile_string(p, site->name)) ||
          matches(name, profile_tier_name(p, site->tier)));
}

/* A wait in a tier is no span: there is nothing to be kept less of. */
static void change(const struct set *set, struct aprof_psite *site) {
  if (set->has_detail && site->kind == APROF_SITE_SPAN)
    __atomic_store_n(&site->detail, set->detail, __ATOMIC_RELAXED);
  if (set->has_tier)
    __atomic_store_n(&site->tier, set->tier, __ATOMIC_RELAXED);
}

/* How many were changed. `bytes`: the profile itself; the copy says where in it they are. */
static size_t change_all(const struct set *set, const struct profile *p, unsigned char *bytes,
                         const char *name) {
  size_t changed = 0;
  for (uint32_t i = 1; i < profile_site_end(p); i++) {
    const struct aprof_psite *site = profile_site(p, i);
    if (!is_meant(p, site, name))
      continue;
    change(set, (void *)(bytes + ((const unsigned char *)site - p->data)));
    changed++;
  }
  return changed;
}

static bool change_in(struct set *set, const struct found *found, const char *name) {
  struct profile *p = profile_read(found->fd, found->what, true, false);
  if (!p)
    return false;
  bool known = find_tier(set, p);
  unsigned char *bytes =
      known ? mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, found->fd, 0) : MAP_FAILED;
  size_t changed = bytes != MAP_FAILED ? change_all(set, p, bytes, name) : 0;
  if (known && bytes == MAP_FAILED)
    complain("cannot map the profile of %s: %s", found->what, strerror(errno));
  else if (known && !changed)
    complain("%s has come to no span, and no tier, that is called %s; `aprof list %s' shows them",
             found->what, name, found->pid ? found->what + strlen("process ") : found->what);
  if (bytes != MAP_FAILED)
    munmap(bytes, p->size);
  profile_free(p);
  return changed != 0;
}

static bool print_all(const struct found *found) {
  struct view_request request = {.reason = "request", .without_histograms = true};
  struct view *v = view_of_profile(found->fd, found->what, found->state, &request);
  if (v)
    spans_json(v, stdout);
  view_free(v);
  return v != NULL;
}

int cmd_set(int argc, char **argv) {
  struct set set = {0};
  struct arguments a = {
      .usage = "PID|NAME SPAN [detail=off|count|time] [tier=TIER]",
      .offers = OFFER_PROCESSES,
      .about =
          "Changes how much a live process keeps of its spans that are called SPAN (with * and "
          "?: all that match), or are of a tier that is: their time, how often they were "
          "entered, or nothing; and of which tier they are.\v"
          "tier=none takes them out of any. `aprof list PID' shows the spans there are.",
      .table = {{options, &set}},
      .least = 3,
      .most = 4,
      .lacking = "of which process, which span, and what? As in: aprof set 4242 parse detail=count",
      .too_many = "one span at a time: a name may have * and ?"};
  struct found found;
  arguments_parse(&a, argc, argv);
  if (!take_words(&set, &a))
    return CLI_USAGE;
  signal(SIGBUS, control_bus_error);
  if (!find_profile(a.word[0], true, &found))
    return CLI_FAILED;
  bool done =
      control_may(&found) && change_in(&set, &found, a.word[1]) && (!set.json || print_all(&found));
  found_release(&found);
  return done ? CLI_OK : CLI_FAILED;
}
