//go:build slow

package dipsgnn

import (
	"fmt"
	"path/filepath"
	"testing"
)

// Interruption at every place where a run looks at its context.
func TestResumeAfterEveryInterruption(t *testing.T) {
	want, s := uninterrupted(t, "dipsgnn", nil)
	for at := 1; at <= s.fuse.looks; at++ {
		dir := filepath.Join(t.TempDir(), "run")
		interrupt(t, "dipsgnn", dir, nil, at, false)
		same(t, fmt.Sprintf("interrupted at look %d of %d", at, s.fuse.looks), resume(t, "dipsgnn", dir, nil), want)
	}
}
