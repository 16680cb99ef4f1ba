package imported_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"privrec/internal/experiment"
	take "privrec/internal/export"
	"privrec/internal/papers"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/topn"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
	"privrec/internal/vectors"
)

// vectorsOf writes the vectors of a finished run in a form, and returns the settings that import them.
func vectorsOf(t testing.TB, dir string, form vectors.Form) []string {
	t.Helper()
	s, err := take.Open(t.Context(), papers.All(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := filepath.Join(t.TempDir(), string(form))
	e, err := s.Vectors(t.Context(), take.VectorQuestion{Out: out, Form: form})
	if err != nil {
		t.Fatal(err)
	}
	ids := fmt.Sprintf("vectors.ids=[%s, %s]", filepath.Join(out, "users.txt"), filepath.Join(out, "items.txt"))
	switch {
	case form.Single():
		return []string{"vectors.files=[" + e.Files[0] + "]", ids}
	case form == vectors.Parquet:
		ids = "vectors.ids=[]" // the files have them
	}
	return []string{fmt.Sprintf("vectors.files=[%s, %s]", e.Files[0], e.Files[1]), ids}
}

// rowsOf names the training rows and the truth of files.
func rowsOf(e exported) []string { return []string{"rows.train=" + e.train, "rows.truth=" + e.truth} }

// roundTrip exports the vectors of a run in every form and imports them: they measure what the run measures, and the
// imported run exports the same vectors.
func roundTrip(t *testing.T, name string, sets ...string) {
	t.Helper()
	dir, _ := must(t, name, sets...)
	files := export20(t, dir)
	was := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", false)
	var first []float32
	for _, form := range vectors.Forms() {
		got, _ := must(t, "import vectors", append(append(vectorsOf(t, dir, form), rowsOf(files)...), "name="+was.Method)...)
		o := runtest.ReadJSON[imported.Outcome](t, got, "metrics.json", false)
		for m, v := range was.Evaluations[0].Values {
			if now, ok := o.Evaluations[0].Values[m]; ok && now != v && tensorIsNarrow {
				t.Errorf("%s, %s: %s is %v, in the run %v", name, form, m, now, v)
			} else if !ok {
				t.Errorf("%s, %s: no %s", name, form, m)
			}
		}
		m, err := experiment.OpenVectors(got, "", o.Data.Users, o.Data.Items)
		if err != nil {
			t.Fatal(err)
		}
		var all []float32
		for _, v := range append(append([]tensor.Float{}, m.Users.Data...), m.Items.Data...) {
			all = append(all, float32(v))
		}
		if first == nil {
			first = all
		}
		if !reflect.DeepEqual(first, all) {
			t.Errorf("%s, %s: other vectors than in the first form", name, form)
		}
		if again := vectorsOf(t, got, form); len(again) != 2 {
			t.Errorf("%s: exported again: %v", form, again)
		}
	}
}

// tensorIsNarrow says that vectors are computed in the 32 bits that files have.
var tensorIsNarrow = reflect.TypeFor[tensor.Float]().Size() == 4

// export20 is export, with lists of 20.
func export20(t testing.TB, dir string) exported {
	t.Helper()
	return export(t, dir, 20)
}

func TestVectorsRoundTrip(t *testing.T) {
	for _, name := range []string{"train bprmf", "train lightgcn"} {
		roundTrip(t, name, "data.name=standin-tiny", "model.dim=8", "train.epochs=3", "eval.k=[5, 10, 20]")
	}
}

// tiny writes files of two users and three items, and returns settings that import them.
func tiny(t testing.TB, other map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	npy := func(rows, cols int, data ...tensor.Float) string {
		var b strings.Builder
		if err := vectors.Write(&b, vectors.NPY, nil, vectors.Table{Rows: tensor.From(rows, cols, data)}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	files := map[string]string{
		"users.npy": npy(2, 2, 3, 0, 1, 1), "items.npy": npy(3, 2, 1, 1, 2, 9, 3, 0),
		"users.txt": "a\nb\n", "items.txt": "x\ny\nz\n", "train.tsv": "user_id\titem_id\na\tx\nb\tz\n", "truth.tsv": "user_id\titem_id\na\tz\nb\ty\n",
		"bias.npy": npy(3, 1, 0, 100, 0), "wide.npy": npy(3, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9), "big.npy": npy(2, 2, 1e30, 1e30, 1, 1),
		"bigitems.npy": npy(3, 2, 1e30, 0, 1, 1, 1, 1),
	}
	for name, text := range other {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	return []string{"vectors.files=[" + at("users.npy") + ", " + at("items.npy") + "]", "vectors.ids=[" + at("users.txt") + ", " + at("items.txt") + "]",
		"rows.train=" + at("train.tsv"), "rows.truth=" + at("truth.tsv"), "k=[1]"}
}

// in returns the folder of small files.
func in(sets []string) string { return filepath.Dir(strings.TrimPrefix(sets[2], "rows.train=")) }

// best returns the item that a run of small files ranks first for a user.
func best(t testing.TB, dir, user string) experiment.Scored {
	t.Helper()
	a, err := experiment.Ask(t.Context(), papers.All(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := a.Recommend(t.Context(), experiment.Question{Users: []string{user}, K: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r.Lists[0].Items[0]
}

// TestScores ranks by inner products, cosines and biases. User a is (3, 0), with item x in train; of the items y is
// (2, 9) and z is (3, 0).
func TestScores(t *testing.T) {
	sets := tiny(t, nil)
	bias := "vectors.biases=[" + filepath.Join(in(sets), "bias.npy") + "]"
	for _, test := range []struct {
		set  string
		want experiment.Scored
	}{
		{"vectors.score=inner", experiment.Scored{Item: "z", Score: 9}},
		{"vectors.score=cosine", experiment.Scored{Item: "z", Score: 1}},
		{bias, experiment.Scored{Item: "y", Score: 106}},
	} {
		dir, _ := must(t, "import vectors", append(sets, test.set)...)
		if got := best(t, dir, "a"); got != test.want {
			t.Errorf("%s: %v, want %v", test.set, got, test.want)
		}
	}
}

// TestVectorsRefused says what does not belong together.
func TestVectorsRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		sets  []string
		want  string
	}{
		{"no ids", nil, []string{"vectors.ids=[]"}, "which user a row is of is not said"},
		{"too few ids", map[string]string{"users.txt": "a\n"}, nil, "1 ids, and"},
		{"ids of another kind", map[string]string{"users.txt": "1\n2\n"}, nil, `2 of the 2 users of the training rows have no vector, such as "b"; a row here is of "1"`},
		{"an item is missing", map[string]string{"items.txt": "x\ny\nq\n"}, nil, `1 of the 2 items of the training rows have no vector, such as "z"`},
		{"widths", nil, []string{"vectors.files=[IN/users.npy, IN/wide.npy]"}, "items have 3 numbers each, and users 2"},
		{"one file of one array", nil, []string{"vectors.files=[IN/users.npy]"}, "one array in the file, and 2 are wanted"},
		{"products", nil, []string{"vectors.files=[IN/big.npy, IN/bigitems.npy]"}, "too large for 32 bits"},
		{"no file", nil, []string{"vectors.files=[]"}, "no file of vectors is named"},
		{"three files", nil, []string{"vectors.files=[a, b, c]"}, "must be at most 2"},
		{"both", nil, []string{"vectors.row_numbers=true"}, "is not read where files of ids are named"},
		{"biases", nil, []string{"vectors.biases=[IN/users.npy]"}, "want (rows,): a number for each row"},
		{"a score", nil, []string{"vectors.score=dot"}, "vectors.score"},
		{"non-members", map[string]string{"others.tsv": "user_id\titem_id\nc\tx\n"}, []string{"rows.non_members=IN/others.tsv"}, `1 of the 1 users of the rows of non-members have no vector, such as "c"`},
	} {
		sets := tiny(t, test.files)
		for _, s := range test.sets {
			sets = append(sets, strings.ReplaceAll(s, "IN", in(sets)))
		}
		if _, _, err := start(t, "import vectors", sets...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestTruthWithoutVectors counts users and items of the truth without a vector as not found.
func TestTruthWithoutVectors(t *testing.T) {
	dir, text := must(t, "import vectors", tiny(t, map[string]string{"truth.tsv": "user_id\titem_id\na\tz\na\tq\nc\tx\n"})...)
	o := runtest.ReadJSON[imported.Outcome](t, dir, "metrics.json", false)
	if v := o.Evaluations[0].Values["Recall@1"]; v != 0.25 { // half of user a's items, none of user c's
		t.Errorf("recall %v", v)
	}
	if !strings.Contains(text, "1 items of the truth have no vector") {
		t.Error(text)
	}
	a, err := experiment.Ask(t.Context(), papers.All(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Recommend(t.Context(), experiment.Question{Users: []string{"c"}, K: 1}); err == nil || !strings.Contains(err.Error(), `has no user "c" with a vector`) {
		t.Error(err)
	}
	e, err := a.Evaluate(t.Context())
	if err != nil || e.Differs != 0 {
		t.Errorf("differs by %v (%v)", e.Differs, err)
	}
}
