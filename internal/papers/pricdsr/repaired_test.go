package pricdsr

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/protocol/crossdomain"
	"privrec/internal/run"
)

// A run under each repaired mechanism claims and accounts for its unit what the mechanism's epsilon
// says, in its account and in its ledger alike.
func TestRepairedRuns(t *testing.T) {
	for _, c := range []struct {
		mechanism, unit string
		ledger          privacy.Unit
		sets            []string
		units           map[string]float64
	}{
		{"sdp-lengths", unitOrder, privacy.Cell, nil, map[string]float64{unitCell: 6, unitOrder: 6, unitUser: 6 * 14}},
		{"set", unitInteraction, privacy.Interaction, nil, map[string]float64{unitInteraction: 6, unitUser: 6 * 14}},
		{"sdp-user", unitUser, privacy.User, []string{"auxiliary.columns=3"}, map[string]float64{unitUser: 6, unitCell: 2, unitOrder: 2}},
		{"sdp-user", unitUser, privacy.User, nil, map[string]float64{unitUser: 6, unitCell: 6. / 14, unitOrder: 6. / 14}},
	} {
		dir := t.TempDir()
		text := start(t, "pricdsr", dir, append(c.sets, "auxiliary.epsilon=6", "auxiliary.mechanism="+c.mechanism, "train.refit=false", "eval.full=false", "auxiliary.items=300")...)
		o, a := result[crossdomain.Outcome](t, dir, "metrics.json"), result[Account](t, dir, "privacy.json")
		if a.Claimed == nil || a.Claimed.Unit != c.unit || a.Claimed.Eps != 6 || a.Catalogue != 300 || o.Method != "PriCDSR-DASL" {
			t.Errorf("%s: claimed %+v of a catalogue of %d, %s", c.mechanism, a.Claimed, a.Catalogue, o.Method)
		}
		for _, u := range a.Units {
			if math.Abs(float64(u.Total)-c.units[u.Unit]) > 1e-12 {
				t.Errorf("%s: %s is %v, want %v", c.mechanism, u.Unit, u.Total, c.units[u.Unit])
			}
		}
		if len(a.Units) != len(c.units) || len(a.Public) == 0 || strings.Contains(fmt.Sprint(a.Unbounded), "catalogue") {
			t.Errorf("%s: %+v", c.mechanism, a.Units)
		}
		for _, want := range []string{"how rows were filtered", "check sums", "the catalogue is stated, 1 to 300"} {
			if !strings.Contains(a.PublicText(), want) || !strings.Contains(text, want) {
				t.Errorf("%s does not take as public: %s, but %s; printed\n%s", c.mechanism, want, a.PublicText(), text)
			}
		}
		if !strings.Contains(text, "claimed epsilon") || strings.Contains(text, "the paper's composition") {
			t.Errorf("%s: printed\n%s", c.mechanism, text)
		}
		ledger := read(t, filepath.Join(dir, run.LedgerName))
		if want := fmt.Sprintf(`"event":{"kind":"pure-ldp","epsilon":6,"unit":"%s"}`, c.ledger); strings.Count(ledger, "pure-ldp") != 1 || !strings.Contains(ledger, want) {
			t.Errorf("%s: the ledger has no %s:\n%s", c.mechanism, want, ledger)
		}
	}
}

// What belongs to other mechanisms, or does not fit the data, is refused.
func TestRepairedRefusals(t *testing.T) {
	for want, sets := range map[string][]string{
		"auxiliary.columns": {"auxiliary.columns=2"},
		"catalogue of 5":    {"auxiliary.items=5"},
		"in 0..12":          {"auxiliary.mechanism=sdp-user", "auxiliary.columns=13"},
	} {
		if err := try(t.Context(), t, "pricdsr", t.TempDir(), append(sets, "auxiliary.epsilon=6"), run.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", sets, err, want)
		}
	}
}

