package evaluation

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/metrics/definition"
)

// folder writes files of these texts and returns the folder.
func folder(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFloors gives popular items to the users: they measure what the floor of popularity does, by every definition.
func TestFloors(t *testing.T) {
	dir := folder(t, map[string]string{
		"recs":  "user,item,rank\na,y,1\na,z,2\nb,x,1\nb,z,2\nc,x,1\n",
		"truth": "user,item\na,z\nb,x\nc,w\n",
		"train": "user,item\na,x\nb,y\nc,y\nd,x\nd,z\ne,x\n", // x 3, y 2, z 1 users
	})
	q := Question{Recs: filepath.Join(dir, "recs"), Truth: filepath.Join(dir, "truth"), Train: filepath.Join(dir, "train"), K: []int{1, 2}}
	for _, q.Definition = range definition.Names() {
		a, err := Ask(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Popularity) != len(a.Result.Values) || len(a.Random) != len(a.Result.Values) {
			t.Errorf("%s: %d metrics, %d and %d floors", q.Definition, len(a.Result.Values), len(a.Popularity), len(a.Random))
		}
		for _, v := range a.Result.Values {
			if v.Value != a.Popularity[v.Name] {
				t.Errorf("%s: %s is %v, of popular items %v", q.Definition, v.Name, v.Value, a.Popularity[v.Name])
			}
		}
	}
}

// TestRandomFloor holds the random floor to its expectation on many users. Of 5,000 users each is drawn 10 items of 40
// ten times; one is relevant. The number of hits is binomial: it is off by 7 standard deviations once in 4e11 runs.
func TestRandomFloor(t *testing.T) {
	const users, items, n = 5000, 40, 10
	in := &definition.Input{Users: make([]definition.User, users), Items: make([]string, items), Train: definition.NewTrain([]int32{0}, []int32{0}, items)}
	for u := range in.Users {
		for i := range n {
			in.Users[u].List = append(in.Users[u].List, definition.Entry{Item: int32(i)})
		}
		in.Users[u].Truth = []definition.Target{{Item: int32(1 + u%(items-1)), Gain: 1}}
	}
	d, err := definition.Of("privrec")
	if err != nil {
		t.Fatal(err)
	}
	own := make([]map[int32]bool, users)
	for u := range own {
		own[u] = map[int32]bool{0: true} // never drawn
	}
	_, random, err := floors(context.Background(), d, in, own, []int{n})
	if err != nil {
		t.Fatal(err)
	}
	p := float64(n) / (items - 1)
	if off := 7 * math.Sqrt(p*(1-p)/(users*draws)); math.Abs(random["Recall@10"]-p) > off {
		t.Errorf("Recall@10 of random items is %v, want %v within %v", random["Recall@10"], p, off)
	}
}

// TestSame answers a question twice with the same bytes, as one JSON document.
func TestSame(t *testing.T) {
	g := conformanceCases(t)[1]
	var was []byte
	for range 2 {
		a, err := g.ask(t, "lenskit")
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if was != nil && !bytes.Equal(was, b) {
			t.Error("a second answer differs")
		}
		was = b
		var text strings.Builder
		if err := a.Text(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"users of the truth have no list", "users have a list and are not in the truth", "lists are shorter than the largest cut-off", "share their score with another", "LensKit divides by zero"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the answer does not say %q", want)
			}
		}
	}
}

// TestRefusals: lists that hold an item twice are refused where a program refuses them, with both lines.
func TestRefusals(t *testing.T) {
	g := conformanceCases(t)[2]
	for _, name := range []string{"privrec", "recbole", "trec_eval"} {
		if _, err := g.ask(t, name); err == nil || !strings.Contains(err.Error(), "repeated.tsv.gz:") || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWarnings: the answer says first what share of the rows is unknown, and that scores rise with the rows where scores
// order the lists.
func TestWarnings(t *testing.T) {
	dir := folder(t, map[string]string{
		"truth":   "user,item\na,z\nb,x\n",
		"train":   "user,item\na,x\nb,y\nc,z\n",
		"unknown": "user,item,rank\na,q,1\na,z,2\nb,r,1\nb,x,2\n",
		"rising":  "user,item,rank,score\na,x,3,1\na,y,2,5\na,z,1,6\nb,x,2,2\nb,y,1,3\n",
	})
	for _, test := range []struct{ recs, definition, want string }{
		{"unknown", "privrec", "warning: 50.0 % of the rows of lists (2 of 4)"},
		{"rising", "privrec", ""},
		{"rising", "trec_eval", "warning: the scores of every list rise with the rows of the file"},
	} {
		a, err := Ask(context.Background(), Question{Recs: filepath.Join(dir, test.recs), Truth: filepath.Join(dir, "truth"), Train: filepath.Join(dir, "train"), K: []int{2}, Definition: test.definition})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(b), "warning"); got != (test.want != "") || !strings.Contains(string(b), test.want) {
			t.Errorf("%s by %s: %s, want %q", test.recs, test.definition, b, test.want)
		}
	}
}
