# tender: two commands do everything on a fresh machine, `make run` and `make test`.

PREFIX ?= /usr/local
DESTDIR ?=
SHELL := /bin/bash
OS := $(shell uname -s)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# One table says what is installed, listed in the SBOM and depended on by the package.
LIBRARIES := Sources/Libraries.tsv
column = $(shell awk -F'\t' '!/^\#/ && NF >= 8 { print $$$(1) }' $(LIBRARIES) | sort)
APT := $(call column,4)
APT_TEST := bubblewrap chromium chromium-driver curl fish libfaketime mandoc openssl pgbouncer postgresql python3-cryptography python3-graphql-core python3-jsonschema stunnel4 zsh
APT_BENCH := curl nginx-light openssl postgresql
APT_RELEASE := debootstrap faketime lintian openssh-client skopeo
BREW := $(call column,6)

# Without an rpath the loader does not look for each library beside the program first.
RELEASE := -c release --static-swift-stdlib --disable-local-rpath
ifeq ($(OS),Linux)
RELEASE += -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld -Xlinker --gc-sections -Xlinker --icf=all -Xlinker -s \
  -Xlinker --build-id=none -Xlinker --no-export-dynamic
# A hundredth of the loader's table of places to move, where the system's loader reads it (glibc 2.36).
ifeq ($(shell printf '%s\n' 2.36 "$$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)" | sort -V | head -1),2.36)
RELEASE += -Xlinker -z -Xlinker pack-relative-relocs
endif
# The C++ runtime that Swift needs costs a fifth of the time to start, where it is a library of its
# own: a folder that holds only its archive makes the linker take that, where there is one.
ARCHIVE := $(shell gcc -print-file-name=libstdc++.a 2>/dev/null)
ifneq ($(filter /%,$(ARCHIVE)),)
RELEASE += -Xlinker -L$(CURDIR)/.build/archives -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
endif
endif
TENDER := .build/release/tender

.PHONY: quick soak deb tarball image packages-test release sbom reproduce sanitize install-files fuzz prove all run test build setup setup-test setup-bench setup-release install lint format generate bench bench-large bench-quick conformance clean

all: build

# Takes a card payment on the simulator and shows it.
run: setup build
	@state=$$(mktemp -d) && trap 'rm -rf "$$state"' EXIT && \
	  $(TENDER) transact --amount 10.50 --test-card visa --reference ORDER-1042 \
	    --output table --state-dir "$$state"

# Installs nothing: `make setup` does.
build:
	@if [ -n "$(filter /%,$(ARCHIVE))" ]; then \
	  mkdir -p .build/archives && ln -sf "$(ARCHIVE)" .build/archives/libstdc++.a; fi
	swift build $(RELEASE) --product tender
	@Tests/Packaging/stamp.sh $(TENDER)
	@Tests/hardening.sh $(TENDER) release

# Installs the system libraries that are missing; does nothing where none is.
setup:
	@# A build folder that was copied from elsewhere names files that are not there.
	@[ ! -d .build ] || [ "$$(cat .build/where 2>/dev/null)" = "$(CURDIR)" ] || rm -rf .build
	@mkdir -p .build && echo "$(CURDIR)" > .build/where
ifeq ($(OS),Linux)
	@missing=$$(for name in $(APT); do \
	    dpkg-query -W -f='$${Status}' $$name 2>/dev/null | grep -q 'ok installed' || echo $$name; \
	  done); \
	if [ -n "$$missing" ]; then \
	  echo "installing" $$missing && \
	  $(SUDO) apt-get update -qq && \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$missing; \
	fi
else
	@for name in $(BREW); do brew list --versions $$name >/dev/null 2>&1 || missing=1; done; \
	if [ -n "$$missing" ]; then echo "first run: brew install $(BREW)"; exit 1; fi
endif

# What the tests of TLS and of the bank's pages want besides (a browser, for one); where it cannot be
# had, they are skipped by name. The same for what is measured beside, and for the trials of a release.
setup-test: EXTRA := $(APT_TEST)
setup-bench: EXTRA := $(APT_BENCH)
setup-release: EXTRA := $(APT_RELEASE)
setup-test setup-bench setup-release: setup
ifeq ($(OS),Linux)
	@for name in $(EXTRA); do \
	  dpkg-query -W -f='$${Status}' $$name 2>/dev/null | grep -q 'ok installed' || \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends $$name || true; \
	done
endif

# The release's build of each room as a whole takes half as long as a debugger's of each file; what lets the
# program go live against this machine is in it.
TESTED := -c release --scratch-path .build/tested -Xswiftc -gnone -Xswiftc -DDEBUG \
  --explicit-target-dependency-import-check error
test prove generate: export TENDER_QUICK_BUILD = 1
test: setup-test
	swift build $(TESTED) --build-tests
