package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"privrec/internal/tensor"
)

// block is a fenced piece of a page: ```go path or ```console.
type block struct {
	language, path string
	text           string // with its last line's end
	line           int    // of the page
}

// blocks reads the fenced pieces of docs/name.
func blocks(t *testing.T, name string) []block {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	var in *block
	for i, line := range strings.SplitAfter(string(page), "\n") {
		fence, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && in == nil:
			language, path, _ := strings.Cut(strings.TrimSpace(fence), " ")
			in = &block{language: language, path: path, line: i + 1}
		case ok:
			out, in = append(out, *in), nil
		case in != nil:
			in.text += line
		}
	}
	if in != nil || len(out) == 0 {
		t.Fatalf("docs/%s: no blocks, or one that does not end", name)
	}
	return out
}

// The pages that add something show what is there: whole files, but for the one that gets a
// line.
func TestPagesShowFiles(t *testing.T) {
	for name, files := range map[string]int{"add-a-model.md": 5, "add-an-attack.md": 1, "add-a-paper.md": 1} {
		shown := map[string][]string{}
		for _, b := range blocks(t, name) {
			if b.path == "" {
				continue
			}
			file, err := os.ReadFile(filepath.Join("../..", b.path))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(file), b.text) {
				t.Errorf("docs/%s:%d is not in %s:\n%s", name, b.line, b.path, b.text)
			}
			shown[b.path] = append(shown[b.path], b.text)
		}
		for path, parts := range shown {
			if filepath.Base(path) == "networks.go" {
				continue
			}
			file, err := os.ReadFile(filepath.Join("../..", path))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(file), strings.Join(parts, "\n")); diff != "" {
				t.Errorf("docs/%s does not show all of %s:\n%s", name, path, diff)
			}
		}
		if len(shown) != files {
			t.Errorf("docs/%s shows %d files, want %d", name, len(shown), files)
		}
	}
}

// What the pages do on the command line does what they say: files are written,
// commands run, and every line of output is there.
func TestPagesRun(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../README.md", "tutorial.md", "faq.md", "account-events.md", "add-a-model.md", "add-your-own-data.md", "bring-your-own-model.md", "lint.md", "metrics.md", "three-epsilons.md", "tune.md", "vectors.md"} {
		script := pageScript(t, name)
		path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".md")+".txt")
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	configs, err := filepath.Abs("../../configs")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		e.Setenv("PRIVREC_CACHE", e.WorkDir+"/cache")
		e.Setenv("PRIVREC_DATA", "")
		e.Setenv("PRIVREC_SIMD", os.Getenv("PRIVREC_SIMD"))
		return os.Symlink(configs, filepath.Join(e.WorkDir, "configs"))
	}})
}

// inTest returns the command that a page's command stands for in a test: the program is there without
// being built, and make demo runs its demo.
func inTest(command string) string {
	return strings.TrimPrefix(strings.Replace(command, "make demo", "privrec demo", 1), "bin/")
}

var (
	fraction = regexp.MustCompile(`(\\\+|-)?\d+\\\.\d+`) // as QuoteMeta leaves it
	spaces   = regexp.MustCompile(` {2,}`)
)

// asPrinted returns a pattern for a line of output. The pages were printed with AVX-512 and
// float32; what a training comes to differs in its last digits elsewhere, and there any
// number with a fraction is right.
func asPrinted(line string) string {
	line = regexp.QuoteMeta(line)
	if tensor.SIMD() == "avx512" && unsafe.Sizeof(tensor.Float(0)) == 4 {
		return line
	}
	return spaces.ReplaceAllString(fraction.ReplaceAllString(line, `[-+]?\d+\.\d+`), " +")
}

// pageScript turns a page's examples into a test script. A line of output may be
// part of either stream; "..." stands for more of it, and lines that underline a
// table's head may be left out.
func pageScript(t *testing.T, name string) string {
	t.Helper()
	var b, files strings.Builder
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	commands := 0
	for _, x := range blocks(t, name) {
		if x.language != "console" {
			if !strings.Contains(x.path, "internal/") && !strings.Contains(x.path, "configs/") {
				fmt.Fprintf(&files, "-- %s --\n%s", x.path, x.text)
			}
			continue
		}
		lines := strings.Split(strings.TrimSuffix(x.text, "\n"), "\n")
		for i, line := range lines {
			fmt.Fprintf(&b, "# docs/%s:%d\n", name, x.line+1+i)
			command, ok := strings.CutPrefix(line, "$ ")
			value, isExport := strings.CutPrefix(command, "export ")
			switch {
			case isExport:
				fmt.Fprintf(&b, "env %s\n", value)
			case ok:
				commands++
				fails := ""
				if i+1 < len(lines) && (strings.HasPrefix(lines[i+1], "error:") || strings.HasPrefix(lines[i+1], "hint:")) {
					fails = "! "
				}
				fmt.Fprintf(&b, "%sexec %s\n", fails, inTest(command))
			case line == "...":
			default:
				stream := "stdout"
				if strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "hint:") {
					stream = "stderr"
				}
				fmt.Fprintf(&b, "%s %s\n", stream, quote("^"+asPrinted(line)+`( {2,}.*)?$`))
			}
		}
	}
	if commands < 2 {
		t.Fatalf("docs/%s: %d commands", name, commands)
	}
	return b.String() + files.String()
}
