# SPDX-License-Identifier: GPL-3.0-or-later
# The plugins, one per GCC major that configure found: GNU make, included by
# Makefile.am. Each is built by its own g++ against its own headers, objects in
# plugin/gccNN/.

PLUGIN_CXXFLAGS = -std=gnu++14 -O2 -g -fPIC -fno-rtti -fno-exceptions -fvisibility=hidden \
  -ffunction-sections -Wall -Wextra -Wno-unused-parameter

# Quiet like the rest: make V=1 shows the commands.
V_PLUGIN = $(AM_V_GEN)

aprof_of = $(patsubst $(1):%,%,$(filter $(1):%,$(2)))

# What libstdc++ costs to load and relocate is more than all else that a plugin does
# for a unit without async code: 2.4 million instructions, so each has its own.
static_of = $(if $(filter /%,$(shell $(1) -print-file-name=libstdc++.a)),-static-libstdc++)

define aprof_plugin_rules
plugin/aprof-gcc$(1).so: $$(plugin_sources:plugin/%.cc=plugin/gcc$(1)/%.o) \
  $$(lang_sources:%.cc=plugin/gcc$(1)/%.o) $$(srcdir)/plugin/exports.map
	$$(V_PLUGIN)$(call aprof_of,$(1),$(GXX_COMPILERS)) -shared $(call static_of,$(call aprof_of,$(1),$(GXX_COMPILERS))) \
	  -static-libgcc -Wl,--version-script=$$(srcdir)/plugin/exports.map -Wl,--gc-sections \
	  $$(LDFLAGS) -o $$@ $$(filter %.o,$$^)

plugin_cxx_$(1) = $(call aprof_of,$(1),$(GXX_COMPILERS)) $$(PLUGIN_CXXFLAGS) $$(APROF_PLACES) \
  -I$$(srcdir) -I$$(srcdir)/rt/include -isystem $(call aprof_of,$(1),$(GCC_PLUGIN_DIRS))/include -fpch-preprocess -MMD -MP

# The compiler's headers are most of what a file is: they are read once for all.
plugin/gcc$(1)/gcc.h.gch: $$(srcdir)/plugin/gcc.h $$(srcdir)/plugin/gcc.mk config.status
	@$$(MKDIR_P) $$(@D)
	@echo '#include "plugin/gcc.h"' >plugin/gcc$(1)/gcc.h
	$$(V_PLUGIN)$$(plugin_cxx_$(1)) -x c++-header -o $$@ plugin/gcc$(1)/gcc.h

plugin/gcc$(1)/%.o: $$(srcdir)/plugin/%.cc plugin/gcc$(1)/gcc.h.gch
	@$$(MKDIR_P) $$(@D)
	$$(V_PLUGIN)$$(plugin_cxx_$(1)) -include plugin/gcc$(1)/gcc.h -c -o $$@ $$<

# The language sees no header of the compiler.
plugin/gcc$(1)/lang/%.o: $$(srcdir)/lang/%.cc $$(srcdir)/plugin/gcc.mk config.status
	@$$(MKDIR_P) plugin/gcc$(1)/lang
	$$(V_PLUGIN)$(call aprof_of,$(1),$(GXX_COMPILERS)) $$(PLUGIN_CXXFLAGS) -I$$(srcdir) -MMD -MP -c -o $$@ $$<

-include $$(wildcard plugin/gcc$(1)/*.d plugin/gcc$(1)/*/*.d)
endef

$(foreach major,$(GCC_MAJORS),$(eval $(call aprof_plugin_rules,$(major))))

# The dispatcher that -fplugin= loads: plain C, knows no GCC header.
plugin/aprof.so: $(srcdir)/$(plugin_dispatcher) config.status
	@$(MKDIR_P) plugin
	$(V_PLUGIN)$(CC) -std=gnu11 -O2 -g -fPIC -shared -fvisibility=hidden -D_GNU_SOURCE $(WARN_CFLAGS) \
	  $(APROF_PLACES) $(LDFLAGS) -o $@ $<