ifeq ($(OS),Linux)
	@# A waiting test blocks a thread, and a program has one thread for each core: two programs wait less. The records
	@# that the program printed are held against its published schemas afterwards.
	@records=$$(mktemp -d) && trap 'rm -rf "$$records"' EXIT && export TENDER_RECORDS="$$records"; \
	  Tests/run.sh "$(CURDIR)/.build/tested/release/tenderPackageTests.xctest" --filter '^TenderBinaryTests\.' & \
	  Tests/run.sh "$(CURDIR)/.build/tested/release/tenderPackageTests.xctest" --skip '^TenderBinaryTests\.'; \
	  rest=$$?; wait $$! && [ $$rest = 0 ] && \
	  python3 Tests/Judges/records.py .build/tested/release/tender "$$records"
else
	swift test $(TESTED) --skip-build --disable-xctest
endif

# Builds what a change touches, and runs the tests of the rooms that differ from SINCE. Of the built program's tests
# these are the shortest, and the suites that differ. It has its own build, which compiles the changed files alone. The
# first time that takes twice as long as the build of the tests, and then seconds.
SINCE ?= HEAD
QUICK := $(subst -c release --scratch-path .build/tested,--scratch-path .build/quick,$(TESTED))
quick: export TENDER_QUICK_BUILD = 1
quick: setup
	swift build $(QUICK) --build-tests
	@rooms=$$( (git diff --name-only $(SINCE); git ls-files --others --exclude-standard) | \
	  sed -nE -e 's#^Sources/(TenderCommands|CLibraries|tender)/.*#TenderBinaryTests.(Smoke|Usage|Screen|OptionUse)Tests/#p' \
	    -e 's#^Sources/([^/]*)/.*#\1Tests#p' -e 's#^Tests/TenderBinaryTests/Screens/.*#TenderBinaryTests.ScreenTests/#p' \
	    -e 's#^Tests/TenderBinaryTests/([A-Za-z]*Tests)[+.].*#TenderBinaryTests.\1/#p' -e 's#^Tests/([^/]*Tests)/.*#\1#p' | \
	  sort -u | paste -sd '|' -); \
	Tests/run.sh "$(CURDIR)/.build/quick/debug/tenderPackageTests.xctest" \
	  --filter "^($${rooms:-TenderArchitectureTests}|TenderArchitectureTests)|GeneratedFilesTests"

# Kills the program at random moments, RUNS times for each provider, and makes every write, sync and
# send of every command fail in five ways (STRIDE=1; every so many-th of them with a higher one), and
# judges HISTORIES of commands over another side that misbehaves, and LIES single answers of each provider,
# every case of a hostile peer and every fault of simulator scenarios, as a table (make test has a sample);
# kills the machines of a fleet, crashes its database CRASHES times, and makes a standby take over FAILOVERS times; and runs BOOKS histories of all commands
# for each provider, with a file and in a fleet, after which books, journal and records must be the same.
RUNS ?= 1000
STRIDE ?= 1
HISTORIES ?= 1000
LIES ?= 2000
CRASHES ?= 20
FAILOVERS ?= 200
BOOKS ?= 200
prove: setup-test
	swift build $(TESTED) --build-tests
	set -o pipefail; TENDER_KILL_RUNS=$(RUNS) TENDER_FAULT_STRIDE=$(STRIDE) TENDER_HISTORIES=$(HISTORIES) TENDER_LIES=$(LIES) \
	  TENDER_FLEET_RUNS=$$(($(RUNS) / 5)) TENDER_FLEET_LINES=1000 TENDER_FLEET_STRIDE=1 \
	  TENDER_CRASHES=$(CRASHES) TENDER_FAILOVERS=$(FAILOVERS) TENDER_BOOKS=$(BOOKS) TENDER_HOSTILE=all TENDER_FAULTS=1 TENDER_HINTS=2000 \
	  swift test $(TESTED) --skip-build --disable-xctest \
	  --filter 'KillTests|FaultMatrixTests|AdversaryTests|LieTests|BooksTests|HistoryTests|FleetTests|FleetFailureTests|FleetStandbyTests|HostilePeerTests|FaultListTests|HintTests' | \
	  grep -E 'runs,|faults at|histories,|lies,|payments through|sleepers|again: |✘|Test run with'

# Fuzzes each parser and each adapter for so many SECONDS, TARGETS alone where they are named.
SECONDS ?= 60
TARGETS ?=
fuzz: setup
	Tests/Fuzz/fuzz.sh $(SECONDS) $(TARGETS)

lint:
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

format:
	swift format format --in-place --recursive --parallel Package.swift Sources Tests

# Writes man/ from the catalogue; a test compares it.
generate: setup
	TENDER_RECORD=1 swift test $(TESTED) --disable-xctest --filter "GeneratedFiles|ScreenTests"

install: build install-files

