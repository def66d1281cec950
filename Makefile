# Targets for working on godwit. Bare "make" lists them.

GO       ?= go
BIN      ?= bin/godwit
FUZZTIME ?= 20s
STATIC   := CGO_ENABLED=0
CHECKER  := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# where test/peers puts the client for node
export NODE_PATH ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/godwit-ci/node/node_modules

.DEFAULT_GOAL := help
.PHONY: help build dev test conformance compat race invariants fuzz bench bench-client bench-compare lint fmt cross arm64 man check clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

build: ## the static binary, at bin/godwit
	$(STATIC) $(GO) build -trimpath -o $(BIN) ./cmd/godwit

dev: ## run the server with all internal checks on
	$(GO) run -tags invariants ./cmd/godwit serve -m 256

test: ## all tests; installs the servers and clients that some of them use, if it may
	@test/peers
	$(GO) test ./...

conformance: ## clients, hostile inputs and random streams against the built program (ARGS="-streams 5000 -seed 1": longer)
	$(GO) test -count=1 ./test/conformance
	$(GO) test -count=1 -v ./test/conformance/differential $(ARGS)

compat: ## exporters, tools and Go clients for memcached use the server; needs memcached installed to compare with
	cd test/compat && $(GO) vet ./... && $(GO) test ./...

race: ## all tests under the race detector; off-heap memory lives in Go slices then, so that races on it are seen
	$(GO) test -race -tags race ./...

invariants: ## all tests with the internal checks on
	$(GO) test -tags invariants ./...

fuzz: ## every fuzz target for FUZZTIME (20s)
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; \
	    out=$$($(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg 2>&1); rc=$$?; echo "$$out"; \
	    [ $$rc -eq 0 ] && continue; \
	    echo "$$out" | grep -q 'Failing input' && exit 1; \
	    echo "$$out" | grep -qx '    context deadline exceeded' || exit 1; \
	    echo 'the time was over in the middle of an input, which the go command calls a failure: it is none'; \
	  done; \
	done

bench: ## benchmarks of the layers; compare two outputs with benchstat
	$(GO) test -run '^$$' -bench . -benchmem ./internal/...

bench-client: ## the load generators beside memtier_benchmark and mc-crusher (ARGS="-memtier PATH -crusher PATH")
	$(GO) run ./test/bench/client $(ARGS)

bench-compare: ## godwit beside the memcached of this machine, same cores, medians (3 minutes; ARGS="-only get,set")
	$(GO) run ./test/bench/compare $(ARGS)

lint: ## formatting, go vet, staticcheck, import rules
	@test -z "$$(gofmt -l cmd internal test)" || { gofmt -l cmd internal test; echo 'run make fmt'; exit 1; }
	$(GO) vet ./...
	$(GO) run $(CHECKER) ./...
	$(GO) test ./test/deps

fmt: ## format the sources
	gofmt -w cmd internal test

cross: ## build for every system that is supported
	@for target in linux/amd64 linux/arm64 darwin/arm64 freebsd/amd64; do \
	  echo $$target; \
	  $(STATIC) GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -trimpath -o /dev/null ./cmd/godwit || exit 1; \
	done

arm64: ## unit tests as arm64 code, under qemu
	$(STATIC) GOARCH=arm64 $(GO) test -exec qemu-aarch64-static ./internal/...

man: ## write the parts of the man pages that come from tables and help texts
	$(GO) test ./internal/config ./internal/cli -run TestManPage -update-man

check: lint test race invariants ## what a change must pass

clean: ## remove what was built
	rm -rf bin
