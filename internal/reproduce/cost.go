package reproduce

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"privrec/internal/config"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Cost is what a whole run takes.
type Cost struct {
	Seconds float64
	Memory  int64 // bytes resident at most
	Disk    int64 // bytes of its directory
	how     basis
	workers int // that a finished run had
}

// basis says how a cost is known, the best first.
type basis int

const (
	measuredNow basis = iota // steps of the run, on this machine, now
	recorded                 // the same steps, on another machine, scaled by its speed
	alike                    // the mean of recorded runs of the same task on the same data
	guessed                  // the mean of recorded runs of the same task, or of all
)

// neutral are the keys of configurations that change no count and no shape: runs that differ
// in nothing else take the same. Every other key counts, since EdgeRand's epsilon, for
// example, makes a larger graph. A key that ends in a point stands for all below it.
var neutral = []string{
	"run.", "profile", "data.items", "data.users", "data.sizes.", "train.epochs", "train.rate", "train.l2",
	"train.momentum", "train.decay_every",
	"model.init.", "model.norm", "model.dropout", "model.dropout_init", "model.dropout_user", "model.lambda",
	"model.lambda_users", "model.common",
	"privacy.epsilon", "privacy.delta", "privacy.clip", "privacy.transitions.", "privacy.features.epsilon",
	"features.epsilon", "loss.epsilon", "auxiliary.epsilon",
}

// effort returns what the cost of a run depends on: a key that runs of equal steps share, and
// the epochs that multiply them, 1 where the task knows none.
func (r *Run) effort() (key string, epochs int, err error) {
	text, err := r.plan.Config()
	if err != nil {
		return "", 0, err
	}
	values, err := config.Flat(filepath.Base(r.Dir), text)
	if err != nil {
		return "", 0, err
	}
	epochs = 1
	if n, err := strconv.Atoi(values["train.epochs"]); err == nil && n > 0 {
		epochs = n
	}
	var b strings.Builder
	fmt.Fprintln(&b, r.entry.task)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if !strings.HasPrefix(k, onRuns+".") && !(k == onRun && len(r.about) > 0) &&
			!slices.ContainsFunc(neutral,
				func(n string) bool { return k == n || strings.HasSuffix(n, ".") && strings.HasPrefix(k, n) }) {
			fmt.Fprintf(&b, "%s=%s\n", k, values[k])
		}
	}
	for _, of := range r.about {
		k, _, err := of.effort()
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintln(&b, k)
	}
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(b.String()))), epochs, nil
}

// costs is the table of recorded costs: what finished runs took, and for long ones what a few
// measured steps of them say, at the speed of the fastest step.
//
//go:embed costs.csv
var costs []byte

// costRecord is one line of that table.
type costRecord struct {
	key, task, data string
	standIn         bool // the data are generated
	epochs          int
	Cost
}

// costTable is the table of recorded costs, and the speed of the machine that made it.
type costTable struct {
	speed   float64 // of speed
	records []costRecord
}

// costColumns heads the table.
var costColumns = []string{"key", "task", "data", "epochs", "seconds", "memory_mb", "disk_kb"}

// known returns the recorded costs.
var known = sync.OnceValues(func() (*costTable, error) { return readCosts(bytes.NewReader(costs)) })

// readCosts reads a table of costs. Its first line says the speed of the machine, as in
// "# 95.2 billion multiplications a second".
func readCosts(r io.Reader) (*costTable, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t := &costTable{}
	if _, err := fmt.Sscanf(string(text), "# %g billion", &t.speed); err != nil || !(t.speed > 0) {
		return nil, fmt.Errorf("costs.csv:1: want the speed of the machine")
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comment, in.FieldsPerRecord = '#', len(costColumns)
	rows, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("costs.csv: %w", err)
	}
	for i, row := range rows {
		if i == 0 {
			continue
		}
		var n [4]float64
		for k := range n {
			if n[k], err = strconv.ParseFloat(row[3+k], 64); err != nil || !(n[k] >= 0) || math.IsInf(n[k], 0) {
				return nil, fmt.Errorf("costs.csv: row %d: %s is %q, want a number", i, costColumns[3+k], row[3+k])
			}
		}
		t.records = append(t.records, costRecord{row[0], row[1], row[2], generated(row[2]), max(1, int(n[0])),
			Cost{Seconds: n[1], Memory: int64(n[2]) << 20, Disk: int64(n[3]) << 10, how: recorded}})
	}
	return t, nil
}

