package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The program in these wheels is the test itself.
func TestWheels(t *testing.T) {
	t.Chdir("../..")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first, second := t.TempDir(), t.TempDir()
	for _, p := range platforms {
		if err := build("0.1.0.dev3", first, p.String(), program, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := build("0.1.0.dev3", second, "linux/amd64", program, nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimPrefix(e.Name(), "privrec-0.1.0.dev3-py3-none-"))
		path := filepath.Join(first, e.Name())
		if err := verify(path, program); err != nil {
			t.Error(err)
		}
		if err := verify(path, "LICENSE"); err == nil {
			t.Errorf("%s: its program is not LICENSE", e.Name())
		}
		a, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(e.Name(), "linux_") && strings.Contains(e.Name(), "x86_64") {
			b, err := os.ReadFile(filepath.Join(second, e.Name()))
			if err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: built twice it is not the same: %v", e.Name(), err)
			}
		}
		files := contents(t, path)
		if want := strings.Contains(e.Name(), "win_"); (files["privrec/bin/privrec.exe"] != nil) != want || (files["privrec/bin/privrec"] != nil) == want {
			t.Errorf("%s: the name of its program", e.Name())
		}
		for _, file := range []string{"privrec/__init__.py", "privrec/__main__.py", "privrec-0.1.0.dev3.dist-info/entry_points.txt", "privrec-0.1.0.dev3.dist-info/licenses/LICENSE"} {
			if len(files[file]) == 0 {
				t.Errorf("%s: there is no %s", e.Name(), file)
			}
		}
	}
	want := []string{
		"macosx_12_0_arm64.whl", "macosx_12_0_x86_64.whl",
		"manylinux_2_17_aarch64.manylinux2014_aarch64.whl", "manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
		"musllinux_1_1_aarch64.whl", "musllinux_1_1_x86_64.whl", "win_amd64.whl", "win_arm64.whl",
	}
	if !slices.Equal(names, want) {
		t.Errorf("wheels %v, want %v", names, want)
	}
}

// A wheel with a changed file, a lost one and one that cannot be executed is not right.
func TestVerify(t *testing.T) {
	t.Chdir("../..")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := build("1.0", dir, "windows/amd64", program, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "privrec-1.0-py3-none-win_amd64.whl")
	for name, c := range map[string]struct {
		change func(files map[string][]byte)
		mode   os.FileMode
		want   string
	}{
		"changed":       {func(f map[string][]byte) { f["privrec/__init__.py"] = []byte("import os\n") }, 0o755, "RECORD says"},
		"lost":          {func(f map[string][]byte) { delete(f, "privrec/__main__.py") }, 0o755, "RECORD says"},
		"added":         {func(f map[string][]byte) { f["privrec/more.py"] = []byte("1\n") }, 0o755, "RECORD lacks privrec/more.py"},
		"not to be run": {func(map[string][]byte) {}, 0o644, "has mode"},
		"no program":    {func(f map[string][]byte) { delete(f, "privrec/bin/privrec.exe") }, 0o755, "holds no program"},
	} {
		files := contents(t, path)
		c.change(files)
		bad := filepath.Join(t.TempDir(), filepath.Base(path))
		f, err := os.Create(bad)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for at, body := range files {
			h := &zip.FileHeader{Name: at}
			h.SetMode(c.mode)
			w, err := z.CreateHeader(h)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(body) // Close fails where this did
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := verify(bad, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct{ version, only, binary, want string }{
		{"", "", "", "-version"},
		{"1.0-rc1", "", "", "-version"},
		{"01.0", "", "", "-version"},
		{"1.0", "plan9/amd64", "", "there are linux/amd64"},
		{"1.0", "", "bin", "-binary needs -only"},
		{"1.0", "linux/amd64", "LICENSE", "LICENSE"},
	} {
		if err := build(c.version, t.TempDir(), c.only, c.binary, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func contents(t *testing.T, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = b.Bytes()
	}
	return files
}