// sdp-user with columns releases the last items of a row and nothing of those before: at an infinite
// epsilon they are seen, one column to the front, and no other.
func TestColumns(t *testing.T) {
	rows := func(a AuxiliaryConfig) (tuning, final []int32) {
		x := prepared(t, func(c *Config) { c.Auxiliary = a })
		tune, last := x.Rows()
		return tune.Cells[1], last.Cells[1]
	}
	_, all := rows(AuxiliaryConfig{Kind: AuxiliaryReal})
	tuning, final := rows(AuxiliaryConfig{Kind: AuxiliaryPerturbed, Mechanism: string(sequence.SDPUser), Epsilon: math.Inf(1), Columns: 2})
	const cols = 13
	for u := 0; u < len(all); u += cols {
		whole, fin, tun := all[u:u+cols], final[u:u+cols], tuning[u:u+cols]
		if !slices.Equal(fin[cols-3:cols-1], whole[cols-2:]) || fin[cols-1] != 0 || slices.Max(fin[:cols-3]) != 0 {
			t.Fatalf("of %v the rows of all items have %v", whole, fin)
		}
		if !slices.Equal(tun[cols-2:], whole[cols-2:]) || slices.Max(tun[:cols-2]) != 0 {
			t.Fatalf("of %v the tuning rows have %v", whole, tun)
		}
	}
}

// The notes say what is left of rows, and of an epsilon that is far off what comes of it.
func TestRepairedWords(t *testing.T) {
	for _, c := range []struct {
		m    sequence.Mechanism
		want []string
	}{
		{sequence.Mechanism{Variant: sequence.Set, Epsilon: 10, Items: 11_735, Length: 51}, []string{"half of a row's items", "0.533 other items"}},
		{sequence.Mechanism{Variant: sequence.Set, Epsilon: 1, Items: 11_735, Length: 51}, []string{"3.16e+03 others, the output is pure noise"}},
		{sequence.Mechanism{Variant: sequence.SDPUser, Epsilon: 10, Items: 11_735, Length: 5}, []string{"the last 5 cells", "a cell's epsilon 2 is far below ln m"}},
	} {
		got := expectation(c.m) + "\n" + Warning(c.m)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: %q lacks %q", c.m, got, want)
			}
		}
	}
	if m := (sequence.Mechanism{Variant: sequence.SDPUser, Items: 59, Length: 2}); math.Abs(halfKept(m)-2*math.Log(60)) > 1e-12 {
		t.Errorf("half kept at %v", halfKept(m))
	}
}

// What perturbing a file says of itself: the guarantee of the mechanism, and counts that agree with
// its law. Each difference is below 6.6 standard deviations, which one of 10^10 exceeds.
func TestRepairedFiles(t *testing.T) {
	list := someHistories(2000, 60, 12, 5)
	for v, want := range map[sequence.Variant]string{
		sequence.SDPLengths: "a user's row replaced by one of as many items",
		sequence.Set:        "an interaction of a user added, removed, replaced or moved",
		sequence.SDPUser:    "a user's row replaced",
	} {
		o := options()
		o.Variant = v
		_, r := perturbed(t, o, "in.tsv", table(list))
		var text strings.Builder
		if err := r.Document().Text(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) || !strings.Contains(text.String(), "taken as public") {
			t.Errorf("%s: printed\n%s", v, text.String())
		}
		x := r.Retained
		if d := (float64(x.Kept) - x.Mean) / math.Sqrt(x.Variance); !(math.Abs(d) < 6.6) || x.Cells == 0 {
			t.Errorf("%s: %d of %d cells kept, %.1f standard deviations from %.1f", v, x.Kept, x.Cells, d, x.Mean)
		}
		if v == sequence.Set {
			if x.Cells != r.Items() {
				t.Errorf("%d cells, of %d items", x.Cells, r.Items())
			}
			continue
		}
		mean, sd := r.expected(r.Mechanism)
		if d := (float64(r.InPlace) - mean) / sd; !(math.Abs(d) < 6.6) {
			t.Errorf("%s: %d items in their column, %.1f standard deviations from %.1f", v, r.InPlace, d, mean)
		}
	}
}

// The forecast of a set says what it is made of, and that of sdp-user has epsilons of a row.
func TestRepairedForecasts(t *testing.T) {
	m := sequence.Mechanism{Variant: sequence.Set, Items: 11_735, Length: 5}
	d := Forecast(m, []float64{10})
	if row := d.Tables[0].Rows[0]; math.Abs(row[2].(float64)-0.5324) > 1e-3 || math.Abs(row[3].(float64)-2.5/(2.5+0.5324)) > 1e-3 || row[4] != 50.0 {
		t.Errorf("%v", row)
	}
	m.Variant = sequence.SDPUser
	list := Epsilons(m)
	if d := Forecast(m, list); list[0] != 20 || d.Tables[0].Rows[0][7] != 20.0 || !strings.Contains(d.Notes[2], "one part in 5") {
		t.Errorf("%v, %v, %v", list, d.Tables[0].Rows[0], d.Notes)
	}
}
