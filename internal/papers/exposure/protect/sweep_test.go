package protect

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
)

// figureGrid lists the 36 settings of figures 8 to 13, with all three replacements in every
// figure, at the ratios of the released program.
func figureGrid() []Setting {
	return Grid(Selections(), []string{ReplaceUniform, ReplacePopularity, ReplaceInBatch}, []float64{0.2, 0.4, 0.6, 0.8}, nil)
}

// The 36 settings of the figures: every selection with every replacement at every ratio,
// once.
func TestFigureGrid(t *testing.T) {
	seen := map[Setting]bool{}
	curves := map[string]int{}
	for _, s := range figureGrid() {
		seen[s] = true
		curves[s.Mechanism()]++
	}
	if len(seen) != 36 || len(curves) != 9 {
		t.Errorf("%d settings of %d mechanisms, want 36 of 9", len(seen), len(curves))
	}
	list := Grid([]string{SelectRandom}, []string{ReplaceUniform}, []float64{0.1}, []float64{3})
	want := []Setting{{Select: SelectRandom, Replace: ReplaceUniform, Ratio: 0.1}, {Replace: ReplaceRR, Epsilon: 3}}
	if !slices.Equal(list, want) || list[0].String() != "random, uniform, ratio 0.1" || list[1].String() != "rr, epsilon 3" || (Setting{}).String() != "as they are" {
		t.Errorf("grid %v", list)
	}
}

// A sweep gives its measure the slates as they are first, then every setting in
// order with what Slates makes of it, and lets training pairs be protected alike by
// other draws.
func TestSweep(t *testing.T) {
	set := logged(60, 90, 10, 5, 1)
	set.Train = set.Test
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Method: Method{Select: "nonsense", Ratio: 7}, Pool: pool(t, set), Seed: 2, Vectors: directions(90), Ledger: l, Part: "test"}
	settings := Grid(Selections(), []string{ReplacePopularity}, []float64{0, 0.3}, []float64{4})
	var came []Setting
	points, err := Sweep(context.Background(), set, set.Test, settings, o, func(_ context.Context, p Protected) (map[string]float64, error) {
		came = append(came, p.Setting)
		train, err := p.Protect(context.Background(), "train", set.Train)
		if err != nil {
			return nil, err
		}
		if p.Clean() != slices.Equal(p.Pairs.Slates, set.Test.Slates) || p.Clean() != slices.Equal(train.Slates, p.Pairs.Slates) {
			t.Errorf("%s: slates as they were, or the training slates by the same draws", p)
		}
		if p.Replace != ReplaceRR && !p.Clean() {
			x := o
			x.Select, x.Replace, x.Ratio = p.Select, p.Replace, p.Ratio
			alone, _, err := Slates(context.Background(), set.Test, x)
			if err != nil || !slices.Equal(alone.Slates, p.Pairs.Slates) {
				t.Errorf("%s: other slates than of protect.Slates (%v)", p, err)
			}
		}
		return map[string]float64{"recall": p.Accuracy / 2}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := append([]Setting{{}}, settings...); !slices.Equal(came, want) || len(points) != len(want) {
		t.Errorf("came %v, want %v", came, want)
	}
	for i, p := range points {
		if p.Values["recall"] != p.Accuracy/2 || p.Setting != came[i] {
			t.Errorf("point %+v", p)
		}
	}
	if n := len(l.Entries()); n != 2 { // test and training slates under rr
		t.Errorf("%d ledger entries, want 2", n)
	}
	boom := errors.New("boom")
	if _, err := Sweep(context.Background(), set, set.Test, settings, o, func(context.Context, Protected) (map[string]float64, error) { return nil, boom }); !errors.Is(err, boom) || !strings.HasPrefix(err.Error(), "as they are: ") {
		t.Errorf("measure failed with %v", err)
	}
	if _, err := Sweep(context.Background(), set, set.Test, []Setting{{Select: "best", Replace: ReplaceUniform, Ratio: 0.2}}, o, nil); err == nil || !strings.Contains(err.Error(), `best, uniform, ratio 0.2: protect slates: select is "best"`) {
		t.Errorf("an unknown selection: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sweep(ctx, set, set.Test, settings, o, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// A value at a given accuracy lies on the line between the neighbouring points, and is
// not made up beyond them.
func TestAtEqualAccuracy(t *testing.T) {
	point := func(how string, ratio, accuracy, recall float64) Point {
		return Point{Setting: Setting{Select: how, Replace: ReplaceUniform, Ratio: ratio}, Accuracy: accuracy, Values: map[string]float64{"recall": recall}}
	}
	clean := Point{Accuracy: 0.4, Values: map[string]float64{"recall": 0.2}}
	curves := Curves([]Point{clean, point(SelectRandom, 0.5, 0.2, 0.1), point(SelectSimilar, 0.5, 0.1, 0.05), point(SelectRandom, 0.25, 0.3, 0.16)})
	if len(curves) != 2 || curves[0].Mechanism != "random, uniform" || len(curves[0].Points) != 3 || curves[1].Points[1].Accuracy != 0.4 {
		t.Fatalf("curves %+v", curves)
	}
	for _, c := range []struct {
		curve    int
		accuracy float64
		want     float64 // NaN: not known
	}{{0, 0.2, 0.1}, {0, 0.3, 0.16}, {0, 0.25, 0.13}, {0, 0.22, 0.112}, {0, 0.4, 0.2}, {0, 0.35, 0.18}, {0, 0.19, math.NaN()}, {0, 0.41, math.NaN()}, {1, 0.25, 0.125}, {1, math.NaN(), math.NaN()}} {
		got, known := curves[c.curve].At("recall", c.accuracy)
		if known == math.IsNaN(c.want) || known && math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s at %g: %g (%v), want %g", curves[c.curve].Mechanism, c.accuracy, got, known, c.want)
		}
	}
	if _, known := curves[0].At("ndcg", 0.3); known {
		t.Error("a value that no point has")
	}
	if _, known := (Curve{}).At("recall", 0.3); known {
		t.Error("a value of a curve without points")
	}
	if list := Curves([]Point{clean}); len(list) != 0 {
		t.Errorf("curves %+v of the clean point", list)
	}
}
