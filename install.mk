# What `make install` puts where, beside the command, the libraries and the headers: a pkg-config file, the systems, the
# reference tables, the examples, the documents, manual pages and shell completion. `make install prefix=X` may name another prefix than configure did:
# what must know its place is written then.
pkgconfigdir = $(libdir)/pkgconfig
presetsdir = $(pkgdatadir)/presets
presets_DATA = $(PRESETS)
# Systems as examples, to be named by their paths: fanout coll all_reduce -s PATH.
systemsdir = $(pkgdatadir)/examples/systems
dist_systems_DATA = examples/systems/dgx-h100-256.ini examples/systems/gb200-nvl576.ini \
	examples/systems/gb200-nvl72-x4.ini examples/systems/nvlink6-nvl72.ini examples/systems/links-128.ini \
	examples/systems/switches-3.ini examples/systems/switches-7.ini examples/systems/links-unequal.ini
referencedir = $(pkgdatadir)
nobase_reference_DATA = $(REFERENCE) $(FIDELITY) validate/reference/README.md
dist_doc_DATA = README.md CONTRIBUTING.md LICENSE THIRD_PARTY.md CHANGELOG.md CITATION.cff
# Packages of distributions, images, and the port to ASTRA-sim.
EXTRA_DIST += fanout.pc.in examples/README.md debian packaging astra-sim examples/fabric.ipynb examples/pytorch_by_cpu.py

# Each folder whole, so that none of its files is forgotten: examples/*.[ch], .cpp, .ipynb and .py, docs/*.
INSTALL_EXAMPLES = cd $(srcdir) && for file in examples/README.md examples/*.[ch] \
	  examples/*.cpp examples/*.ipynb examples/*.py; do \
	  $(INSTALL_DATA) $$file "$(DESTDIR)$(pkgdatadir)/examples/" || exit 1; done
INSTALL_DOCUMENTS = cd $(srcdir) && find docs -type f | while read -r file; do \
	  $(MKDIR_P) "$(DESTDIR)$(docdir)/$${file%/*}" && $(INSTALL_DATA) $$file "$(DESTDIR)$(docdir)/$$file" || exit 1; done
# A manual page for the command and one for each verb, written by the command itself from its tables.
man/made: fanout$(EXEEXT)
	@$(MKDIR_P) man && rm -f man/*.1 && ./fanout$(EXEEXT) --manual >man/fanout.1
	@for verb in $$(./fanout$(EXEEXT) --complete '' | cut -f 1 | grep -v '^-'); do \
	  ./fanout$(EXEEXT) $$verb --manual >man/fanout-$$verb.1 || exit 1; done
	@touch $@
all-local: man/made
clean-local:
	rm -rf man site

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = cli/reference/_fanout
EXTRA_DIST += cli/reference/fanout.bash

INSTALL_PLACES = sed -e 's|%prefix%|$(prefix)|' -e 's|%exec_prefix%|$(exec_prefix)|' \
	-e 's|%includedir%|$(includedir)|' -e 's|%libdir%|$(libdir)|' -e 's|%PACKAGE_VERSION%|$(PACKAGE_VERSION)|'

install-data-local: man/made
	@$(MKDIR_P) "$(DESTDIR)$(mandir)/man1" "$(DESTDIR)$(bashcompletiondir)"
	@for page in man/*.1; do $(INSTALL_DATA) $$page "$(DESTDIR)$(mandir)/man1/" || exit 1; done
	@$(INSTALL_DATA) $(srcdir)/cli/reference/fanout.bash "$(DESTDIR)$(bashcompletiondir)/fanout"
	@$(MKDIR_P) "$(DESTDIR)$(pkgconfigdir)" "$(DESTDIR)$(pkgdatadir)/examples"
	@sed -e 's|%prefix%|$(prefix)|' -e 's|%exec_prefix%|$(exec_prefix)|' -e 's|%includedir%|$(includedir)|' \
	  -e 's|%pkglibdir%|$(pkglibdir)|' -e 's|%pkgdatadir%|$(pkgdatadir)|' \
	  -e 's|%PACKAGE_VERSION%|$(PACKAGE_VERSION)|' $(srcdir)/fanout.pc.in >"$(DESTDIR)$(pkgconfigdir)/fanout.pc"
	@$(MKDIR_P) "$(DESTDIR)$(libdir)/cmake/Fanout"
	@$(INSTALL_PLACES) $(srcdir)/lib/libfanout.pc.in >"$(DESTDIR)$(pkgconfigdir)/libfanout.pc"
	@$(INSTALL_PLACES) $(srcdir)/lib/FanoutConfig.cmake.in >"$(DESTDIR)$(libdir)/cmake/Fanout/FanoutConfig.cmake"
	@$(INSTALL_EXAMPLES)
	@$(INSTALL_DOCUMENTS)

uninstall-local:
	rm -f "$(DESTDIR)$(mandir)/man1"/fanout.1 "$(DESTDIR)$(mandir)/man1"/fanout-*.1 "$(DESTDIR)$(bashcompletiondir)/fanout"
	rm -rf "$(DESTDIR)$(pkgconfigdir)/fanout.pc" "$(DESTDIR)$(pkgconfigdir)/libfanout.pc" \
	  "$(DESTDIR)$(libdir)/cmake/Fanout" "$(DESTDIR)$(pkgdatadir)/examples" "$(DESTDIR)$(docdir)/docs"

# Programs built and run from the installed tree alone.
installcheck-local:
	CC='$(CC)' CXX='$(CXX)' DESTDIR='$(DESTDIR)' bindir='$(bindir)' pkgdatadir='$(pkgdatadir)' docdir='$(docdir)' \
	  pkgconfigdir='$(pkgconfigdir)' $(SHELL) $(srcdir)/tests/install/installcheck.sh $(abs_srcdir)/tests/install

# The documentation as pages that need no network: site/index.html.
.PHONY: site
site: fanout$(EXEEXT)
	@test -n '$(SPHINX_BUILD)' || { echo "make site: sphinx-build is not installed; on Debian or Ubuntu:"; \
	  echo "  apt-get install python3-sphinx python3-myst-parser python3-sphinx-rtd-theme"; \
	  echo "and run configure again, or name it: make site SPHINX_BUILD=PATH"; exit 1; }
	@python3 $(srcdir)/docs/site/build.py ./fanout$(EXEEXT) $(srcdir) site/sources
	@'$(SPHINX_BUILD)' -q -W --keep-going -b html -d site/made site/sources site/html || { \
	  echo "make site: where an extension or a theme is missing, on Debian or Ubuntu:"; \
	  echo "  apt-get install python3-myst-parser python3-sphinx-rtd-theme"; exit 1; }
	@echo "make site: site/html/index.html"
