package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"privrec/internal/compare"
	"privrec/internal/run"
	"privrec/internal/system"
)

// KeptVersion is the version of the files of kept runs that this program writes.
const KeptVersion = 1

// Kept holds a finished run in one small file: everything that tables, claims and pages read of its directory. It has
// all results in full, the account of privacy, the settings and the programs that worked on it. It has no model. Of
// large tables of users' scores it has a sample (compare.Scores.Sample).
type Kept struct {
	Version int    `json:"version"`
	Name    string `json:"name"` // of the run directory
	// Results is the number of the task's results: run.ResultsOf at the time of the run.
	Results  int                        `json:"results"`
	Manifest json.RawMessage            `json:"manifest"`
	Config   string                     `json:"config"`            // config.yaml, without places of a machine
	Privacy  json.RawMessage            `json:"privacy,omitempty"` // privacy.json; none: the run wrote no account
	Metrics  map[string]json.RawMessage `json:"metrics"`           // metrics.json, by field, but for Epochs
	Epochs   []byte                     `json:"epochs,omitempty"`  // the fields long of metrics.json, gzipped
	Scores   map[string][]byte          `json:"scores,omitempty"`  // tables of users' scores, by file
}

// long lists the fields of metrics.json that grow with the epochs, or with the protocols of an attack.
var long = []string{"epochs", "selection", "protocols"}

// Size limits of a kept run. A table of users' scores is halved until it fits.
const (
	mostOfTables = 12 << 10 // gzipped bytes of all tables of users' scores together
	mostOfKept   = 60 << 10 // bytes of the file
	leastUsers   = 64       // of a sample
	keptDigits   = 6        // significant digits of users' scores
)

// KeepRun returns the small form of a finished run from its directory. It refuses a run that has not ended well.
func KeepRun(dir string) (*Kept, error) {
	k, err := keepRun(dir)
	if err != nil {
		return nil, fmt.Errorf("keep %s: %w", dir, err)
	}
	return k, nil
}

