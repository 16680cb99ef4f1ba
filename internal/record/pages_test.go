package record

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages of docs that are filled from records")

// sources are the pages that are filled: by path from the root, their source in docs/src.
func sources(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	top := root + "docs/src"
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		rel, ok := strings.CutSuffix(filepath.ToSlash(rel), ".tmpl")
		if !ok {
			return fmt.Errorf("%s is no .tmpl", path)
		}
		if b, err := os.ReadFile(path); err != nil {
			return err
		} else if rest, ok := strings.CutPrefix(rel, "root/"); ok {
			out[rest] = string(b)
		} else {
			out["docs/"+rel] = string(b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// recordFiles reads all files of a folder, by name without extension.
func recordFiles(dir string) (map[string]*File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("read records: %s has none", dir)
	}
	out := map[string]*File{}
	for _, p := range paths {
		f, err := Read(p)
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(filepath.Base(p), ".json")] = f
	}
	return out, nil
}

func load(t *testing.T) *filler {
	t.Helper()
	all, err := recordFiles(root + "docs/results/records")
	if err != nil {
		t.Fatal(err)
	}
	return &filler{records: all, printed: printedNumbers(t), used: map[string]bool{}}
}

// Every page with numbers of ours is what its source and the records make of it, every record
// is used, and no number with a decimal point is typed but those that typed names.
func TestPages(t *testing.T) {
	f := load(t)
	all := sources(t)
	for _, path := range keys(all) {
		p, err := f.fill("docs/src, of "+path, all[path])
		if err != nil {
			t.Error(err)
			continue
		}
		if *update {
			if err := os.WriteFile(root+path, []byte(p.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(root + path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, d := range p.differences(path, string(got)) {
			t.Errorf("%s (make docs writes it)", d)
		}
		for _, d := range p.byHand(path, typed[path]) {
			t.Error(d)
		}
	}
	for _, d := range f.unused() {
		t.Error(d)
	}
	for path := range typed {
		if _, ok := all[path]; !ok {
			t.Errorf("typed names %s, which has no source", path)
		}
	}
	pages, err := filepath.Glob(root + "docs/results/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages of results: %v", err)
	}
	for _, p := range pages {
		path := "docs/results/" + filepath.Base(p)
		if path == "docs/results/index.md" { // the program writes it, from kept runs
			continue
		}
		if all[path] == "" {
			t.Errorf("%s has no source in docs/src: numbers come from records", path)
		}
	}
	t.Log(f.count())
}

// unused names records that no page shows.
func (f *filler) unused() (out []string) {
	for _, file := range keys(f.records) {
		for _, r := range f.records[file].Records {
			if !f.used[file+"/"+r.Name] {
				out = append(out, fmt.Sprintf("docs/results/records/%s.json: no page uses record %s", file, r.Name))
			}
		}
	}
	return out
}

// count says how many records of each kind there are.
func (f *filler) count() string {
	kinds, runs := map[string]int{}, 0
	for _, file := range f.records {
		for _, r := range file.Records {
			kinds[r.Kind()]++
			runs += len(r.Runs)
		}
	}
	return fmt.Sprintf("records of runs: %d (%d runs), measured: %d", kinds["runs"], runs, kinds["measured"])
}

var (
	codeSpan = regexp.MustCompile("`[^`\n]*(\n[^`\n]+)?`")
	target   = regexp.MustCompile(`\]\([^()\s]+\)|(?:src|href)="[^"]*"`)
	decimal  = regexp.MustCompile(`[0-9][0-9,]*\.[0-9]+(?:\.[0-9]+)*`)
)

// byHand finds numbers with a decimal point that were typed: outside of code, of the targets of
// links and of what was filled. allowed has those that may be, each with a reason.
func (p *filled) byHand(path string, allowed map[string]string) (out []string) {
	b := []byte(p.text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if b[i] != '\n' {
				b[i] = '_'
			}
		}
	}
	for _, s := range p.spans {
		blank(s.from, s.to)
	}
	fenced, at := false, 0
	for _, line := range strings.SplitAfter(p.text, "\n") {
		fence := strings.HasPrefix(line, "```")
		if fenced || fence || strings.HasPrefix(line, "    ") {
			blank(at, at+len(line))
		}
		fenced = fenced != fence
		at += len(line)
	}
	for _, find := range []*regexp.Regexp{codeSpan, target} {
		for _, m := range find.FindAllIndex(b, -1) {
			blank(m[0], m[1])
		}
	}
	met := map[string]bool{}
	for i, line := range strings.Split(string(b), "\n") {
		for _, n := range decimal.FindAllString(line, -1) {
			if met[n] = true; allowed[n] == "" {
				out = append(out, fmt.Sprintf("%s:%d: %s is typed by hand: fill it from a record, or say in typed_test.go why it may be", path, i+1, n))
			}
		}
	}
	for n := range allowed {
		if !met[n] {
			out = append(out, fmt.Sprintf("typed_test.go: %s has no typed %s", path, n))
		}
	}
	slices.Sort(out)
	return out
}

// The records are small, and as Write writes them, so that a change of one is a changed line.
func TestRecordFiles(t *testing.T) {
	const limit = 650_000 // bytes of all together
	paths, err := filepath.Glob(root + "docs/results/records/*.json")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, path := range paths {
		f, err := Read(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if f.About == "" {
			t.Errorf("%s: about does not say what they are records of", path)
		}
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "x.json")
		if *update {
			out = path
		}
		if err := f.Write(out); err != nil {
			t.Error(err)
			continue
		}
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if !*update && !bytes.Equal(want, was) {
			t.Errorf("%s is not as the program writes it (make docs)", path)
		}
		total += len(want)
	}
	if total > limit {
		t.Errorf("the records have %d bytes, want at most %d: "+
			"privrec report record --only and --metrics keep what pages print", total, limit)
	}
}
