package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// interrupted makes a run directory of a toy that was interrupted after some
// steps, and of a crash that came later: its ledger is longer than the
// checkpoint knows.
func interrupted(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := func(step int) error {
		if step == 4 {
			cancel()
		}
		return nil
	}
	if _, err := toyTask(stop).Start(ctx, quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}})); !WasInterrupted(err) {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "ledger.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("half a li")
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func resumeToy(t *testing.T, dir string, log io.Writer) error {
	t.Helper()
	o := quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}, Resume: true})
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	_, err := toyTask(nil).Start(t.Context(), o)
	return err
}

func edit(t *testing.T, path string, change func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// replace puts one text in the place of another, which must be there.
func replace(t *testing.T, from, to string) func(b []byte) []byte {
	return func(b []byte) []byte {
		t.Helper()
		if !bytes.Contains(b, []byte(from)) {
			t.Fatalf("no %q in it", from)
		}
		return bytes.Replace(b, []byte(from), []byte(to), 1)
	}
}

// rewritten gives the checkpoint's content under changed metadata, with the
// checksum that belongs to it.
func rewritten(t *testing.T, key, value string) func(b []byte) []byte {
	return func(b []byte) []byte {
		tensors, meta, err := decodeSafetensors(bytes.NewReader(b), int64(len(b)), true)
		if err != nil {
			t.Fatal(err)
		}
		meta[key] = value
		return encode(t, tensors, meta)
	}
}

// A checkpoint that is not exactly what a run of this program wrote is refused,
// and nothing in the directory changes, the ledger least of all.
func TestResumeRefusesWithoutTouching(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(b []byte) []byte
		want, hint string
	}{
		"a digit of the state":          {replace(t, `{\"step\":5}`, `{\"step\":6}`), "damaged: checksum", "damaged"},
		"a digit of the ledger's place": {replace(t, `\"pending\":[]`, `\"pending\":{}`), "damaged: checksum", "damaged"},
		"the last byte":                 {func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, "damaged: checksum", "damaged"},
		"a tensor's name":               {replace(t, `"sum":{`, `"sun":{`), "damaged: checksum", "damaged"},
		"no checksum":                   {replace(t, `"checksum":`, `"chequsum":`), "no checksum", "damaged"},
		"other kernels":                 {rewritten(t, metaSIMD, "mmx"), "with mmx kernels, this run uses " + simdPath(), "PRIVREC_SIMD=mmx"},
		"another float":                 {rewritten(t, metaFloat, "float16"), "in float16, this program computes in " + floatName, "float16"},
		"another configuration":         {rewritten(t, metaConfig, "abc"), "another configuration", "config.yaml"},
	} {
		dir := interrupted(t)
		edit(t, filepath.Join(dir, checkpointFile), c.change)
		before := tree(t, dir)
		err := resumeToy(t, dir, io.Discard)
		var h interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &h) || !strings.Contains(h.Hint(), c.hint) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
			t.Errorf("%s: changed:\n%s", name, diff)
		}
	}
}

// Every attempt says which program on which machine made it, and another
// program is pointed out.
func TestAttemptsKeepTheirProgram(t *testing.T) {
	dir := interrupted(t)
	edit(t, filepath.Join(dir, manifestName), replace(t, `"go": "`, `"commit": "0123456789abcdef", "go": "old`))
	edit(t, filepath.Join(dir, manifestName), replace(t, `"cores": `, `"host": "secret-desk", "cores": 1`))
	var log bytes.Buffer
	if err := resumeToy(t, dir, &log); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := m.Attempts
	if len(a) != 2 || !strings.HasPrefix(a[0].Build.Go, "oldgo") || a[0].Build.Commit != "0123456789abcdef" ||
		a[0].Machine.Cores <= 10 || a[1].Build != BuildInfo() || a[1].Machine != ThisMachine() {
		t.Errorf("attempts: %+v", a)
	}
	// The name of the machine, which older programs wrote, is read over and not written again.
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil || bytes.Contains(text, []byte("secret-desk")) || bytes.Contains(text, []byte(`"host"`)) {
		t.Errorf("the manifest names its machine (%v): %s", err, text)
	}
	if s := log.String(); !strings.Contains(s, "oldgo") || !strings.Contains(s, "0123456789") {
		t.Errorf("not warned of: %s", s)
	}
}
