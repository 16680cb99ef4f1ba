package lint

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/configs"
	"privrec/internal/printed"
)

var update = flag.Bool("update", false, "rewrite the lists of findings in testdata")

// builtIn returns what all rules find in the transcriptions that come with the program.
func builtIn(t *testing.T) Report {
	t.Helper()
	files, err := printed.Load(configs.Files())
	if err != nil {
		t.Fatal(err)
	}
	return Check(files, nil)
}

// TestFindings holds the findings about the five papers to the list that was read and checked.
func TestFindings(t *testing.T) { matches(t, builtIn(t), "testdata/findings.txt") }

// TestOutside holds the findings about two other tables to a list that was read and checked: that RecBole's leaderboard
// is no mean over as many users as it states, and that a private network is not better than one without noise.
func TestOutside(t *testing.T) {
	var files []*printed.File
	for _, name := range []string{"gdp", "recbole"} {
		f, err := printed.Open("testdata/outside/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	matches(t, Check(files, nil), "testdata/outside/findings.txt")
	text, err := os.ReadFile("testdata/outside/recbole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := printed.Parse("recbole.yaml", bytes.Replace(text, []byte("ML-1M: 6040"), []byte("ML-1M: 6033"), 1))
	if err != nil {
		t.Fatal(err)
	}
	if found := Check([]*printed.File{f}, nil).Findings; len(found) > 0 {
		t.Errorf("with the users that the data have: %+v", found)
	}
}

// matches demands that a file holds the lines of a report.
func matches(t *testing.T, r Report, name string) {
	t.Helper()
	var got bytes.Buffer
	if err := r.Text(&got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("other findings; if that is meant, -update and read them:\n%s", diff)
	}
}

// TestKnownErrors wants the errors of the papers that are known from elsewhere, and nothing in
// the reference results.
func TestKnownErrors(t *testing.T) {
	r := builtIn(t)
	for _, want := range []struct{ rule, paper, place, text string }{
		{"conflict", "rdpgcf", "Table 2, Gowalla, RDP-GCF", "0.1512 in Table 2, 0.1469 in Table 3 and Table 4"},
		{"conflict", "rdpgcf", "Table 2, Yelp, RDP-GCF", "0.0505 in Table 2, 0.0512 in Table 3 and Table 4"},
		{"copied", "rdpgcf", "Table 2, NGCF", "NGCF-3 of ngcf-paper-table"},
		{"copied", "rdpgcf", "Table 2, BPRMF", "MF (BPR) of ngcf-paper-table"},
		{"mixed-columns", "dipsgnn", "Table 1", "on ML-1M they give 571136, and 365535 are printed"},
		{"p-value", "dipsgnn", "Table 2", "cannot go below 0.0625 two-sided"},
	} {
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool {
			return f.Rule == want.rule && f.Paper == want.paper && f.Place == want.place && strings.Contains(f.Text, want.text)
		}) {
			t.Errorf("not found: %+v", want)
		}
	}
	for _, f := range r.Findings {
		if f.Paper == printed.Reference {
			t.Errorf("in the reference results: %+v", f)
		}
		if f.Line == 0 || f.File == "" || len(f.Evidence) == 0 || f.Severity == "" {
			t.Errorf("without a line, a file, a severity or evidence: %+v", f)
		}
	}
}

// A finding survives the way through JSON, with its rule.
func TestJSON(t *testing.T) {
	r := builtIn(t)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Findings, back.Findings); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{}
	for _, rule := range back.Rules {
		if ids[rule.ID] || rule.About == "" {
			t.Errorf("rule %q is there twice or says nothing", rule.ID)
		}
		ids[rule.ID] = true
	}
	for _, f := range back.Findings {
		if !ids[f.Rule] {
			t.Errorf("no rule %q", f.Rule)
		}
	}
	var empty bytes.Buffer
	if err := json.NewEncoder(&empty).Encode(Check(nil, nil)); err != nil || !strings.Contains(empty.String(), `"findings":[]`) {
		t.Errorf("no findings: %v, %s", err, empty.String())
	}
}
