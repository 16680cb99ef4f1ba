package privacy_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
)

// What was recorded stays what it was: neither the list that a composition was
// made of, used again by its maker, nor what Entries returned reaches the ledger.
func TestEntriesAreNotShared(t *testing.T) {
	for name, wrap := range map[string]func(list []privacy.Event) privacy.Event{
		"composed": func(list []privacy.Event) privacy.Event { return privacy.Composed{Events: list} },
		"parallel": func(list []privacy.Event) privacy.Event { return privacy.Parallel{Events: list} },
		"deep": func(list []privacy.Event) privacy.Event {
			return privacy.SelfComposed{Count: 2, Event: privacy.Sampled{Rate: 0.5, Method: privacy.Poisson, Event: privacy.Composed{Events: []privacy.Event{
				privacy.Parallel{Events: list}, normal}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a")
			l := must(privacy.CreateLedger(path, privacy.Research, nil))
			list := []privacy.Event{normal, spread}
			want := wrap([]privacy.Event{normal, spread})
			check(t, l.Record("p", wrap(list), 1))
			list[0] = leaf
			check(t, l.Record("p", wrap([]privacy.Event{normal, spread}), 1))
			spoil := func(e privacy.Event) {
				for {
					switch x := e.(type) {
					case privacy.SelfComposed:
						e = x.Event
						continue
					case privacy.Sampled:
						e = x.Event
						continue
					case privacy.Composed:
						if p, ok := x.Events[0].(privacy.Parallel); ok {
							e = p
							continue
						}
						x.Events[0] = leaf
					case privacy.Parallel:
						x.Events[0] = leaf
					}
					return
				}
			}
			spoil(l.Entries()[0].Event)
			check(t, l.Flush("epoch"))
			spoil(l.Entries()[0].Event)
			for where, got := range map[string][]privacy.Entry{"in memory": l.Entries(), "on file": must(privacy.Reading{Unfinished: true}.File(path)).Entries()} {
				if d := cmp.Diff([]privacy.Entry{{Period: "epoch", Purpose: "p", Count: 2, Event: want}}, got); d != "" {
					t.Errorf("%s: %s", where, d)
				}
			}
			check(t, l.Close())
		})
	}
}

// A count fills up to the largest number and not beyond; a refusal changes neither
// it nor the next period.
func TestCountsEndAtTheLargestNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	l := must(privacy.CreateLedger(path, privacy.Research, nil))
	check(t, errors.Join(l.Record("p", normal, math.MaxInt64-2), l.Record("p", normal, 2)))
	for _, more := range []int64{1, 2, math.MaxInt64} {
		if err := l.Record("p", normal, more); err == nil || !strings.Contains(err.Error(), "count of p overflows") {
			t.Errorf("%d more: %v", more, err)
		}
	}
	check(t, errors.Join(l.Record("q", normal, 1), l.Flush("1"), l.Record("p", normal, 1), l.Flush("2"), l.Close()))
	want := []int64{math.MaxInt64, 1, 1}
	for i, e := range must(privacy.Reading{}.File(path)).Entries() {
		if e.Count != want[i] {
			t.Errorf("%+v, want a count of %d", e, want[i])
		}
	}
}

// A long run's releases take the space of its kinds and periods, not of its steps.
func TestAlikeReleasesTakeOneLine(t *testing.T) {
	sizes := map[int]int{}
	for _, steps := range []int{1, 20_000} {
		path := filepath.Join(t.TempDir(), fmt.Sprint(steps))
		l := must(privacy.CreateLedger(path, privacy.Research, nil))
		for range steps {
			check(t, errors.Join(l.Record("sums", normal, 1), l.Record("counts", spread, 1)))
		}
		st := must(l.State())
		if len(st.Pending) != 2 || len(l.Entries()) != 2 {
			t.Errorf("%d steps: %d pending lines, %d entries", steps, len(st.Pending), len(l.Entries()))
		}
		check(t, l.Close())
		sizes[steps] = len(must(os.ReadFile(path)))
	}
	if more := sizes[20_000] - sizes[1]; more != 2*len("0000") { // the digits of two counts
		t.Errorf("20000 steps take %d bytes more than one", more)
	}
}

// The two marks make two ledgers, from the first byte of the chain on: no line of
// one fits the other.
func TestMarksAreChained(t *testing.T) {
	files := map[privacy.Noise][]byte{}
	for _, n := range []privacy.Noise{privacy.Research, privacy.Secure} {
		path := filepath.Join(t.TempDir(), "a")
		l := must(privacy.CreateLedger(path, n, nil))
		check(t, errors.Join(l.Record("p", normal, 1), l.Flush("1"), l.Close()))
		files[n] = must(os.ReadFile(path))
		if got := must(privacy.Reading{}.File(path)).Noise(); got != n {
			t.Errorf("%s is read as %s", n, got)
		}
	}
	_, researchEntry, _ := bytes.Cut(files[privacy.Research], []byte("\n"))
	secureHeader, secureEntry, _ := bytes.Cut(files[privacy.Secure], []byte("\n"))
	if bytes.Equal(researchEntry, secureEntry) {
		t.Error("the same line in a secure ledger and in one that is not")
	}
	if _, err := (privacy.Reading{}).Parse(bytes.NewReader(append(append(bytes.Clone(secureHeader), '\n'), researchEntry...))); err == nil {
		t.Error("a release with research noise was moved under a secure header")
	}
}
