package cli

import "privrec/internal/run"

// tasks lists everything that runs under a configuration.
func tasks() []run.Task { return nil }

// demo is the tour of the program.
func demo() *Demo { return nil }

// benches lists what can be measured.
func benches() []Bench { return nil }
