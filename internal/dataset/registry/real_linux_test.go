package registry

import (
	"os"
	"os/exec"
	"privrec/internal/dataset"
	"syscall"
	"testing"
)

// TestRealMemory loads ML-1M in a process of its own and looks at its peak.
func TestRealMemory(t *testing.T) {
	dir := realData(t)
	if os.Getenv("PRIVREC_TEST_MEMORY") != "" {
		if _, err := Load(t.Context(), "ml-1m", "dipsgnn", dataset.View{},
			Options{Dir: dir, NoCache: true}); err != nil {
			t.Fatal(err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestRealMemory$")
	cmd.Env = append(os.Environ(), "PRIVREC_TEST_MEMORY=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("peak %d MB", peak)
	if peak > 300 {
		t.Errorf("loading ML-1M takes %d MB, want at most 300", peak)
	}
}
