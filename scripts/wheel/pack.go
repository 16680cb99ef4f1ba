package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed module/*.py module/py.typed description.txt
var module embed.FS

const description = "description.txt" // of the package, embedded

// A wheel holds the common content of the wheels of all platforms, and the program of one.
type wheel struct {
	version string
	info    string            // folder of the metadata
	common  map[string][]byte // files by path
	files   map[string][]byte // those of the platform too
	runs    string            // path of the program, which can be executed
}

// A version is public, with at most a development release, in a form that PEP 440 would not normalise.
var versionForm = regexp.MustCompile(
	`^(0|[1-9]\d*)(\.(0|[1-9]\d*))*((a|b|rc)(0|[1-9]\d*))?(\.post(0|[1-9]\d*))?(\.dev(0|[1-9]\d*))?$`)

// newWheel reads the files that do not depend on the platform, from the embedded module and
// from the root of the repository.
func newWheel(version string) (*wheel, error) {
	if !versionForm.MatchString(version) {
		return nil, fmt.Errorf("-version %q: want one as 0.1.0 or 0.1.0.dev20261123", version)
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, fmt.Errorf("start it in the root of the repository: %w", err)
	}
	w := &wheel{version: version, info: "privrec-" + version + ".dist-info", common: map[string][]byte{}}
	sources, err := module.ReadDir("module")
	if err != nil {
		return nil, err
	}
	for _, e := range sources {
		if w.common["privrec/"+e.Name()], err = module.ReadFile("module/" + e.Name()); err != nil {
			return nil, err
		}
	}
	w.common[w.info+"/entry_points.txt"] = []byte("[console_scripts]\nprivrec = privrec.__main__:main\n")
	w.common[w.info+"/licenses/LICENSE"] = license
	return w, nil
}

// program puts the program of a platform into the wheel, with the licenses of the modules that
// it is linked from.
func (w *wheel) program(p platform, from string) error {
	body, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	w.files = map[string][]byte{}
	for name, b := range w.common {
		w.files[name] = b
	}
	w.runs = "privrec/bin/privrec"
	if p.os == "windows" {
		w.runs += ".exe"
	}
	w.files[w.runs] = body
	info, err := buildinfo.Read(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	var list []string
	for _, m := range info.Deps {
		texts, err := licenses(m.Path)
		if err != nil {
			return err
		}
		for name, text := range texts {
			file := "licenses/third-party/" + m.Path + "/" + name
			w.files[w.info+"/"+file] = text
			list = append(list, "third-party/"+m.Path+"/"+name)
		}
	}
	return w.metadata(list)
}

// licenses reads the license files of a module that is in the module cache.
func licenses(modulePath string) (map[string][]byte, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", modulePath).Output()
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", modulePath, err)
	}
	at := strings.TrimSpace(string(dir))
	entries, err := os.ReadDir(at)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", modulePath, err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		stem := strings.ToUpper(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())))
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, stem) {
			continue
		}
		if out[e.Name()], err = os.ReadFile(filepath.Join(at, e.Name())); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("module %s has no license file in %s", modulePath, at)
	}
	return out, nil
}

// metadata writes METADATA.
func (w *wheel) metadata(licenses []string) error {
	about, err := module.ReadFile(description)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: privrec\nVersion: %s\n", w.version)
	b.WriteString("Summary: Privacy in recommender systems: measure, attack, account\n")
	b.WriteString("License-Expression: Apache-2.0\nLicense-File: LICENSE\n")
	slices.Sort(licenses)
	for _, l := range licenses {
		fmt.Fprintf(&b, "License-File: %s\n", l)
	}
	b.WriteString("Keywords: privacy,recommender systems,differential privacy,membership inference\n")
	b.WriteString("Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n")
	b.Write(about)
	w.files[w.info+"/METADATA"] = []byte(b.String())
	return nil
}

// pack returns the name and the bytes of the wheel with these platform tags.
func (w *wheel) pack(tags string) (name string, body []byte, err error) {
	files := map[string][]byte{}
	for at, b := range w.files {
		files[at] = b
	}
	about := "Wheel-Version: 1.0\nGenerator: privrec (scripts/wheel)\nRoot-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(tags, ".") {
		about += "Tag: py3-none-" + tag + "\n"
	}
	files[w.info+"/WHEEL"] = []byte(about)

	var names []string
	for at := range files {
		names = append(names, at)
	}
	// Installers that stream read the metadata last, so they stand last, as the standard asks.
	meta := func(at string) int {
		if strings.HasPrefix(at, w.info+"/") {
			return 1
		}
		return 0
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := meta(a) - meta(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	record := w.info + "/RECORD"
	var lines strings.Builder
	for _, at := range names {
		sum := sha256.Sum256(files[at])
		fmt.Fprintf(&lines, "%s,sha256=%s,%d\n", at, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[at]))
	}
	lines.WriteString(record + ",,\n")
	files[record] = []byte(lines.String())

	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, at := range append(names, record) {
		h := &zip.FileHeader{Name: at, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o644)
		if at == w.runs {
			h.SetMode(0o755)
		}
		f, err := z.CreateHeader(h)
		if err != nil {
			return "", nil, err
		}
		if _, err := io.Copy(f, bytes.NewReader(files[at])); err != nil {
			return "", nil, err
		}
	}
	if err := z.Close(); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("privrec-%s-py3-none-%s.whl", w.version, tags), out.Bytes(), nil
}