install-files:
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/man/man1" \
	  "$(DESTDIR)$(PREFIX)/share/man/man5" \
	  "$(DESTDIR)$(PREFIX)/share/man/man7" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	install -m 755 $(TENDER) "$(DESTDIR)$(PREFIX)/bin/tender"
	install -m 644 man/*.1 "$(DESTDIR)$(PREFIX)/share/man/man1/"
	install -m 644 man/*.5 "$(DESTDIR)$(PREFIX)/share/man/man5/"
	install -m 644 man/*.7 "$(DESTDIR)$(PREFIX)/share/man/man7/"
	install -m 644 completions/tender.bash \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/tender"
	install -m 644 completions/_tender "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tender"
	install -m 644 completions/tender.fish \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tender.fish"

bench: build setup-bench
	swift build -c release --product tender-bench
	swift build -c release --product tender-faults
	swift build -c release --product tender-launch
	@state=$$(mktemp -d) && trap 'rm -rf "$$state"' EXIT && \
	  install -m 755 $(TENDER) "$$state/tender" && \
	  .build/release/tender-bench "$$state/tender" "$$state" 100 && \
	  .build/release/tender-bench "$$state/tender" "$$state/journal" 50 journal && \
	  .build/release/tender-bench "$$state/tender" "$$state/payments" 3 payments && \
	  .build/release/tender-bench "$$state/tender" "$$state/million" 10 million && \
	  Tests/Bench/bank.sh "$$state/tender" .build/release/tender-bench && \
	  Tests/Bench/far.sh "$$state/tender" && \
	  Tests/Bench/fleet.sh "$$state/tender" "$(CURDIR)/.build/release/libtender-faults.so" \
	    "$(CURDIR)/.build/release/tender-bench"

# The journal's commands among ROWS payments. Ten million take 40 GB in FOLDER.
FOLDER ?= /tmp
ROWS ?= 10000000
bench-large: build
	swift build -c release --product tender-bench
	swift build -c release --product tender-launch
	@state=$$(mktemp -d -p "$(FOLDER)") && trap 'rm -rf "$$state"' EXIT && \
	  .build/release/tender-bench $(TENDER) "$$state" 10 large $(ROWS)

# Counts the instructions of common commands. EARLIER is the program of an earlier build, to compare with.
EARLIER ?=
bench-quick: build
	@Tests/Bench/quick.sh $(TENDER) $(EARLIER)

# One `simulator serve` that takes so many PAYMENTS from 256 clients, and a batch of a million lines.
PAYMENTS ?= 1000000
soak: build
	@state=$$(mktemp -d) && trap 'rm -rf "$$state"' EXIT && \
	  install -m 755 $(TENDER) "$$state/tender" && \
	  Tests/Bench/soak.sh "$$state/tender" $(PAYMENTS)

# The Autobahn WebSocket suite, where its runner is (AUTOBAHN names the folder).
AUTOBAHN ?= ../shared/tools/autobahn
conformance: setup
	@if [ ! -e "$(AUTOBAHN)/run.sh" ]; then echo "skipped: no $(AUTOBAHN)/run.sh"; exit 0; fi; \
	swift build -c release --product websocket-echo && \
	Tests/WebSocketEcho/conformance.sh "$(AUTOBAHN)" .build/release/websocket-echo

# The whole suite under the sanitizers of addresses, undefined behaviour (in C, which ends the program)
# and threads (without the tests that do one thing thousands of times, limit its files, look into its
# memory, or have more threads behind Swift's mutex, which it does not follow, than fit its reports).
# Leaks are not looked for: constants that Swift makes when they are first used look like them.
sanitize: setup-test
	swift build --build-tests --scratch-path .build/asan --sanitize=address \
	  -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined
	ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
	  swift test --skip-build --disable-xctest --scratch-path .build/asan --sanitize=address
	swift build --build-tests --scratch-path .build/tsan --sanitize=thread
	$$(command -v setarch >/dev/null && echo setarch -R) \
	  swift test --skip-build --disable-xctest --scratch-path .build/tsan --sanitize=thread \
	  --skip 'KillTests|FaultMatrixTests|AdversaryTests|GrowthTests|CircumstanceTests|ContainmentTests|ManyLookUpsTests'

VERSION := $(shell sed -n 's/.*static let version = "\([0-9.]*\)".*/\1/p' Sources/TenderCommandLine/Catalogue/Catalogue.swift)
PACKAGES := .build/packages
sbom:
	@Tests/Packaging/sbom.sh $(VERSION) $(wildcard $(TENDER))

# In .build/packages: a Debian package, a tarball that installs itself, an OCI image.
deb tarball image: build
	@Tests/Packaging/$@.sh $(TENDER) $(VERSION) $(PACKAGES)

# Installs the package and the tarball in bare systems, runs the image from its layers, and pays there. BEFORE names the
# package of an earlier version, which is upgraded.
packages-test: setup-release deb tarball image
	Tests/Packaging/try.sh $(TENDER) $(VERSION) $(PACKAGES) $(BEFORE)

# Builds the last commit in a clone: every artefact, with sums, bill of materials and provenance, in .build/packages.
# KEY names the SSH key that signs the sums.
release:
	@Tests/Packaging/release.sh $(PACKAGES) $(KEY)

# Makes the release of the last commit twice, in two folders and on two days, and compares the bytes.
reproduce: setup-release
	Tests/Packaging/reproduce.sh

clean:
	swift package clean
