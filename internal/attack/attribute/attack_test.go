package attribute

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

func TestNames(t *testing.T) {
	var names []string
	for _, a := range Attackers() {
		if slices.Contains(names, a.Name()) {
			t.Errorf("two attackers are named %q", a.Name())
		}
		names = append(names, a.Name())
		if b, err := ByName(a.Name()); err != nil || b.Name() != a.Name() {
			t.Errorf("%q: %v", a.Name(), err)
		}
	}
	if _, err := ByName("svm"); err == nil || !strings.Contains(err.Error(), "naive-bayes-gaussian") {
		t.Errorf("error %v", err)
	}
}

// TestRepeats: the same stream gives the same bytes with any number of workers, and only the network and the forest
// draw from it.
func TestRepeats(t *testing.T) {
	x, class := planted(120, 3, true, rng.Seed(8).Stream("rows"))
	y, _ := planted(70, 3, true, rng.Seed(9).Stream("rows"))
	defer tensor.SetWorkers(tensor.Workers())
	for _, a := range Attackers() {
		tensor.SetWorkers(1)
		one := guess(t, a.Name(), x, class, 3, y, rng.Seed(1).Stream("s"))
		tensor.SetWorkers(4)
		four := guess(t, a.Name(), x, class, 3, y, rng.Seed(1).Stream("s"))
		if !reflect.DeepEqual(one, four) {
			t.Errorf("%s depends on the number of workers", a.Name())
		}
		other := guess(t, a.Name(), x, class, 3, y, rng.Seed(1).Stream("other"))
		if draws := a.Name() == "dnn" || a.Name() == "random-forest"; draws == reflect.DeepEqual(one, other) {
			t.Errorf("%s: draws are %v, but another stream says otherwise", a.Name(), draws)
		}
	}
}

// fewer returns rows in which class 1 of three does not occur.
func fewer() (tensor.Matrix, []int32) {
	x, class := planted(40, 2, true, rng.Seed(2).Stream("rows"))
	for i := range class {
		class[i] *= 2
	}
	return x, class
}

// TestAbsentClass: a class without training users is improbable.
func TestAbsentClass(t *testing.T) {
	x, class := fewer()
	for _, a := range Attackers() {
		for i, p := range guess(t, a.Name(), x, class, 3, x, rng.Seed(1).Stream("s")) {
			if p[1] != 0 && (a.Name() != "dnn" || p[1] > 0.2) {
				t.Errorf("%s: row %d has probabilities %v", a.Name(), i, p)
				break
			}
		}
	}
}

func TestBadRows(t *testing.T) {
	x, class := planted(20, 2, true, rng.Seed(2).Stream("rows"))
	nan := tensor.New(20, 8)
	nan.Data[3*8+5] = tensor.Float(math.NaN())
	huge := tensor.New(20, 8)
	huge.Data[2*8+1] = -2e9
	high := slices.Clone(class)
	high[7] = 2
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, a := range Attackers() {
		for _, c := range []struct {
			x     tensor.Matrix
			class []int32
			want  string
		}{
			{x, class[:19], "20 rows for 19 classes"},
			{x, high, "user 7 has class 2 of 2"},
			{x, make([]int32, 20), "fewer than two values"},
			{nan, class, "row 3, column 5 is NaN"},
			{huge, class, "row 2, column 1 is -2e+09"},
			{tensor.New(20, 0), class, "without columns"},
		} {
			if _, err := a.Fit(t.Context(), c.x, c.class, 2, rng.Stream{}); err == nil || !strings.HasPrefix(err.Error(), a.Name()+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", a.Name(), err, c.want)
			}
		}
		if slices.Contains([]string{"dnn", "decision-tree", "random-forest", "gaussian-process", "logistic-regression"}, a.Name()) {
			if _, err := a.Fit(canceled, x, class, 2, rng.Stream{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v after the context's end", a.Name(), err)
			}
		}
		g, err := a.Fit(t.Context(), x, class, 2, rng.Stream{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			x    tensor.Matrix
			p    [][]float64
			want string
		}{
			{tensor.New(3, 7), room(3, 2), "7 columns, trained on 8"},
			{tensor.New(3, 8), room(2, 2), "2 rows of probabilities for 3 rows"},
			{tensor.New(3, 8), room(3, 3), "row 0 has room for 3 probabilities of 2 classes"},
			{nan, room(20, 2), "row 3, column 5 is NaN"},
			{huge, room(20, 2), "row 2, column 1 is -2e+09"},
		} {
			if err := g.Probabilities(c.x, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", a.Name(), err, c.want)
			}
		}
		if err := g.Probabilities(tensor.New(0, 8), nil); err != nil {
			t.Errorf("%s: no rows: %v", a.Name(), err)
		}
	}
}

// TestUnsuitable: an attacker that cannot work on the rows says so by its own type of error.
func TestUnsuitable(t *testing.T) {
	x, class := planted(20, 2, true, rng.Seed(2).Stream("rows"))
	negative := tensor.New(20, 8)
	negative.Data[8] = -1
	same := tensor.New(20, 8)
	many, manyClass := tensor.New(processUsers+1, 1), make([]int32, processUsers+1)
	manyClass[0] = 1
	for _, c := range []struct {
		name  string
		x     tensor.Matrix
		class []int32
		want  string
	}{
		{"naive-bayes-multinomial", negative, class, "row 1, column 0 is -1"},
		{"naive-bayes-gaussian", same, class, "all rows are equal"},
		{"knn-5", tensor.RowsView(x, 0, 4), []int32{0, 1, 0, 1}, "needs 5 users, not 4"},
		{"gaussian-process", many, manyClass, "at most 2000 users, not 2001"},
	} {
		a, err := ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Fit(t.Context(), c.x, c.class, 2, rng.Stream{})
		var u *UnsuitableError
		if !errors.As(err, &u) || u.Attacker != c.name || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	a, err := ByName("naive-bayes-multinomial")
	if err != nil {
		t.Fatal(err)
	}
	g, err := a.Fit(t.Context(), x, class, 2, rng.Stream{})
	if err != nil {
		t.Fatal(err)
	}
	var u *UnsuitableError
	if err := g.Probabilities(negative, room(20, 2)); !errors.As(err, &u) {
		t.Errorf("negative counts to guess from: %v", err)
	}
}
