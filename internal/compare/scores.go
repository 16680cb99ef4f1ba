package compare

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Scores holds the scores that a finished run keeps of its users.
type Scores struct {
	Ref      string // as the user wrote it: a run directory, or directory:release
	Manifest run.Manifest
	Data     Data      // data of the run, where it says so
	Users    []string  // distinct
	Weights  []float64 // samples of each user; nil: a user counts once
	Rows     []float64 // test rows of each user; nil: the file does not say
	dir      string
	Metrics  []string             // in the order of the file
	Values   map[string][]float64 // by metric, user by user
	// Sampled describes the table that these scores are a sample of; nil: they are the scores of all users.
	Sampled *Sampled
}

// The columns of a table of scores that are not metrics.
const (
	keyColumn     = "user_id"
	rowsColumn    = "test_rows"
	samplesColumn = "samples"
	filePrefix    = "scores"
	fileSuffix    = ".tsv.gz"
)

// Data names a data set and the recipe of its test rows. Candidates is the number of sampled items that each row is
// ranked among; 0 for none.
type Data struct {
	Name, Recipe string
	Candidates   int
}

// weighs lists the columns with the number of samples behind a user's score. The reported mean is then one over
// samples.
var weighs = map[string]bool{samplesColumn: true, "pairs": true}

// counts lists the other columns that are not metrics.
var counts = map[string]bool{rowsColumn: true, "place": true, "place_among_all": true, "rank": true}

// Error reports a run that cannot be compared, with the reason.
type Error struct {
	Ref  string
	Why  string
	Hint string
}

// Error names the run and the reason.
func (e *Error) Error() string { return e.Ref + ": " + e.Why }

// ReadScores reads the scores of a finished run. ref is its directory, followed by ":NAME" if
// it keeps several tables, to read table NAME.
func ReadScores(ref string) (*Scores, error) {
	dir, name := ref, ""
	if _, err := os.Stat(ref); err != nil {
		if at := strings.LastIndexByte(ref, ':'); at >= 0 {
			dir, name = ref[:at], ref[at+1:]
		}
	}
	m, err := run.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) || system.NotAFolder(err) {
		return nil, &Error{ref, "not a run directory", "name a directory that privrec train wrote"}
	}
	if err != nil {
		return nil, err
	}
	if m.Status != run.StatusDone {
		return nil, &Error{ref, "the run is " + m.Status, "finish it with --resume"}
	}
	path, err := table(ref, dir, name)
	if e := (*Error)(nil); errors.As(err, &e) && e.Hint == "" && experiment.IsImported(m.Task) {
		e.Hint = "import the model again with --truth, the rows that it is measured by"
	}
	if err != nil {
		return nil, err
	}
	s := &Scores{Ref: ref, Manifest: m, Values: map[string][]float64{}, dir: dir}
	if !experiment.IsImported(m.Task) { // whose rows have no name that others have
		if s.Data, err = dataOf(dir); err != nil {
			return nil, err
		}
	}
	if err := s.read(path); err != nil {
		return nil, fmt.Errorf("read scores: %s: %w", path, err)
	}
	return s, nil
}

