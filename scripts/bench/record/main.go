// Command record turns the numbers of scripts/bench/all.sh into records, from which the pages of docs are filled. It
// replaces the records of the same names and keeps the others of the file. It refuses numbers that were measured while
// other programs or the host used much of the processors.
//
// Usage: record BENCH.json RECORDS.json
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"privrec/internal/record"
	"privrec/internal/run"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// measured holds the output of compare.py.
type measured struct {
	Machine struct {
		Processor struct {
			Name  string `json:"name"`
			Cores int    `json:"cores"`
		} `json:"processor"`
		Threads    int       `json:"threads"`
		Seconds    float64   `json:"seconds"`
		Rounds     int       `json:"rounds"`
		LoadBefore float64   `json:"load_before"`
		LoadAfter  float64   `json:"load_after"`
		Stolen     float64   `json:"stolen"` // percent of the processors' time that the host took
		Others     *float64  `json:"others"` // and that other programs of this machine took
		Minutes    float64   `json:"minutes"`
		Date       string    `json:"date"`
		Build      run.Build `json:"build"`
		Gather     []struct {
			Name   string  `json:"name"`
			Gbytes float64 `json:"gflops"`
		} `json:"gather"`
		Gemm map[string]map[string]any `json:"gemm"`
	} `json:"machine"`
	Rows []struct {
		Key     string            `json:"key"`
		Columns map[string]column `json:"columns"`
	} `json:"rows"`
}

// column holds one program in one mode.
type column struct {
	Median float64 `json:"median_s"`
	Least  float64 `json:"min_s"`
	MB     float64 `json:"mb"`
}

func write(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: record BENCH.json RECORDS.json")
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var m measured
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if len(m.Rows) == 0 {
		return fmt.Errorf("%s has no rows", args[0])
	}
	if err := m.alone(); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	f, err := record.Open(args[1])
	if err != nil {
		return err
	}
	if f.About == "" {
		f.About = "measurements of speed on " + m.Machine.Processor.Name + ", by scripts/bench/all.sh"
	}
	put := func(name string, values map[string]float64) {
		f.Put(record.Record{Name: name, Measured: &record.Measured{
			Command: fmt.Sprintf("scripts/bench/all.sh %d %g %d", m.Machine.Threads, m.Machine.Seconds,
				m.Machine.Rounds), Values: values,
			Commit: m.Machine.Build.Commit, Build: record.Build(m.Machine.Build), Date: m.Machine.Date,
			Machine: record.Machine(run.Machine{CPU: m.Machine.Processor.Name, Cores: m.Machine.Processor.Cores,
				Workers: m.Machine.Threads}),
		}})
	}
	about := map[string]float64{
		"load before": m.Machine.LoadBefore, "load after": m.Machine.LoadAfter, "stolen percent": m.Machine.Stolen,
		"others percent": *m.Machine.Others,
		"seconds":        m.Machine.Seconds, "rounds": float64(m.Machine.Rounds), "minutes": m.Machine.Minutes,
	}
	for _, g := range m.Machine.Gather {
		about[strings.ReplaceAll(g.Name, "_", " ")+" GB/s"] = g.Gbytes
	}
	put("machine", digits(about))
	for peer, g := range m.Machine.Gemm {
		values := map[string]float64{}
		for field, v := range g {
			if x, ok := v.(float64); ok {
				values[field] = x
			}
		}
		put(recordName("gemm-"+peer), digits(values))
	}
	for _, r := range m.Rows {
		put(recordName(r.Key), digits(values(r.Columns)))
	}
	return f.Write(args[1])
}

// busy is the largest percentage of the processors' time that others may have taken from a record.
const busy = 3

// alone returns an error if others took so much of the machine that the numbers are no record of it.
func (m measured) alone() error {
	switch a := m.Machine; {
	case a.Others == nil:
		return errors.New("it does not say what other programs took of the processors' time: measure again")
	case *a.Others > busy || a.Stolen > busy:
		return fmt.Errorf("other programs took %.1f %% of the processors' time and the host %.1f %%, a record wants at "+
			"most %d %% each: measure again on an idle machine", *a.Others, a.Stolen, busy)
	}
	return nil
}

// values returns the numbers of a row: for every column its median and minimum in milliseconds and its memory, and for
// peers how many times longer they take.
func values(columns map[string]column) map[string]float64 {
	out := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		c := columns[name]
		out[name+" ms"], out[name+" least ms"], out[name+" MB"] = 1e3*c.Median, 1e3*c.Least, c.MB
		ours, ok := columns["privrec"]
		if strings.HasSuffix(name, " avx2") {
			ours, ok = columns["privrec-avx2"]
		}
		if !strings.HasPrefix(name, "privrec") && ok {
			out[name+" ratio"], out[name+" ratio of minima"] = c.Median/ours.Median, c.Least/ours.Least
		}
	}
	return out
}

// digits rounds to four digits, which is more than a measurement has.
func digits(values map[string]float64) map[string]float64 {
	for name, v := range values {
		if v != 0 {
			at := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
			values[name] = math.Round(v*at) / at
		}
	}
	return values
}

// recordName returns a key as the name of a record.
func recordName(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "-") }
