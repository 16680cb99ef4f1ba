package run

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/train"
)

// An attempt that goes on from a checkpoint replaces the epochs that it repeats, and the event
// file has what the ledger comes to.
func TestEventFile(t *testing.T) {
	dir := t.TempDir()
	attempt := func(from, to int, open bool) *Env {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		e := newEnv(dir, "", false)
		e.books.ledger, e.writing.events.wanted = l, true
		if open {
			if err := l.Declare(privacy.Declaration{WithoutNoise: []privacy.Unprotected{{What: "labels", Why: "they are read in the clear", Unit: privacy.Record}}}); err != nil {
				t.Fatal(err)
			}
		}
		noise := privacy.Gaussian{Sigma: 10, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}
		for i := range to {
			if err := l.Record("gradient", noise, 1); err != nil {
				t.Fatal(err)
			}
			if i >= from {
				e.writeEvents(train.EpochInfo{EpochRecord: train.EpochRecord{Epoch: i, Loss: 1 / float64(i+1), Scores: []train.Score{{Name: "valid Recall@20", Value: .5}}}})
			}
		}
		spent, err := spentByNow(l)
		if err != nil || len(spent) != 2 {
			t.Fatalf("spent: %v, %v", spent, err)
		}
		if math.IsInf(spent[0].Value, 1) != open || !(spent[1].Value > 0 && spent[1].Value < 10) {
			t.Errorf("epsilon of the run and of its noise: %v", spent)
		}
		if err := e.writing.events.close(); err != nil {
			t.Fatal(err)
		}
		if !e.writing.kept {
			t.Error("the run is not kept")
		}
		return e
	}
	path := filepath.Join(dir, filepath.FromSlash(eventsName))
	times := func() []byte { // the bytes without the wall time of each record
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var out []byte
		for len(b) > 12 {
			n := int(b[0]) | int(b[1])<<8
			out = append(out, b[12+9:12+n]...)
			b = b[16+n:]
		}
		return out
	}
	attempt(0, 5, false)
	whole := times()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	attempt(0, 3, false)
	if bytes.Equal(times(), whole) {
		t.Error("three epochs are five")
	}
	attempt(2, 5, false)
	if !bytes.Equal(times(), whole) {
		t.Error("a continued event file is not that of the whole run")
	}
	attempt(0, 1, true)
}
