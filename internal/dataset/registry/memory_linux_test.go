package registry

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestReadMemory reads files of 250,000 rows in processes of their own and looks at
// what their peaks are above that of a file of 2,000 rows.
func TestReadMemory(t *testing.T) {
	const rows = 250_000
	if job := os.Getenv("PRIVREC_TEST_READ"); job != "" {
		name, path, _ := strings.Cut(job, ":")
		for _, f := range sizedForms() {
			if f.name == name {
				if _, err := f.read(t.Context(), path); err != nil {
					t.Fatal(err)
				}
			}
		}
		return
	}
	peak := func(f sized, rows int) int64 {
		path, _ := f.write(t, rows)
		cmd := exec.Command(os.Args[0], "-test.run=^TestReadMemory$")
		cmd.Env = append(os.Environ(), "PRIVREC_TEST_READ="+f.name+":"+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	for _, f := range sizedForms() {
		base := peak(f, 2000)
		got := float64(peak(f, rows)-base) / rows
		t.Logf("%s: %.0f bytes a row above the %d MB of a process that reads little", f.name, got, base>>20)
		want := 150.0
		if f.name == "tmall-dropped" {
			want = 50 // a tenth of the rows, all of the ids
		}
		if got > want {
			t.Errorf("%s: %.0f bytes a row, want at most %.0f", f.name, got, want)
		}
	}
}
