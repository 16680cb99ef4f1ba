package budget

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
)

// folder is what the directory of a run says, as a copy of it would.
type folder struct {
	was, next string // marks
	id        int
	ledger    privacy.Extent
}

var ours = Reservation{Run: "r", Task: "t", Config: "c", Data: "d", SHA256: "abc"}

// begins reserves for a new directory.
func begins(t *testing.T, path string) *folder {
	t.Helper()
	r, f := ours, &folder{next: NewMark(), ledger: privacy.Extent{Checks: []string{"head"}}}
	r.Mark = f.next
	if err := Change(path, func(b *File) (err error) {
		f.id, err = b.Reserve(r, planOf(10, 0.5, 1e-6))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return f
}

// goesOn continues the run of a directory. cut says where it is killed: before the budget has the attempt (1).
func (f *folder) goesOn(path string, cut int) error {
	errCut := errors.New("killed")
	err := Change(path, func(b *File) error {
		r, s := ours, Standing{ID: f.id, Marks: []string{f.was, f.next}, Ledger: f.ledger, Continue: "head"}
		r.Mark = NewMark()
		id := b.Of(s, r)
		return b.Continue(id, r, s, planOf(10, 0.5, 1e-6), func(was string) error {
			f.was, f.next, f.id = was, r.Mark, id
			if cut == 1 {
				return errCut
			}
			return nil
		})
	})
	if errors.Is(err, errCut) {
		return nil
	}
	return err
}

// releases puts one more release into the ledger of a directory. cut says where it is killed: before the budget knows (1).
func (f *folder) releases(path string, cut int) error {
	f.ledger.Releases++
	if cut == 1 {
		return nil
	}
	return Change(path, func(b *File) error { return b.Shows(f.id, f.next, f.ledger.Releases) })
}

func elsewhere(t *testing.T, what string, err error) {
	t.Helper()
	var no *Refusal
	if !errors.Is(err, ErrElsewhere) || !errors.As(err, &no) || no.Hint() == "" {
		t.Errorf("%s: %v", what, err)
	}
}

func nil0(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A directory that was killed anywhere goes on. Of its copies, of any age, the first to go on does, and only if it
// has seen every release; all others are refused, before and after the end, and so is the one that was overtaken.
func TestOneOfTheCopiesGoesOn(t *testing.T) {
	path := made(t, Sum, 0, 0)
	f := begins(t, path)
	young := *f // before any release
	nil0(t, f.releases(path, 0))
	elsewhere(t, "a copy from before a release", young.goesOn(path, 0))

	for cut := range 2 { // killed before and after the budget has the attempt
		nil0(t, f.goesOn(path, cut))
		nil0(t, f.goesOn(path, cut))
	}
	nil0(t, f.releases(path, 1)) // the budget does not know of it
	nil0(t, f.goesOn(path, 0))

	a, b := *f, *f // killed here, and copied
	nil0(t, b.goesOn(path, 0))
	elsewhere(t, "the one that was copied, after the copy", a.goesOn(path, 0))
	elsewhere(t, "the one that was copied, still running", a.releases(path, 0))
	stays := b
	nil0(t, b.releases(path, 0))
	elsewhere(t, "a copy of the copy, from before its release", stays.goesOn(path, 0))

	other := b
	other.ledger.Checks = []string{"another"}
	elsewhere(t, "the ledger of another run", other.goesOn(path, 0))
	nil0(t, b.goesOn(path, 0))

	elsewhere(t, "an end by the one that was overtaken", Change(path, func(x *File) error { return x.End(1, a.next, nil, nil) }))
	done := b
	half := planOf(10, 0.5, 1e-6).Releases
	half[0].Count = b.ledger.Releases
	if err := Change(path, func(x *File) error { return x.End(1, b.next, nil, nil) }); err == nil {
		t.Error("a reservation was given back after releases")
	}
	nil0(t, Change(path, func(x *File) error { return x.End(1, b.next, half, nil) }))
	elsewhere(t, "a copy after the end", done.goesOn(path, 0))
	elsewhere(t, "a release after the end", b.releases(path, 0))
	got, err := Read(path)
	if err != nil || len(got.Reservations) != 1 || got.Reservations[0].State != Done || got.Reservations[0].Held.Epsilon != 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A directory that was killed before its reservation was on file has none, whoever reserved meanwhile; one that was
// killed after it finds it again.
func TestReservationIsFoundAgain(t *testing.T) {
	path := made(t, Sum, 0, 0)
	never := folder{id: 1, next: NewMark()}
	f := begins(t, path)
	b, err := Read(path)
	nil0(t, err)
	if id := b.Of(Standing{ID: never.id, Marks: []string{"", never.next}}, ours); id != 0 {
		t.Errorf("one that never was is reservation %d", id)
	}
	if id := b.Of(Standing{ID: 7, Marks: []string{"", f.next}}, ours); id != 1 {
		t.Errorf("reservation 1 is %d", id)
	}
}

// A program that goes on with a plan that costs more than it reserved is refused.
func TestPlanGrew(t *testing.T) {
	path := made(t, Sum, 0, 0)
	f := begins(t, path)
	err := Change(path, func(b *File) error {
		r := ours
		r.Mark = NewMark()
		return b.Continue(1, r, Standing{Marks: []string{f.next}}, planOf(10, 0.7, 1e-6), func(string) error { return nil })
	})
	var no *Refusal
	if !errors.As(err, &no) || !strings.Contains(err.Error(), "epsilon 0.7") {
		t.Error(err)
	}
}

// Budgets from before there were attempts are read, spent from, and their stopped runs go on, once.
func TestOldBudgets(t *testing.T) {
	for name, want := range map[string]float64{"old-sum.jsonl": 2, "old-renyi.jsonl": 0.061609350823247755} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		nil0(t, err)
		path := filepath.Join(t.TempDir(), name)
		nil0(t, os.WriteFile(path, text, 0o644))
		b, err := Read(path)
		nil0(t, err)
		if spent, _, err := b.Spent(); err != nil || spent != want {
			t.Errorf("%s: spent %v, want %v, %v", name, spent, want, err)
		}
		if name != "old-sum.jsonl" {
			continue
		}
		x := b.Reservations[1] // its run was killed
		var plan *privacy.Plan = planOf(10, 1, 1e-6)
		goesOn := func() error {
			return Change(path, func(b *File) error {
				r, s := x, Standing{ID: 2, Marks: []string{"", ""}}
				r.Mark = NewMark()
				return b.Continue(b.Of(s, r), r, s, plan, func(string) error { return nil })
			})
		}
		nil0(t, goesOn())
		elsewhere(t, "a copy of the old directory", goesOn())
		if _, err := reserve(path, planOf(10, 0.5, 1e-6)); err == nil || !strings.Contains(err.Error(), "is for") {
			t.Errorf("other data: %v", err)
		}
	}
}