// cost returns what a whole run takes, as recorded costs tell it, in seconds of the machine
// that recorded them.
func (r *Run) cost() Cost {
	t, err := known()
	if err != nil {
		return Cost{Seconds: 1, how: guessed}
	}
	key, epochs, err := r.effort()
	if err != nil {
		return Cost{Seconds: 1, how: guessed}
	}
	return t.of(key, r.entry.task.String(), r.Data, epochs)
}

// of looks up the cost of a run with so many epochs: that of equal steps, or the mean of those
// of the same task on the same data, of the same task, or of all as they are.
func (t *costTable) of(key, task, data string, epochs int) Cost {
	standIn := generated(data)
	for _, how := range []struct {
		basis
		is func(c costRecord) bool
	}{
		{recorded, func(c costRecord) bool { return c.key == key }},
		{alike, func(c costRecord) bool { return c.task == task && c.data == data }},
		{guessed, func(c costRecord) bool { return c.task == task && c.standIn == standIn }},
		{guessed, func(c costRecord) bool { return c.standIn == standIn }},
	} {
		sum, n := Cost{how: how.basis}, 0
		for _, c := range t.records {
			if how.is(c) {
				n++
				if c.task == task {
					c.Seconds *= float64(epochs) / float64(c.epochs)
				}
				sum.Seconds += c.Seconds
				sum.Memory, sum.Disk = max(sum.Memory, c.Memory), max(sum.Disk, c.Disk)
			}
		}
		if n > 0 {
			sum.Seconds /= float64(n)
			return sum
		}
	}
	return Cost{Seconds: 1, how: guessed}
}

// generated reports whether a data set is a stand-in: these are small.
func generated(data string) bool {
	standIn, err := knownData(data)
	return err == nil && standIn
}

// speedOn is speed on so many workers. It leaves that number set.
func speedOn(workers int) float64 {
	tensor.SetWorkers(workers)
	return speed()
}

// speed measures the machine: billions of multiplications a second of dense products on the
// present workers, the best of some. It takes about a tenth of a second.
func speed() float64 {
	const n, times = 384, 12
	a, b, c := tensor.New(n, n), tensor.New(n, n), tensor.New(n, n)
	for i := range a.Data {
		a.Data[i], b.Data[i] = tensor.Float(i%7), tensor.Float(i%5)
	}
	best := math.Inf(1)
	for range times {
		began := time.Now()
		tensor.Gemm(false, false, 1, a, b, 0, c)
		best = min(best, time.Since(began).Seconds())
	}
	return n * n * n / best / 1e9
}

// spent returns what a finished run took, from its manifest and its directory: of each attempt
// the time that passed, or the processor time where that is less, as it is beside other work.
// ok is false where the run is not finished.
func (r *Run) spent() (c Cost, ok bool) {
	m, err := run.ReadManifest(r.Dir)
	if err != nil || m.Status != run.StatusDone {
		return c, false
	}
	c.Seconds = m.Took()
	for _, a := range m.Attempts {
		c.Memory, c.workers = max(c.Memory, a.PeakRSSBytes), a.Machine.Workers
	}
	err = filepath.WalkDir(r.Dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			c.Disk += info.Size()
		}
		return err
	})
	return c, err == nil
}

// Recorded counts the runs of a plan whose cost is recorded, and the others.
func (p *Plan) Recorded() (have, lack int) {
	for _, r := range p.runs {
		if r.cost().how == recorded {
			have++
		} else {
			lack++
		}
	}
	return have, lack
}
