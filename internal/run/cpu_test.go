package run

import (
	"bytes"
	"path/filepath"
	"testing"

	"privrec/internal/system"
)

// An attempt records the processor time of its own work, not that of the process before it.
func TestAttemptRecordsProcessorTime(t *testing.T) {
	burn := func(from float64) {
		for n, sum := 0, 0; system.CPUSeconds() == from; n++ {
			sum += n * n // until the system counts it
		}
	}
	burn(system.CPUSeconds())
	before := system.CPUSeconds()
	dir := filepath.Join(t.TempDir(), "r")
	task := toyTask(func(step int) error {
		if step == 1 {
			burn(system.CPUSeconds())
		}
		return nil
	})
	if _, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}})); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	used := system.CPUSeconds() - before
	if got := m.Attempts[0].CPUSeconds; !(got > 0) || got > used {
		t.Errorf("processor time of the attempt %v, of the process since its start %v", got, used)
	}
}
