package imported_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/run/runtest"
)

// found is what the metrics.json of every attack has of its results.
type found struct {
	Floors, Evaluations []experiment.Scores
	Protocols           []struct { // of exposure
		Floors []experiment.Scores
		Counts []struct {
			Gains []gain
		}
		Gains []gain
	}
	Gains  []gain
	Epochs []struct{ Loss float64 } // of a model that is trained: one row that differs shows in them, if in no metric
}

// gain is what is left of an attack beyond a floor.
type gain struct {
	Row, Over, Metric string
	Value             float64
	Interval          [2]float64
}

// attack is an attack under a setting that is the same for a run and for lists.
type attack struct {
	name string
	on   string // key of the run
	run  []string
	sets []string
}

// small are the attacks on lists, in tenths of a second on generated rows.
func small(attributes string) []attack {
	return []attack{
		{"attack exposure", "on.run", nil, []string{"data.slate=10", "data.behaviour=3", "attack.dim=8", "attack.ffn=8", "train.epochs=3", "eval.k=[5]", "eval.resamples=100"}},
		{"attack attribute", "on.runs", nil, []string{"files.attributes=" + attributes, "attributes=[{name: gender}]", "attack.k=[10]", "attack.attackers=[logistic-regression]", "attack.repeats=3"}},
		{"attack membership", "on.run", []string{"run.hold_out.users=0.4"}, []string{"profile=own", "attack.level=user", "attack.sees=[lists]", "attack.k=10", "eval.resamples=200"}},
		{"attack membership", "on.run", []string{"run.hold_out.rows=0.4"}, []string{"profile=own", "attack.sees=[lists]", "attack.k=10", "eval.resamples=200"}},
	}
}

// on names the run in a directory.
func (a attack) at(dir string) []string {
	if a.on == "on.runs" {
		return append(slices.Clone(a.sets), "on.runs=["+dir+"]")
	}
	return append(slices.Clone(a.sets), a.on+"="+dir)
}

// of names the files.
func (a attack) of(e exported) []string {
	files := e.files()
	if a.name != "attack membership" { // which alone reads non-members
		files = files[:2]
	}
	return append(slices.Clone(a.sets), files...)
}

// result reads what an attack found.
func result(t testing.TB, dir string) found {
	t.Helper()
	return runtest.ReadJSON[found](t, dir, "metrics.json", false)
}

// same fails where two results differ but for what they are of. Evaluations of attribute attacks have the name of their
// target in front.
func same(t testing.TB, what string, got, want found) {
	t.Helper()
	for _, f := range []*found{&got, &want} {
		f.Floors, f.Evaluations, f.Gains = slices.Clone(f.Floors), slices.Clone(f.Evaluations), slices.Clone(f.Gains)
		for _, list := range [][]experiment.Scores{f.Floors, f.Evaluations} {
			for i := range list {
				if _, rest, ok := strings.Cut(list[i].Name, ", "); ok {
					list[i].Name = rest
				}
			}
		}
		for i := range f.Gains {
			f.Gains[i].Row = ""
		}
	}
	if len(want.Evaluations) == 0 || len(want.Floors)+len(want.Protocols) == 0 {
		t.Fatalf("%s: nothing to compare: %+v", what, want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v\nof the run itself:\n%+v", what, got, want)
	}
}

// An attack on lists finds what it finds on the run that made them, imported as a run and as files.
func TestAttacksOnListsAreThoseOnTheRun(t *testing.T) {
	attributes := attributesOf(t, "standin-tiny")
	for _, a := range small(attributes) {
		t.Run(a.name+strings.Join(a.run, " "), func(t *testing.T) {
			t.Parallel()
			equal(t, a, "data.name=standin-tiny", "data.recipe=gerai")
		})
	}
}

// equal attacks a run of EASE, the run of its lists, and its lists.
func equal(t testing.TB, a attack, data ...string) (files exported, of found) {
	t.Helper()
	ease, _ := must(t, "train ease", append(slices.Clone(a.run), data...)...)
	o, err := experiment.ReadOutcome(ease)
	if err != nil {
		t.Fatal(err)
	}
	files = export(t, ease, itemsOf(t, o))
	mine, _ := must(t, "import lists", files.sets()...)
	own, _ := must(t, a.name, a.at(ease)...)
	want := result(t, own)
	again, _ := must(t, a.name, a.at(mine)...)
	same(t, "imported", result(t, again), want)
	direct, text := must(t, a.name, a.of(files)...)
	same(t, "files", result(t, direct), want)
	if !strings.Contains(text, "evidence level C") {
		t.Errorf("the result says nothing of its evidence:\n%s", text)
	}
	return files, want
}
