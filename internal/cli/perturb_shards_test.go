package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/perturb"
)

// filesOf returns the files of a folder by name, but those of shards.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range left {
		if e.IsDir() || strings.Contains(e.Name(), ".shard-") {
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Shards that are joined are the command without shards, byte for byte: tables, ledger and reports,
// in every form, packed or not, with every mechanism.
func TestPerturbShards(t *testing.T) {
	root, err := filepath.Abs(frozenPerturbed)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("in", os.DirFS(filepath.Join(root, "in"))); err != nil {
		t.Fatal(err)
	}
	var many strings.Builder // more than one block of every shard, of ids that are not numbers, not in their order
	many.WriteString("user_id\tslate_id\tposition\titem_id\n")
	histories := strings.Builder{}
	for u := range 1200 {
		fmt.Fprintf(&histories, "u%d", (u*7)%1201)
		for i := range u % 9 {
			fmt.Fprintf(&histories, " %d", 1+(u*i+i)%12)
		}
		histories.WriteString("\n")
		for i := range 4 {
			fmt.Fprintf(&many, "u%d\ts%d\t%d\t%d\n", u/3, u%3, i+1, 1+(u+i)%16)
		}
	}
	for name, text := range map[string]string{"in/many.txt": histories.String(), "in/many.tsv": many.String()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	settings := maps.Clone(perturbSettings)
	settings["pricdsr"] = append(slices.Clone(settings["pricdsr"]),
		"--in in/many.txt --out o.tsv.gz --epsilon 1 --items 12 --length 8", "--in in/many.txt --out o.csv.zst --epsilon 1 --items 12 --length 8 --keep-order --mechanism set")
	settings["exposure"] = append(slices.Clone(settings["exposure"]),
		"--in in/many.tsv --out o.tsv.gz --replace rr --epsilon 2 --items 16", "--in in/many.tsv --out o.csv.zst --ratio 0.5 --replace in-batch --batch 300")
	joined := 0
	for kind, lines := range settings {
		for i, line := range lines {
			args := append(strings.Fields(line), "--seed", "7", "--workers", "2")
			app := &App{Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}
			whole, parts := fmt.Sprintf("%s-%d", kind, i), fmt.Sprintf("%s-%d-parts", kind, i)
			for _, dir := range []string{whole, parts} {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			at := slices.Index(args, "--out") + 1
			name := args[at]
			args[at] = filepath.Join(whole, name)
			if app.Execute(context.Background(), append([]string{"perturb", kind, "--quiet"}, args...)) != 0 {
				continue // a refusal; shards refuse it too
			}
			args[at] = filepath.Join(parts, name)
			const n = 3
			for s := range n {
				perturbed(t, kind, append(args, "--shard", fmt.Sprintf("%d/%d", s+1, n))...)
			}
			merge := []string{"--out", filepath.Join(parts, name)}
			if k := slices.Index(args, "--ledger-key"); k >= 0 {
				merge = append(merge, args[k:k+2]...)
			}
			perturbed(t, "merge", merge...)
			want, got := filesOf(t, whole), filesOf(t, parts)
			if !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) {
				t.Errorf("%s %s: %v", kind, line, slices.Sorted(maps.Keys(got)))
			}
			for f, b := range want {
				if !bytes.Equal(b, got[f]) {
					t.Errorf("%s %s: %s of shards is\n%.2000q\nwant\n%.2000q", kind, line, f, got[f], b)
				}
			}
			joined++
		}
	}
	if joined < 22 {
		t.Errorf("only %d settings were joined", joined)
	}
}

// Shards that are not all there, not of one job or not as they were written are refused, with what is
// wrong, and nothing is written. With secure noise there is no seed, and every user comes out once.
func TestPerturbMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	for u := range 40 {
		fmt.Fprintf(&text, "%d %d %d\n", u, 1+u%12, 1+(u+3)%12)
	}
	for name, s := range map[string]string{"a.txt": text.String(), "b.txt": text.String() + "77 1\n"} {
		if err := os.WriteFile(in(name), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shard := func(out, part, from, epsilon string, more ...string) {
		t.Helper()
		perturbed(t, "pricdsr", append([]string{"--in", in(from), "--out", in(out), "--items", "12", "--length", "4", "--epsilon", epsilon, "--shard", part}, more...)...)
	}
	refused := func(want string, args ...string) {
		t.Helper()
		var errs bytes.Buffer
		app := &App{Stdout: new(bytes.Buffer), Stderr: &errs}
		if code := app.Execute(context.Background(), append([]string{"perturb"}, args...)); code == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: exit code %d, %s, want %q", args, code, errs.String(), want)
		}
		if _, err := os.Stat(in("o.tsv")); err == nil {
			t.Errorf("%v: the output is there", args)
		}
	}
	merge := []string{"merge", "--out", in("o.tsv"), "--quiet"}
	seed := []string{"--seed", "3"}
	refused("no shard of o.tsv", merge...)
	shard("o.tsv", "1/3", "a.txt", "2", seed...)
	refused("has no shard 2, 3", merge...)
	shard("o.tsv", "3/3", "a.txt", "2", seed...)
	for _, c := range []struct {
		from, epsilon, want string
		more                []string
	}{
		{"b.txt", "2", "differ in the input", seed},
		{"a.txt", "3", "differ in epsilon", seed},
		{"a.txt", "2", "differ in the seed", []string{"--seed", "4"}},
		{"a.txt", "2", "differ in the kind of noise", []string{"--secure"}},
		{"a.txt", "2", "differ in the order of the output", append([]string{"--keep-order"}, seed...)},
		{"a.txt", "2", "differ in purpose", append([]string{"--purpose", "other"}, seed...)},
	} {
		shard("o.tsv", "2/3", c.from, c.epsilon, append(c.more, "--force")...)
		refused(c.want, merge...)
	}
	shard("o.tsv", "2/3", "a.txt", "2", append([]string{"--force"}, seed...)...)
	for _, name := range []string{"o.shard-2-of-3.tsv", "o.shard-2-of-3.index", "o.shard-2-of-3.empty.tsv"} {
		good, err := os.ReadFile(in(name))
		if err != nil {
			t.Fatal(err)
		}
		longer, turned, cut := append(slices.Clone(good), '\n'), append(slices.Clone(good[:len(good)-1]), good[len(good)-1]^1), good[:len(good)-1]
		for _, b := range [][]byte{longer, turned, cut} {
			if err := os.WriteFile(in(name), b, 0o644); err != nil {
				t.Fatal(err)
			}
			refused("is not as the shard wrote it", merge...)
		}
		if err := os.WriteFile(in(name), good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A shard under the name of another one: there are two of it, or one of another.
	for _, c := range []struct {
		name  string
		shard int
		want  string
	}{{"o.shard-01-of-3.part.json", 1, "shard 1 of 3 of o.tsv is there twice"}, {"o.shard-2-of-3.part.json", 2, "a record of it is in another shard too"}} {
		was, wasErr := os.ReadFile(in(c.name))
		p, err := perturb.ReadPart(in("o.shard-1-of-3.part.json"))
		if err != nil {
			t.Fatal(err)
		}
		p.Shard = c.shard
		var b bytes.Buffer
		if err := errors.Join(p.Write(&b), os.WriteFile(in(c.name), b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		refused(c.want, merge...)
		if err := os.Remove(in(c.name)); err != nil {
			t.Fatal(err)
		}
		if wasErr == nil {
			if err := os.WriteFile(in(c.name), was, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Settings that were changed by hand, in every shard alike, do not make the epsilon of the report.
	for i := range 3 {
		name := in(fmt.Sprintf("o.shard-%d-of-3.part.json", i+1))
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.Replace(b, []byte(`"epsilon": 2`), []byte(`"epsilon": 1`), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	refused("are not those that its ledger is of", merge...)
	for i := range 3 {
		name := in(fmt.Sprintf("o.shard-%d-of-3.part.json", i+1))
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, bytes.Replace(b, []byte(`"epsilon": 1`), []byte(`"epsilon": 2`), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	perturbed(t, "merge", merge[1:]...)
	for _, bad := range []string{"0/3", "4/3", "a", "1/2/3"} {
		var errs bytes.Buffer
		app := &App{Stdout: new(bytes.Buffer), Stderr: &errs}
		if app.Execute(context.Background(), []string{"perturb", "pricdsr", "--in", in("a.txt"), "--out", in("x.tsv"), "--items", "12", "--length", "4", "--epsilon", "1", "--seed", "1", "--shard", bad}) == 0 {
			t.Errorf("--shard %s is accepted", bad)
		}
	}
	for _, s := range []string{"1/2", "2/2"} {
		shard("s.txt", s, "a.txt", "40", "--secure")
	}
	perturbed(t, "merge", "--out", in("s.txt"))
	b, err := os.ReadFile(in("s.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b, []byte("\n")); n != 40 {
		t.Errorf("%d users with secure noise, want 40", n)
	}
}

// Settings of protected slates that were changed by hand, in every shard alike, are refused: the
// report would state another epsilon, another share or another chance than was released.
func TestMergeHoldsSlatesAgainstTheLedger(t *testing.T) {
	for name, c := range map[string]struct{ flags, from, to, want string }{
		"epsilon": {"--replace rr --epsilon 2", `"Epsilon": 2`, `"Epsilon": 0.5`, "shards keep a position"},
		"purpose": {"--replace rr --epsilon 2", `"purpose": "slates"`, `"purpose": "lists"`, "are not those that its ledger is of"},
		"items":   {"--replace rr --epsilon 2", `"items": 16`, `"items": 9`, "shards keep a position"},
		"ratio":   {"--replace uniform --ratio 0.5", `"Ratio": 0.5`, `"Ratio": 0.9`, "are not those that its ledger is of"},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.tsv"), filepath.Join(dir, "o.tsv")
		var text strings.Builder
		text.WriteString("user_id\tslate_id\tposition\titem_id\n")
		for u := range 30 {
			for i := range 4 {
				fmt.Fprintf(&text, "%d\t%d\t%d\t%d\n", u, u, i+1, 1+(u+3*i)%16)
			}
		}
		if err := os.WriteFile(in, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"1/2", "2/2"} {
			perturbed(t, "exposure", append(strings.Fields(c.flags), "--in", in, "--out", out, "--items", "16", "--seed", "3", "--purpose", "slates", "--shard", part)...)
		}
		for i := range 2 {
			path := filepath.Join(dir, fmt.Sprintf("o.shard-%d-of-2.part.json", i+1))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(b, []byte(c.from)) {
				t.Fatalf("%s: no %s in\n%s", name, c.from, b)
			}
			if err := os.WriteFile(path, bytes.Replace(b, []byte(c.from), []byte(c.to), 1), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var errs bytes.Buffer
		app := &App{Stdout: new(bytes.Buffer), Stderr: &errs}
		if code := app.Execute(context.Background(), []string{"perturb", "merge", "--out", out, "--quiet"}); code == 0 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: exit code %d, %s, want %q", name, code, errs.String(), c.want)
		}
	}
}
