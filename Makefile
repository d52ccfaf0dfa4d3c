# SPDX-License-Identifier: GPL-2.0
#
# The user's face. Kernel builds read Kbuild instead. Everything that is built
# or fetched is in build/.

export KVER KDIR KSRC TESTING JOBS
export QUICK ALL DEVICES VARIANTS WORKLOADS RATES RUNS SPLIT SHIFT NTP_SHIFT

.PHONY: help modules kunit smoke lint check check-quick check-kcsan coverage
.PHONY: demo bench clean distclean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) \
		| while IFS='|' read -r t d; do printf '  %-12s %s\n' "$$t" "$$d"; done

modules: ## txts.ko, igb.ko and igc.ko in build/RELEASE [KVER=RELEASE | KDIR=.. KSRC=..] [TESTING=1]
	@scripts/modules.sh

kunit: ## KUnit suites in User Mode Linux [KERNEL=6.12|7] [DEBUG=1|SMP=1] [FILTER=SUITE.CASE]
	@scripts/kunit.sh $(KERNEL) $(if $(DEBUG),--debug) $(if $(SMP),--smp) \
		$(if $(FILTER),--filter '$(FILTER)')

smoke: ## boot a stock Debian kernel in QEMU with the modules and send packets
	@scripts/vm-smoke.sh

lint: ## checkpatch, kernel-doc, shellcheck, sparse, semantic patches, Linux 6.12 and 7.x
	@scripts/lint.sh

check: ## all tests: lint, kunit on four kernels, real drivers in QEMU and UML
	@scripts/check.sh

check-quick: ## the KUnit suites on one kernel
	@scripts/check.sh --quick

check-kcsan: ## the KUnit suites on x86 in QEMU, with KCSAN and PREEMPT_RT
	@scripts/kcsan.sh

coverage: ## lines and branches of lib/txts that the KUnit suites execute
	@scripts/coverage.sh

.PHONY: mutants
mutants: ## plant faults in a copy of lib/txts: a KUnit suite must notice each [MUTANT='NAME...']
	@scripts/mutants.sh $(MUTANT)

demo: ## stock drivers and txts side by side in QEMU; ptp4l on emulated cards
	@scripts/demo.sh

bench: ## policies side by side in QEMU, virtual time, 90 minutes [QUICK=1 | ALL=1] [VARIANTS=..] [WORKLOADS=..]
	@scripts/bench.sh

clean: ## remove what was built, keep what was fetched
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name dl \
		! -name src ! -name headers ! -name image ! -name pick \
		-exec rm -rf {} +; fi

distclean: ## remove build/
	@rm -rf build
