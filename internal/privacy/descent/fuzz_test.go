package descent

import (
	"encoding/json"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Any bytes as the state of a run: refused, or a run that goes on.
func FuzzDPSGDState(f *testing.F) {
	run, err := openFuzz()
	if err != nil {
		f.Fatal(err)
	}
	for step := range 3 {
		b, err := json.Marshal(run.State())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		if _, _, err := descend(run, step, 1); err != nil {
			f.Fatal(err)
		}
	}
	f.Add([]byte(`{"batches":{"batches":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var st State
		if json.Unmarshal(b, &st) != nil {
			return
		}
		run, err := openFuzz()
		if err != nil {
			t.Fatal(err)
		}
		if run.Restore(st) != nil {
			if run.State().Batches != (batchTally{}) {
				t.Fatal("a refused state left its mark")
			}
			return
		}
		want, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(run.State())
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("%s restored as %s", want, got)
		}
		if _, err := run.Begin(math.MaxUint64 - 1); err != nil {
			t.Fatal(err)
		}
	})
}

func openFuzz() (*Steps[float32], error) {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	return Open[float32](poissonSGD, 20, l, rng.Seed(2).Stream("fuzz"))
}
