//go:build slow

package cli

import "testing"

// The example of every task trains, and those of measurements measure.
func TestSlowExamplesRun(t *testing.T) { runExamples(t, slowExample) }
