# The only entry point: see `make help`. Each target installs what it needs.

VENV   := .venv
PYTHON := $(VENV)/bin/python
SOURCE := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name '*.lua' -o -name Cargo.toml)

.PHONY: help demo test bench endure lint docs pictures tutorial evidence site wheel clean
help:
	@echo "make demo      what durability costs: two configurations measured in about 6 minutes"
	@echo "make test      everything that CI runs"
	@echo "make bench     speed, side by side with peers, as ratios"
	@echo "make endure    connections are killed for a minute on each server, one trial of half an hour, and more"
	@echo "make lint      formatters, linters, type checker, import directions"
	@echo "make docs      generated parts of the documentation: command reference, protocol schema"
	@echo "make pictures  pictures of guides in the documentation; needs Chromium"
	@echo "make tutorial  the output in tutorials, from running their commands on a throwaway MariaDB server"
	@echo "make evidence  the simulated error rates in docs/evidence.md, a quarter of an hour of a processor"
	@echo "make site      the documentation as a website in build/site; needs no network to read"
	@echo "make wheel     a wheel in build/dist that installs without a compiler; tools/try-wheel tries it"

demo: $(VENV)/.installed
	@tools/install-server
	@$(VENV)/bin/plimsoll demo

# Side by side: packages wait for the network while tests are built. They share the terminal: plain lines.
test:
	@export TERM=dumb; tools/build-tests & tools/install-test-tools & tools=$$!; \
		$(MAKE) --no-print-directory $(VENV)/.installed-dev && wait $$tools; made=$$?; wait; exit $$made
	@tools/run-tests

bench: $(VENV)/.installed-dev
	@tools/install-test-tools
	@$(PYTHON) -m bench

endure:
	@tools/install-test-tools
	@tools/endure

lint: $(VENV)/.installed-dev
	@tools/install-cargo-deny
	@tools/lint

docs: $(VENV)/.installed-dev
	@$(PYTHON) tools/write_docs.py

pictures: $(VENV)/.installed-dev
	@$(PYTHON) tools/write_pictures.py

tutorial: $(VENV)/.installed-dev
	@$(PYTHON) tools/write_tutorial.py docs/tutorial.md docs/learn-tutorial.md

evidence: $(VENV)/.installed-dev
	@$(PYTHON) tools/write_evidence.py

site:
	@tools/build-site

wheel:
	@tools/build-wheel

clean:
	rm -rf $(VENV) target build demo-study

# pip builds the engine through cargo and puts both commands into the environment's bin folder.
$(VENV)/.installed: $(SOURCE)
	@tools/install-python $(VENV) .
	@touch $@

# For tests the engine is built as they are, in half the time; the next demo builds the one that users get.
$(VENV)/.installed-dev: $(SOURCE)
	@SETUPTOOLS_RUST_CARGO_PROFILE=dev tools/install-python $(VENV) '.[dev]'
	@rm -f $(VENV)/.installed
	@touch $@
