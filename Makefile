# Everything here needs Go and nothing else; modules are fetched by go itself.

GO       ?= go
BIN      := bin/privrec
PACKAGES ?= ./...
TESTFLAGS ?=

# The commit goes into `privrec version` where this is a git checkout.
VCS := $(shell git rev-parse --verify -q HEAD >/dev/null 2>&1 && echo -buildvcs=true || echo -buildvcs=false)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE    := golang.org/x/tools/cmd/deadcode@v0.52.0

.PHONY: build wheel demo reproduce-tables evidence test test-slow lint dead bench fmt docs schemas clean

# The program is one static file, and that of the wheels: it needs no C library. With the
# tag "minimal" gonum/plot leaves out the forms of pictures that the program does not draw
# (EPS, TeX and its own PDF), half a megabyte. It knows its version.
WHEEL_VERSION ?= $(shell TZ=UTC git log -1 --date=format-local:0.0.0.dev%Y%m%d%H%M%S --format=%cd 2>/dev/null || echo 0.0.0)

build:
	CGO_ENABLED=0 $(GO) build -tags minimal -trimpath $(VCS) \
		-ldflags '-s -w -X privrec/internal/run.release=$(WHEEL_VERSION)' -o $(BIN) ./cmd/privrec

# Python wheels with the program for Linux, macOS and Windows, into DIST. PLATFORM=linux/amd64
# makes those of one platform. The same commit gives the same bytes.
DIST     ?= dist
PLATFORM ?=

wheel:
	$(GO) run ./scripts/wheel -version $(WHEEL_VERSION) -out $(DIST) $(if $(PLATFORM),-only $(PLATFORM))

# A first build says what it is at work on: go itself is silent.
demo:
	@test -x $(BIN) || printf '%s\n' \
		'Building the program into $(BIN), from its own source and about 20 modules of others.' \
		'The first build compiles about 470 packages, in one to three minutes, after go has' \
		'fetched the modules. Every later build takes seconds. The demo then takes under a minute.'
	@$(MAKE) --no-print-directory build
	./$(BIN) demo

# Makes every table and figure, beside the printed numbers; finished runs are not repeated.
# PROFILE is the size: smoke (generated data, minutes), quick (real data in $$PRIVREC_DATA,
# few epochs) or full. Where data are missing, generated rows stand in their place, and the
# tables say so. OUT holds runs and tables. SHARD=2/3 makes the second of three parts of the
# runs; FLAGS=--dry-run says what everything takes.
PROFILE ?= quick
OUT     ?= runs/reproduce
SHARD   ?=
FLAGS   ?=

reproduce-tables: build
	./$(BIN) reproduce --profile $(PROFILE) --out $(OUT) --stand-ins $(if $(SHARD),--shard $(SHARD)) $(FLAGS)

# Makes runs of the full tables for a time, those first that add most to the evidence, at the lowest
# priority, and keeps each that ends in docs/results/records/runs. JOBS processes share the work. It may be
# stopped at any moment; the same command goes on.
FOR      ?= 150m
JOBS     ?= 2
EVIDENCE ?= runs/evidence

evidence: build
	@mkdir -p docs/results/records/runs
	nice -n 19 ./$(BIN) reproduce --profile full --for $(FOR) --jobs $(JOBS) --out $(EVIDENCE) --records

# Property tests draw the same cases every time, so that a change fails by what it
# changes; RAPID_SEED=0 draws new ones.
export RAPID_SEED ?= 1

# Tests that read real data look in $$PRIVREC_DATA and say so when they skip. No test
# has a time limit: a slow machine takes longer.
test:
	$(GO) test -timeout 0 $(TESTFLAGS) $(PACKAGES)

# The tests with the build tag slow, and no others.
test-slow:
	GO="$(GO)" scripts/slow-tests.sh $(TESTFLAGS)

# The packages with files of their own for float64. The tests compile all others with it.
FLOAT64 := ./internal/tensor/... ./internal/papers ./internal/cli

lint:
	@out=$$(gofmt -l cmd internal scripts); if [ -n "$$out" ]; then echo "not formatted (make fmt):"; echo "$$out"; exit 1; fi
	$(GO) vet -tags slow,smoke $(PACKAGES)
	$(GO) vet -tags f64 $(FLOAT64)
	$(GO) run $(STATICCHECK) -tags slow,smoke $(PACKAGES)

# Functions that no command reaches, privrec-beam included, which is a module of its own: a workspace outside of this
# folder joins the two. What only tests call belongs to them.
dead:
	@work=$$(mktemp -d) && trap 'rm -rf "$$work"' EXIT && export GOWORK="$$work/go.work" && \
	$(GO) work init . ./cmd/privrec-beam && \
	out=$$($(GO) run $(DEADCODE) -filter '^privrec(/|$$)' ./cmd/privrec ./cmd/privrec-beam) && \
	if [ -n "$$out" ]; then echo "no command reaches:"; echo "$$out"; exit 1; fi

bench: build
	./$(BIN) bench gemm
	./$(BIN) bench dipsgnn
	./$(BIN) bench lightgcn
	./$(BIN) bench rdpgcf
	./$(BIN) bench bprmf

fmt:
	gofmt -w cmd internal scripts

clean:
	rm -rf bin

# The JSON Schemas that the first lines of configurations name, for editors.
schemas: build
	./$(BIN) list schema --out docs/schemas

# The command reference, the pages of the data sets, the drawings and the page of the
# architecture, from the program itself; pages with results from docs/src, records of runs
# and the papers' printed numbers; the hashes of the tables of kept runs.
docs:
	$(GO) test ./internal/record -run 'TestRecordFiles|TestPages' -update
	$(GO) test ./internal/cli -run 'TestCommandReference|TestDataPages|TestConfigurationPage' -update
	$(GO) test ./internal/reproduce/pages -run TestResultsPage -update
	$(GO) test ./internal/cli -run 'TestSchemaHashes|TestRulesBeyondSchemas|TestFrozenRecords' -update
	$(GO) test ./internal -run 'TestArchitecture|TestEpsilonDrawing' -update