// ReadAll reads every table of scores that a finished run keeps of its users, in the order of
// their names.
func ReadAll(dir string) ([]*Scores, error) {
	found, err := filepath.Glob(filepath.Join(escape(dir), filePrefix+"*"+fileSuffix))
	if err != nil {
		return nil, err
	}
	m, err := run.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	var out []*Scores
	for _, path := range found {
		s := &Scores{Ref: path, Manifest: m, Values: map[string][]float64{}}
		if err := s.read(path); err != nil {
			return nil, fmt.Errorf("read scores: %s: %w", path, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// Weight returns the number of samples behind a user's scores, 1 where a user counts once.
func (s *Scores) Weight(user int) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[user]
}

// dataOf returns the data of a run from its metrics.json; empty if it has none.
func dataOf(dir string) (Data, error) {
	o, err := experiment.ReadOutcome(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Data{}, nil
	}
	if err != nil {
		return Data{}, err
	}
	return Data{o.Data.Name, o.Data.Recipe, o.Data.Candidates}, nil
}

// table returns the path of a run's table of scores; without a name, that of the only one.
func table(ref, dir, name string) (string, error) {
	found, err := filepath.Glob(filepath.Join(escape(dir), filePrefix+"*"+fileSuffix))
	if err != nil {
		return "", err
	}
	var names []string
	for _, path := range found {
		n := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), filePrefix), fileSuffix)
		n = strings.TrimPrefix(n, "-")
		if n == name {
			return path, nil
		}
		if n != "" {
			names = append(names, n)
		}
	}
	switch {
	case len(found) == 0:
		return "", &Error{ref, "the run keeps no scores of its users", ""}
	case len(found) == 1 && name == "":
		return found[0], nil
	case len(found) == 1:
		return "", &Error{ref, fmt.Sprintf("the run keeps one table of scores, which is not called %q", name),
			"leave out the name"}
	case name == "":
		return "", &Error{ref, "the run keeps several tables of scores",
			fmt.Sprintf("name one of them, as in %s:%s; there are %s", ref, names[0], strings.Join(names, ", "))}
	}
	return "", &Error{ref, fmt.Sprintf("no table of scores is called %q", name), "there is " +
		strings.Join(names, ", ")}
}

// mostOfScores bounds the size of a table of scores, packed and unpacked, in bytes: that of ten million users.
const mostOfScores = 1 << 30

// escape quotes the wildcards in a path.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func (s *Scores) read(path string) error {
	f, err := system.Open(path, mostOfScores)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(system.Bounded(z, mostOfScores))
	lines.Buffer(nil, 1<<20)
	var header []string
	var columns, metrics []*[]float64 // of the header, nil: not kept; of s.Metrics
	seen := map[string]bool{}
	for n := 1; lines.Scan(); n++ {
		if text, ok := strings.CutPrefix(lines.Text(), sampleMark); ok && n == 1 {
			if err := json.Unmarshal([]byte(text), &s.Sampled); err != nil {
				return fmt.Errorf("line 1: %w", err)
			}
			continue
		}
		cells := strings.Split(lines.Text(), "\t")
		if header == nil {
			if cells[0] != keyColumn {
				return fmt.Errorf("line 1: the first column is %q, not %s", cells[0], keyColumn)
			}
			header = cells
			for _, c := range cells[1:] {
				switch {
				case c == rowsColumn:
					columns = append(columns, &s.Rows)
				case counts[c]:
					columns = append(columns, nil)
				case weighs[c]:
					columns = append(columns, &s.Weights)
				default:
					to := new([]float64)
					s.Metrics, metrics, columns = append(s.Metrics, c), append(metrics, to), append(columns, to)
				}
			}
			continue
		}
		if len(cells) != len(header) {
			return fmt.Errorf("line %d: %d columns, the header has %d", n, len(cells), len(header))
		}
		if seen[cells[0]] {
			return fmt.Errorf("line %d: user %q is there twice", n, cells[0])
		}
		seen[cells[0]] = true
		s.Users = append(s.Users, cells[0])
		for i, to := range columns {
			if to == nil {
				continue
			}
			x, err := strconv.ParseFloat(cells[i+1], 64)
			if err != nil {
				return fmt.Errorf("line %d: %s: %q is not a number", n, header[i+1], cells[i+1])
			}
			*to = append(*to, x)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for i, m := range s.Metrics {
		s.Values[m] = *metrics[i]
	}
	switch {
	case len(s.Users) == 0:
		return errors.New("no users")
	case len(s.Metrics) == 0:
		return fmt.Errorf("no metrics, only %s", strings.Join(header, ", "))
	}
	return nil
}
