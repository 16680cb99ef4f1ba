package internal

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is a Markdown file of the repository: its headings as anchors, and its links.
type page struct {
	anchors []string
	links   []link
}

type link struct {
	line   int
	target string
}

var (
	inline = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	inTag  = regexp.MustCompile(`(?:src|href|srcset)="([^"]+)"`)
	span   = regexp.MustCompile("`[^`]*`")
	mark   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// readPage finds headings and links, outside of code.
func readPage(text string) (p page) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "    ") {
			continue
		}
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			anchor := anchorOf(title)
			for n := 1; slices.Contains(p.anchors, anchor); n++ {
				anchor = fmt.Sprintf("%s-%d", anchorOf(title), n)
			}
			p.anchors = append(p.anchors, anchor)
		}
		line = span.ReplaceAllString(line, "")
		for _, find := range []*regexp.Regexp{inline, inTag} {
			for _, m := range find.FindAllStringSubmatch(line, -1) {
				p.links = append(p.links, link{i + 1, m[1]})
			}
		}
	}
	return p
}

// anchorOf returns the anchor that a page on the web has for a heading.
func anchorOf(title string) string {
	text := mark.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
	return strings.ReplaceAll(text, " ", "-")
}

// broken says what is wrong with the links of pages, by path; exists reports whether a path
// relative to the repository is there.
func broken(pages map[string]page, exists func(string) bool) (list []string) {
	for name, p := range pages {
		for _, l := range p.links {
			if strings.Contains(l.target, "://") {
				continue // of the web: a test does not go there
			}
			path, anchor, _ := strings.Cut(l.target, "#")
			path, err := url.PathUnescape(path)
			if err != nil {
				list = append(list, fmt.Sprintf("%s:%d: %s: %v", name, l.line, l.target, err))
				continue
			}
			to := name
			if path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			}
			if !exists(to) {
				list = append(list, fmt.Sprintf("%s:%d: %s: there is no %s", name, l.line, l.target, to))
			} else if p, ok := pages[to]; anchor != "" && (!ok || !slices.Contains(p.anchors, anchor)) {
				list = append(list, fmt.Sprintf("%s:%d: %s: %s has no heading %q", name, l.line, l.target, to, anchor))
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestLinks follows every relative link of every page of the repository, with its anchor, and
// demands that every page is found from the first one.
func TestLinks(t *testing.T) {
	pages, count := map[string]page{}, 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || rel == "runs" || rel == "bin" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(rel, ".md") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			pages[rel] = readPage(string(text))
			count += len(pages[rel].links)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 20 || count < 50 {
		t.Fatalf("%d pages with %d links: the test looks in the wrong place", len(pages), count)
	}
	for _, b := range broken(pages, func(path string) bool {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(path)))
		return err == nil
	}) {
		t.Error(b)
	}
	for _, name := range unreached(pages, "README.md") {
		t.Errorf("%s is not found by following links from README.md", name)
	}
}

// unreached lists the pages that no way of links leads to from one.
func unreached(pages map[string]page, from string) (list []string) {
	seen, next := map[string]bool{from: true}, []string{from}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, l := range pages[name].links {
			path, _, _ := strings.Cut(l.target, "#")
			to := filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			if _, ok := pages[to]; ok && !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	for name := range pages {
		if !seen[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// The test of links finds what is planted, and nothing in what is right.
func TestLinksBite(t *testing.T) {
	const text = "# A page: of (two) parts\n\n## Part\n\n## Part\n\n[here](#part-1) [there](sub/b.md#b) ![x](pic.svg) <img src=\"pic.svg\">\n" +
		"`[not](a-link)` [web](https://example.org/x#y)\n\n    [nor](this)\n\n```\n[nor](that)\n```\n"
	pages := map[string]page{"a.md": readPage(text), "sub/b.md": readPage("# B\n[up](../a.md#a-page-of-two-parts)\n")}
	exists := func(path string) bool { return path == "a.md" || path == "sub/b.md" || path == "pic.svg" }
	if got := broken(pages, exists); len(got) != 0 {
		t.Errorf("right links: %q", got)
	}
	bad := map[string]page{"a.md": readPage("# A\n\n[1](#b) [2](c.md)\n[3](sub/b.md#c) ![4](no.png)"), "sub/b.md": readPage("# B")}
	if got := broken(bad, exists); len(got) != 4 {
		t.Errorf("four broken links: %q", got)
	}
	bad["lost.md"] = readPage("[home](a.md)")
	if got := unreached(bad, "a.md"); !slices.Equal(got, []string{"lost.md"}) {
		t.Errorf("a page without a link to it: %q", got)
	}
}

// TestFrontPage keeps the README to what a visitor reads.
func TestFrontPage(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 8<<10 {
		t.Errorf("README.md has %d bytes, want at most %d: move what is long to docs", len(text), 8<<10)
	}
}
