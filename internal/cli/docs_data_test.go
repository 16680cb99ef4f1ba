package cli

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/fetch"
)

const dataPages = "../../docs/data"

// Every data set has a page, written from data/sources.yaml and the registry by
// this test (make docs); it fails when they drift apart, and when a page is left
// of a set that is gone.
func TestDataPages(t *testing.T) {
	sources, err := fetch.Sources()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"README.md": dataIndex(sources)}
	for _, src := range sources {
		pages[src.Name+".md"] = dataPage(src)
	}
	if len(pages) != 1+len(registry.All()) {
		t.Errorf("%d pages for %d data sets", len(pages)-1, len(registry.All()))
	}
	if *update {
		if err := os.MkdirAll(dataPages, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(dataPages, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(dataPages, name))
		if err != nil {
			t.Errorf("%v, run make docs", err)
			continue
		}
		if diff := cmp.Diff(string(got), want); diff != "" {
			t.Errorf("docs/data/%s is out of date, run make docs:\n%s", name, diff)
		}
	}
	there, err := filepath.Glob(filepath.Join(dataPages, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range there {
		if _, ok := pages[filepath.Base(file)]; !ok {
			t.Errorf("docs/data/%s is the page of no data set, remove it", filepath.Base(file))
		}
	}
}

const writtenBy = "Written from `data/sources.yaml` and the program's registry by `make docs`.\n"

func dataIndex(sources []fetch.Source) string {
	var b strings.Builder
	b.WriteString("# Data sets\n\n" + writtenBy + `
The program looks for real data in ` + "`$PRIVREC_DATA`" + `, each set in a folder of its own. This
repository holds none of them; ` + "`privrec data fetch NAME`" + ` shows the terms, downloads, checks and
unpacks. The stand-ins are generated and need no file.

| set | what | used by | get it |
| --- | --- | --- | --- |
`)
	for _, s := range sources {
		get := "`privrec data fetch " + s.Name + "`"
		switch {
		case s.Generated():
			get = "generated"
		case s.Manual != "":
			get = "by hand"
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", s.Name, s.Name, s.Title, join(s.UsedBy), get)
	}
	b.WriteString(`
## Slates

Exposure attacks need pairs of a slate and the clicks before it. ` + "`privrec data stats NAME`" + ` counts
them; where a data set has the same name, add ` + "`--recipe slates`" + `.

| set | what | pairs | from |
| --- | --- | --- | --- |
`)
	for _, s := range slate.Sources() {
		from := s.From
		if s.StandIn {
			from = "generated"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Name, s.Title, s.About, address(from))
	}
	b.WriteString("\nData of your own: [add-your-own-data.md](../add-your-own-data.md).\n")
	return b.String()
}

func dataPage(src fetch.Source) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%s\n", src.Name, src.Title, writtenBy)
	fmt.Fprintf(&b, "- Address: %s\n- Terms: %s\n- Used by: %s\n", address(src.Address), src.Licence, join(src.UsedBy))
	for _, n := range src.Notes {
		fmt.Fprintf(&b, "- Note: %s\n", n)
	}
	switch {
	case src.Generated():
		fmt.Fprintf(&b, "\nThere is nothing to download: the program generates it. As RecBole atomic files:\n\n    privrec data synth %s --out standin\n", strings.TrimPrefix(src.Name, "standin-"))
	default:
		archives(&b, src)
		layouts(&b, src.Set)
	}
	b.WriteString("\n## Recipes and their counts\n\nThe counts that every step must leave; `paper` marks those that a paper prints or its code fixes.\nA run on data with other counts is evidence of level C at most.\n")
	for _, r := range src.Recipes {
		fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n    privrec data stats %s --recipe %s\n\n", r.Name, strings.TrimSuffix(r.About, "."), src.Name, r.Name)
		if len(r.Wants) == 0 {
			b.WriteString("No counts are known.\n")
		} else {
			b.WriteString("| step | users | items | rows | samples | paper | from |\n| --- | ---: | ---: | ---: | ---: | --- | --- |\n")
		}
		for _, w := range r.Wants {
			paper := ""
			if w.Paper {
				paper = "paper"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(w.Name, "|", `\|`),
				grouped(w.Users), grouped(w.Items), grouped(w.Rows), grouped(w.Samples), paper, w.From)
		}
		for i, n := range r.Notes {
			if i == 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "- %s\n", n)
		}
	}
	return b.String()
}

// archives tells what to download and what is taken from it.
func archives(b *strings.Builder, src fetch.Source) {
	b.WriteString("\n## What to download\n\n")
	if src.Manual != "" {
		fmt.Fprintf(b, "Get a copy by hand: %s.\n\n    privrec data fetch %s --from FILE\n", strings.TrimSuffix(src.Manual, "."), src.Name)
	} else {
		fmt.Fprintf(b, "    privrec data fetch %s\n\nasks before it downloads; with a copy at hand, add `--from FILE`.\n", src.Name)
	}
	for _, a := range src.Archives {
		size := a.Size
		if a.Bytes > 0 {
			size = fetch.Size(a.Bytes)
		}
		if a.URL == "" {
			fmt.Fprintf(b, "\n- the owner's copy, %s\n", size)
		} else {
			fmt.Fprintf(b, "\n- <%s>, %s\n", a.URL, size)
		}
		for _, m := range a.Mirrors {
			fmt.Fprintf(b, "  - mirror: <%s>\n", m)
		}
		switch {
		case a.SHA256 != "":
			fmt.Fprintf(b, "  - sha256 `%s`\n", a.SHA256)
		case a.MD5 != "":
			fmt.Fprintf(b, "  - md5 `%s`; no sha256: %s\n", a.MD5, a.Unverified)
		default:
			fmt.Fprintf(b, "  - no checksum: %s\n", a.Unverified)
		}
		for _, f := range a.Files {
			fmt.Fprintf(b, "  - holds `%s`, kept as `%s`\n", f, path.Join(src.Name, a.Into, path.Base(f)))
		}
	}
}

// layouts tells which files the program reads.
func layouts(b *strings.Builder, set registry.Set) {
	b.WriteString("\n## Files expected\n\nIn `$PRIVREC_DATA/" + set.Name + "/`, plain, `.gz` or `.zst`")
	if len(set.Layouts) > 1 {
		b.WriteString("; the first of these that is complete is read")
	}
	b.WriteString(":\n\n")
	for _, l := range set.Layouts {
		fmt.Fprintf(b, "- `%s`\n", strings.Join(l.Files, "` and `"))
	}
}

func address(s string) string {
	if url, rest, _ := strings.Cut(s, " "); strings.HasPrefix(url, "https://") {
		return strings.TrimSpace("<" + url + "> " + rest)
	}
	return s
}

// grouped writes 571531 as 571,531, and nothing for a count that is not stated.
func grouped(n int) string {
	if n == 0 {
		return ""
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
