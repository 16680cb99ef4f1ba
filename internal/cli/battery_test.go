package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// fails runs a command that must end as every failure does: with this exit code,
// one error line and at most one hint that match, nothing on standard output, and
// no file made, changed or removed.
//
//	fails CODE ERROR HINT COMMAND [ARG]...
//
// ERROR and HINT are regular expressions for the whole line; an empty HINT wants
// none. In them D stands for the folder of data sets.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: fails CODE ERROR HINT COMMAND [ARG]...")
	}
	before := listing(ts)
	exits(ts, false, append([]string{args[0]}, args[3:]...))
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("a failure wrote to standard output: %q", out)
	}
	errs, hints := 0, 0
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), filepath.Join(ts.Getenv("WORK"), "d"), "D")
		kind, text, _ := strings.Cut(line, ": ")
		switch kind {
		case "error":
			errs++
			whole(ts, args[1], text)
		case "hint":
			hints++
			whole(ts, args[2], text)
		case "also":
			ts.Fatalf("a second problem: %s", line)
		}
	}
	want := 1
	if args[2] == "" {
		want = 0
	}
	if errs != 1 || hints != want {
		ts.Fatalf("%d error lines and %d hints, want 1 and %d", errs, hints, want)
	}
	after := listing(ts)
	for path, sum := range after {
		if was, ok := before[path]; !ok {
			ts.Fatalf("the failure left %s behind", path)
		} else if was != sum {
			ts.Fatalf("the failure changed %s", path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			ts.Fatalf("the failure removed %s", path)
		}
	}
}

func whole(ts *testscript.TestScript, pattern, text string) {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	ts.Check(err)
	if !re.MatchString(text) {
		ts.Fatalf("%q does not match %q", text, pattern)
	}
}

// listing digests every file of the script's directory. What a failed attempt
// may change is left out: the cache, and the record that a run keeps of its attempts.
func listing(ts *testscript.TestScript) map[string]string {
	all := map[string]string{}
	root := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case rel == "cache" || rel == ".tmp":
			return fs.SkipDir
		case d.Name() == "manifest.json" || d.Name() == "log.jsonl" || !d.Type().IsRegular():
			all[rel] = d.Type().String()
		default:
			b, err := os.ReadFile(path)
			all[rel] = fmt.Sprintf("%x", sha256.Sum256(b))
			return err
		}
		return nil
	}))
	return all
}

// badset makes a folder of data sets with one set in it, and wants the program to
// refuse it as data, both where it shows statistics and where it trains.
//
//	badset SET ERROR HINT [FILE=SOURCE]...
//
// ERROR and HINT are the lines themselves. SOURCE is a file of the script, or
// good/FILE or bad/FILE of testdata.
func badset(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: badset SET ERROR HINT [FILE=SOURCE]...")
	}
	set, data := args[0], ts.MkAbs("d")
	ts.Check(os.RemoveAll(data))
	ts.Check(os.MkdirAll(filepath.Join(data, set), 0o755))
	for _, pair := range args[3:] {
		name, source, _ := strings.Cut(pair, "=")
		dir, rest, _ := strings.Cut(source, "/")
		switch dir {
		case "good":
			source = filepath.Join(ts.Getenv("REPO"), "testdata/data", rest)
		case "bad":
			source = filepath.Join(ts.Getenv("REPO"), "testdata/bad/data", rest)
		default:
			source = ts.MkAbs(source)
		}
		b, err := os.ReadFile(source)
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(data, set, name), b, 0o644))
	}
	ts.Setenv("PRIVREC_DATA", data)
	want := []string{"3", regexp.QuoteMeta(args[1]), regexp.QuoteMeta(args[2]), "privrec"}
	fails(ts, false, append(want, "data", "stats", set))
	if set == "ml-1m" {
		fails(ts, false, append(want, "train", "dipsgnn", "--out", "x"))
	}
}

// mount puts a file system of limited size over a directory until the end of the
// script, or changes the one that is there.
//
//	mount DIR OPTIONS
//
// OPTIONS are those of tmpfs, and size=1.5*FILE for a multiple of a file's size.
func mount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mount DIR OPTIONS")
	}
	dir, options := ts.MkAbs(args[0]), args[1]
	if times, file, ok := strings.Cut(options, "*"); ok {
		factor, err := strconv.ParseFloat(strings.TrimPrefix(times, "size="), 64)
		ts.Check(err)
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		options = fmt.Sprintf("size=%d", int64(factor*float64(info.Size())))
	}
	if exec.Command("mountpoint", "-q", dir).Run() == nil {
		ts.Check(ts.Exec("mount", "-o", "remount,"+options, dir))
		return
	}
	ts.Check(ts.Exec("mount", "-t", "tmpfs", "-o", options, "none", dir))
	ts.Defer(func() { exec.Command("umount", "-l", dir).Run() })
}

// conditions of the scripts: [tmpfs] where a small file system can be mounted.
func conditions(name string) (bool, error) {
	if name == "tmpfs" {
		return canMount(), nil
	}
	return false, errors.New("unknown condition " + name)
}

var canMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if exec.Command("mountpoint", "-q", "/").Run() != nil || exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", dir).Run() != nil {
		return false
	}
	return exec.Command("umount", dir).Run() == nil
})
