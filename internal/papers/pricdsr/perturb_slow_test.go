//go:build slow

package pricdsr

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"privrec/internal/perturb"
)

// Four times the users, all of whose buffers were full before, take no more memory: what
// the program asked the system for grows by less than 8 MiB, where their rows alone are
// over 30.
func TestMemoryDoesNotGrowWithUsers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the bound below is for this, whatever GOGC is
	dir := t.TempDir()
	in := filepath.Join(dir, "in.txt")
	for _, keep := range []bool{false, true} {
		var asked [2]uint64
		for i, users := range []int{300_000, 1_200_000} {
			f, err := os.Create(in)
			if err != nil {
				t.Fatal(err)
			}
			w := bufio.NewWriter(f)
			for u := range users {
				fmt.Fprintf(w, "%d %d %d %d\n", u*7919%users, 1+u%900, 901+u%77, 1000+u%5000)
			}
			if err := errors.Join(w.Flush(), f.Close()); err != nil {
				t.Fatal(err)
			}
			o := Options{Settings: perturb.Settings{In: in, Out: filepath.Join(dir, "out.tsv.gz"), Items: 6000, Length: 6, Workers: 2, Force: true}, Epsilon: 9, KeepOrder: keep}
			r, err := Perturb(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Users != int64(users) {
				t.Fatalf("%d users of %d", r.Users, users)
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			asked[i] = m.Sys
		}
		t.Logf("keep order %t: %d and %d MiB", keep, asked[0]>>20, asked[1]>>20)
		if asked[1] > asked[0]+8<<20 {
			t.Errorf("keep order %t: %d MiB after %d MiB", keep, asked[1]>>20, asked[0]>>20)
		}
	}
}
