package epsilons_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/epsilons"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
)

// noise is a reading for tests: normal noise, a pure epsilon, or nothing.
type noise struct {
	Sigma float64 `yaml:"sigma"`
	Count int64   `yaml:"count"`
	Pure  float64 `yaml:"pure"`
	Open  bool    `yaml:"open"`
	Fail  bool    `yaml:"fail"`
}

func (n noise) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	if n.Fail {
		return of, errors.New("no releases")
	}
	if n.Open {
		of.Open = append(of.Open, experiment.NotCovered("labels", "they are seen"))
	}
	of.Pure = n.Pure
	if n.Sigma > 0 {
		of.Charges = []epsilons.Charge{{Event: privacy.Gaussian{Sigma: n.Sigma, Sensitivity: 1, Unit: s.Unit, Neighbouring: s.Neighbouring}, Count: n.Count}}
	}
	return of, nil
}

const head = "paper: own\nsettings:\n"

const good = head + `  - {setting: one, place: theorem 1, claimed: 1, unit: edge, neighbours: add-remove, delta: 1e-5, written: {sigma: 3.7304, count: 1}, released: {sigma: 1, count: 4, open: true}}
  - {setting: two, unit: user, neighbours: replace, delta: 0, written: {pure: 2}}
  - {setting: three, unit: user, neighbours: replace, delta: 0, written: {open: true}}
`

// The exact value at mu = 1/3.7304 and delta 1e-5 is 1 (Balle and Wang's analytic Gaussian).
func TestRead(t *testing.T) {
	rows, err := epsilons.Read[noise]("own.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	one, two, three := rows[0], rows[1], rows[2]
	if w := one.Written; math.Abs(float64(*w.Exact)-1) > 1e-4 || *w.Lower > *w.Exact || *w.Exact > *w.Upper || *w.Upper-*w.Lower > 1e-3 || w.Whole != *w.Exact {
		t.Errorf("one as written: %+v", w)
	}
	if x := one.Released; !math.IsInf(float64(x.Whole), 1) || *x.Exact <= *one.Written.Exact || x.Upper != nil || len(x.Open) != 1 {
		t.Errorf("one as released: %+v", x)
	}
	if w := two.Written; *w.Exact != 2 || *w.Lower != 2 || *w.Upper != 2 || two.Claimed != nil {
		t.Errorf("two as written: %+v", w)
	}
	if w := three.Written; w.Exact != nil || !math.IsInf(float64(w.Shown()), 1) {
		t.Errorf("three as written: %+v", w)
	}
	for range 3 { // in any order of the workers
		again, err := epsilons.Read[noise]("own.yaml", []byte(good))
		a, _ := json.Marshal(rows)
		b, _ := json.Marshal(again)
		if err != nil || string(a) != string(b) {
			t.Fatalf("read again: %v\n%s\n%s", err, a, b)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"paper: own\nsettings: []\n", "settings: must not be empty"},
		{head + "  - {setting: one, claimed: 1, unit: edge, neighbours: add-remove, delta: 1e-5, written: {pure: 1}}\n", "own.yaml:3:29: settings.0.claimed: needs a place"},
		{head + "  - {setting: one, unit: galaxy, neighbours: add-remove, delta: 1e-5, written: {pure: 1}}\n", `unknown unit "galaxy"`},
		{head + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 2, written: {pure: 1}}\n", "below 1"},
		{head + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 0}\n", "must have a reading"},
		{head + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 0, written: {pur: 1}}\n", "unknown key"},
		{head + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 0, written: {}}\n", "nothing is released and nothing is open"},
		{head + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 0, repaired: {fail: true}}\n", "settings.0, one: repaired: no releases"},
		{head + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 1e-5, written: {pure: 1, sigma: 1, count: 1}}\n", "beside"},
		{good + "  - {setting: one, unit: edge, neighbours: add-remove, delta: 0, written: {pure: 1}}\n", "is there twice"},
	} {
		_, err := epsilons.Read[noise]("own.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\nerror %v, want %q", c.text, err, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	rows, err := epsilons.Read[noise]("own.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		markdown bool
		want     []string
	}{
		{false, []string{"one      edge, add-remove", "[1.0000682, 1.0000683]", "infinity", "unprotected, training labels: they are seen"}},
		{true, []string{"| three | user, replace |", "training labels"}},
	} {
		var b strings.Builder
		if err := (&epsilons.Answer{Rows: rows, Markdown: c.markdown}).Text(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
	if of, err := epsilons.OfUnit(rows, "user"); err != nil || len(of) != 2 {
		t.Errorf("rows of a user: %v, %v", of, err)
	}
	if _, err := epsilons.OfUnit(rows, "interaction"); err == nil || !strings.Contains(err.Error(), "edge, user") {
		t.Errorf("a unit without rows: %v", err)
	}
}