func keepRun(dir string) (*Kept, error) {
	m, err := run.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	if m.Status != run.StatusDone {
		return nil, fmt.Errorf("the status is %q, want %q: only finished runs are kept", m.Status, run.StatusDone)
	}
	m.ConfigFile = configFile(m.ConfigFile)
	k := &Kept{Version: KeptVersion, Name: filepath.Base(dir), Results: m.Results}
	k.Metrics = map[string]json.RawMessage{}
	if k.Manifest, err = json.Marshal(m); err != nil {
		return nil, err
	}
	read := func(name string) ([]byte, error) { return system.ReadFile(filepath.Join(dir, name), system.MostOfRun) }
	config, err := read("config.yaml")
	if err != nil {
		return nil, err
	}
	k.Config = WithoutPlaces(string(config))
	var account bytes.Buffer
	switch b, err := read("privacy.json"); {
	case err == nil:
		if err := json.Compact(&account, b); err != nil {
			return nil, fmt.Errorf("privacy.json: %w", err)
		}
		k.Privacy = account.Bytes()
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	b, err := read("metrics.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &k.Metrics); err != nil {
		return nil, fmt.Errorf("metrics.json: %w", err)
	}
	if err := k.packLong(); err != nil {
		return nil, err
	}
	for name, field := range k.Metrics {
		var small bytes.Buffer
		if err := json.Compact(&small, field); err != nil {
			return nil, err
		}
		k.Metrics[name] = small.Bytes()
	}
	if data, ok := k.Metrics["data"]; ok {
		k.Metrics["data"] = ofFile.ReplaceAll(data, []byte("$1$2"))
	}
	return k, k.keepScores(dir)
}

// packLong moves the long fields into compressed blocks.
func (k *Kept) packLong() error {
	fields := map[string]json.RawMessage{}
	for _, name := range long {
		if f, ok := k.Metrics[name]; ok {
			fields[name] = f
			delete(k.Metrics, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	k.Epochs, err = pack(text)
	return err
}

// keepScores keeps the tables of users' scores, or samples of them that fit.
func (k *Kept) keepScores(dir string) error {
	tables, err := compare.ReadAll(dir)
	if err != nil {
		return err
	}
	most := 0
	for _, t := range tables {
		most = max(most, len(t.Users))
	}
	for n := most; n >= min(most, leastUsers) && n > 0; n /= 2 {
		k.Scores = map[string][]byte{}
		size := 0
		for _, t := range tables {
			var text bytes.Buffer
			if err := t.Sample(n).Write(&text, keptDigits); err != nil {
				return err
			}
			packed, err := pack(text.Bytes())
			if err != nil {
				return err
			}
			k.Scores[filepath.Base(t.Ref)] = packed
			size += len(packed)
		}
		if size <= mostOfTables {
			return nil
		}
	}
	k.Scores = nil // none of use fits: the seeds alone tell the spread
	return nil
}

// pack compresses a block. Equal blocks give equal bytes.
func pack(block []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(block); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// LargeError reports a run whose results are too large for a small file.
type LargeError struct {
	Name  string // of the run
	Bytes int
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("keep %s: it comes to %d bytes, more than %d", e.Name, e.Bytes, mostOfKept)
}

// Write writes the file of a kept run, one line for each part, so that a changed result is a changed line.
func (k *Kept) Write(path string) error {
	l := &lines{}
	l.add("{\n\"version\": ", k.Version, ",\n\"name\": ", quoted(k.Name), ",\n\"results\": ", k.Results)
	l.add(",\n\"manifest\": ", k.Manifest, ",\n\"config\": ", quoted(k.Config))
	if k.Privacy != nil {
		l.add(",\n\"privacy\": ", k.Privacy)
	}
	l.add(",\n\"metrics\": {")
	for i, name := range slices.Sorted(maps.Keys(k.Metrics)) {
		l.add(comma(i), "\n", quoted(name), ": ", k.Metrics[name])
	}
	l.add("\n}")
	if k.Epochs != nil {
		l.add(",\n\"epochs\": ", k.Epochs)
	}
	if len(k.Scores) > 0 {
		l.add(",\n\"scores\": {")
		for i, name := range slices.Sorted(maps.Keys(k.Scores)) {
			l.add(comma(i), "\n", quoted(name), ": ", k.Scores[name])
		}
		l.add("\n}")
	}
	l.add("\n}\n")
	if l.err != nil {
		return l.err
	}
	if n := l.b.Len(); n > mostOfKept {
		return &LargeError{k.Name, n}
	}
	return system.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(l.b.Bytes())
		return err
	})
}

// ReadKept reads the file of a kept run.
func ReadKept(path string) (*Kept, error) {
	b, err := system.ReadFile(path, system.MostOfRun)
	if err != nil {
		return nil, fmt.Errorf("read a kept run: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	k := &Kept{}
	if err := d.Decode(k); err != nil {
		line := 1 + bytes.Count(b[:min(int(d.InputOffset()), len(b))], []byte("\n"))
		return nil, fmt.Errorf("read a kept run: %s:%d: %w", path, line, err)
	}
	switch {
	case k.Version != KeptVersion:
		return nil, fmt.Errorf("read a kept run: %s: version: %d, want %d", path, k.Version, KeptVersion)
	case k.Name == "" || k.Name != filepath.Base(k.Name):
		return nil, fmt.Errorf("read a kept run: %s: name: %q is no name of a run directory", path, k.Name)
	case len(k.Manifest) == 0 || len(k.Metrics) == 0:
		return nil, fmt.Errorf("read a kept run: %s: manifest and metrics are needed", path)
	}
	for name := range k.Scores {
		if name != filepath.Base(name) {
			return nil, fmt.Errorf("read a kept run: %s: scores: %q is no name of a file", path, name)
		}
	}
	return k, nil
}

// stale returns the reason why the results are not those of this program; "" if they are.
func (k *Kept) stale() (string, error) {
	var m struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(k.Manifest, &m); err != nil {
		return "", fmt.Errorf("%s: manifest: %w", k.Name, err)
	}
	if now := run.ResultsOf(m.Task); k.Results != now {
		const why = "it was recorded by a program with results %d of %s, and these are %d"
		return fmt.Sprintf(why, k.Results, m.Task, now), nil
	}
	return "", nil
}

// Unpack writes the kept part of the run's directory. The directory must not exist.
func (k *Kept) Unpack(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	fields := maps.Clone(k.Metrics)
	if k.Epochs != nil {
		z, err := gzip.NewReader(bytes.NewReader(k.Epochs))
		if err != nil {
			return fmt.Errorf("%s: epochs: %w", k.Name, err)
		}
		text, err := io.ReadAll(system.Bounded(z, system.MostOfRun))
		if err != nil {
			return fmt.Errorf("%s: epochs: %w", k.Name, err)
		}
		if err := json.Unmarshal(text, &fields); err != nil {
			return fmt.Errorf("%s: epochs: %w", k.Name, err)
		}
	}
	metrics, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	files := map[string][]byte{"manifest.json": k.Manifest, "config.yaml": []byte(k.Config), "metrics.json": metrics}
	if k.Privacy != nil {
		files["privacy.json"] = k.Privacy
	}
	maps.Copy(files, k.Scores)
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ofFile matches the path of a file of the data: its folder is that of a data set, in the folder of all data sets.
var ofFile = regexp.MustCompile(`("path":")/[^"]*/([^"/]+/[^"/]+")`)

// ofRun matches a line of a list of runs in a configuration.
var ofRun = regexp.MustCompile(`^(\s+- ).*/([^/]+-seed\d+)`)

// WithoutPlaces removes from a configuration its places and number of threads, which change no result: the keys run.out
// and run.workers, and the folder of runs that it is about.
func WithoutPlaces(config string) string {
	var keep []string
	within := false
	for _, line := range strings.SplitAfter(config, "\n") {
		if line != "" && line[0] != ' ' {
			within = strings.HasPrefix(line, "run:")
		}
		key := strings.TrimSpace(line)
		if within && (strings.HasPrefix(key, "out:") || strings.HasPrefix(key, "workers:")) {
			continue
		}
		keep = append(keep, ofRun.ReplaceAllString(line, "$1$2"))
	}
	return strings.Join(keep, "")
}

// configFile returns the path of a configuration, beginning with configs. For a file elsewhere it returns the name
// alone, since folders of one machine mean nothing on another.
func configFile(path string) string {
	path = filepath.ToSlash(path)
	if path == "" {
		return ""
	}
	if _, rest, ok := strings.Cut(path, "configs/"); ok {
		return "configs/" + rest
	}
	if rest, ok := strings.CutPrefix(path, "../"); ok && !strings.Contains(rest, "..") {
		// of a grid, which is below configs
		return "configs/" + rest
	}
	return filepath.Base(path)
}
