package registry

import (
	"bufio"
	"bytes"
	"testing"

	"privrec/internal/dataset"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzCacheEntry decodes damaged payloads behind a right checksum: it must refuse or
// return a valid log, never panic or allocate what the payload cannot hold.
func FuzzCacheEntry(f *testing.F) {
	l := twoRows()
	feat := &dataset.Features{UserIDs: []string{"1", "2"}, Columns: []dataset.Column{{Name: "a", Kind: dataset.Numeric, Numbers: []float64{1, 2}}, {Name: "b", Codes: []int32{0, -1}, Levels: []string{"x"}}}}
	f.Add(encodeEntry(&entry{log: l, ladder: dataset.Ladder{l.Rung(dataset.RungRaw)}}))
	f.Add(encodeEntry(&entry{log: l, ladder: dataset.Ladder{l.Rung(dataset.RungRaw)}, features: feat}))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeEntry(b)
		if err != nil {
			return
		}
		if err := e.log.Valid(); err != nil {
			t.Fatal(err)
		}
		again, err := decodeEntry(encodeEntry(e))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, again, cmp.AllowUnexported(entry{}), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

// FuzzCacheFile opens damaged cache files: only the bytes that were sealed come back.
func FuzzCacheFile(f *testing.F) {
	var whole bytes.Buffer
	w := bufio.NewWriter(&whole)
	l := twoRows()
	sealEntry(&entry{log: l, ladder: dataset.Ladder{l.Rung(dataset.RungRaw)}})(w)
	w.Flush()
	sealed := whole.Bytes()
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add(append(bytes.Clone(sealed), 0))
	f.Add([]byte(cacheVersion))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := openEntry(b)
		if err != nil {
			return
		}
		var again bytes.Buffer
		w := bufio.NewWriter(&again)
		sealEntry(e)(w)
		w.Flush()
		if back, err := openEntry(again.Bytes()); err != nil {
			t.Fatal(err)
		} else if d := cmp.Diff(e, back, cmp.AllowUnexported(entry{}), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

// twoRows is a log of two users with a row each.
func twoRows() *dataset.Log {
	return &dataset.Log{Name: "hand-made", Hash: "hash", UserIDs: []string{"1", "2"}, ItemIDs: []string{"7", "8"},
		Users: []int32{0, 1}, Items: []int32{0, 1}, Times: []int64{1, 2}, Values: []float32{5, 3}}
}
