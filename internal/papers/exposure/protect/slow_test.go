//go:build slow

package protect

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"privrec/internal/rng"
)

// Memory does not grow with the slates: after a million of them, of 250,000 users, no more
// bytes are live than a few blocks take.
func TestMemoryOfAFile(t *testing.T) {
	const n = 1_100_000
	dir := t.TempDir()
	in := filepath.Join(dir, "in.txt")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	s := rng.Seed(1).Stream("slates")
	var line []byte
	for i := range n {
		line = strconv.AppendInt(line[:0], int64(i/4), 10)
		for range 5 {
			line = strconv.AppendInt(append(line, ' '), int64(1+s.IntN(1000)), 10)
		}
		w.Write(append(line, '\n'))
	}
	if err := w.Flush(); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	for _, o := range []FileOptions{{Method: Method{Ratio: 0.4, Replace: ReplaceInBatch}}, {Method: Method{Replace: ReplaceRR, Epsilon: 5}}} {
		var most atomic.Uint64
		seen := 0
		o.In, o.Out, o.Items, o.Workers, o.Force = in, filepath.Join(dir, "out.txt"), 1000, 2, true
		o.Progress = onPhase(func(s string) {
			if !strings.HasPrefix(s, "written ") {
				return
			}
			seen++
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
		})
		r, err := File(context.Background(), o)
		if err != nil || r.Slates != n {
			t.Fatalf("%+v: %v", r, err)
		}
		t.Logf("%s: %.1f MB live", r.method(), float64(most.Load())/1e6)
		if seen < 1 || most.Load() > 20e6 {
			t.Errorf("%s: %d bytes live after millions of slates, seen %d times", r.method(), most.Load(), seen)
		}
	}
}
