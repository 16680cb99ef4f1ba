package dipsgnn

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"privrec/internal/dataset/registry"

	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/stats"
)

// Speed says how long a whole run of a shipped setting would take on this machine.
type Speed struct {
	Task        string  `json:"task"`         // dipsgnn, srgnn, apgnn
	Data        string  `json:"data"`         // the set whose size is meant; it need not be here
	Items       int     `json:"items"`        // ranked
	Samples     int     `json:"samples"`      // of training
	Steps       int     `json:"steps"`        // of training, when nothing stops early
	StepSeconds float64 `json:"step_seconds"` // median of those measured; 0: not measured, it would have taken too long
	Seconds     float64 `json:"seconds"`      // of the run, at most; 0: not measured
}

// speedsEnough is when no further setting is begun, and speedLeast the steps that one
// takes however slow the machine, those that warm up included.
const (
	speedsEnough = 2500 * time.Millisecond
	speedLeast   = 5
)

// speedEffort is small, as several settings are measured.
var speedEffort = nextitem.Effort{Steps: 30, Time: 200 * time.Millisecond, Samples: 200}

// extent is a set's size as a paper prints it.
type extent struct {
	set            string
	items, samples int
	longest        int // length of a sequence
}

// Speeds measures real training steps and rankings at the sizes of the paper's data sets, and
// multiplies by what a run does. It generates the sessions, so no data set is needed. It takes
// about a second, and at least three steps a setting.
func Speeds(ctx context.Context) ([]Speed, error) {
	const seed = rng.Seed(1)
	d, err := registry.Load(ctx, "standin-demo", "dipsgnn", registry.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	type opener = func(*run.Env, *dataset.Sequential) (*nextitem.Experiment, error)
	own := func(env *run.Env, d *dataset.Sequential) (*nextitem.Experiment, error) { return on(env, Default(), d) }
	var out []Speed
	start, last := time.Now(), Speed{}
	for i, e := range extents() {
		like := e.like(d)
		methods := []opener{own}
		if i == 0 {
			methods = append(methods, baseline.SRGNN, baseline.APGNN)
		}
		for k, open := range methods {
			task := []string{"dipsgnn", "srgnn", "apgnn"}[k]
			// A step costs about as much more as the root of the catalogue is larger.
			ahead := speedLeast * last.StepSeconds * math.Sqrt(float64(e.items)/float64(max(1, last.Items)))
			if time.Since(start).Seconds()+ahead > speedsEnough.Seconds() && last.Items > 0 {
				out = append(out, Speed{Task: task, Data: e.set, Items: e.items, Samples: e.samples})
				continue
			}
			x, err := open(run.Rehearse(seed), like)
			if err != nil {
				return nil, err
			}
			v, err := speed(ctx, x, e)
			if err != nil {
				return nil, err
			}
			v.Task, last = task, v
			out = append(out, v)
		}
	}
	return out, nil
}

// speed measures one setting.
func speed(ctx context.Context, x *nextitem.Experiment, e extent) (Speed, error) {
	defer x.Close()
	r, err := x.Rehearse(ctx, speedEffort)
	if err != nil {
		return Speed{}, err
	}
	larger := float64(e.samples) / float64(r.Samples)
	v := Speed{Data: e.set, Items: e.items, Samples: e.samples, Steps: int(math.Round(larger * float64(r.Of))), StepSeconds: stats.Median(r.Steps)}
	v.Seconds = float64(v.Steps)*v.StepSeconds + larger*r.Ranking()
	return v, nil
}

// extents returns the sizes of the sets that the paper prints counts of, the smallest first.
func extents() []extent {
	var out []extent
	for _, s := range registry.All() {
		r, err := s.Recipe("dipsgnn")
		if err != nil || s.StandIn != nil {
			continue
		}
		if e := extentOf(s.Name, r); e.items > 0 && e.samples > 0 {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b extent) int { return a.samples - b.samples })
	return out
}

// extentOf reads the counts of a recipe. They are zero where the paper states none.
func extentOf(set string, r dataset.Recipe) extent {
	e := extent{set: set}
	users, rows := 0, 0
	for _, w := range r.Wants {
		switch {
		case w.Name == dataset.RungTrain && w.Samples > 0:
			e.samples = w.Samples
		case w.Paper && strings.HasSuffix(w.Name, "-core"):
			e.items, users = max(e.items, w.Items), max(users, w.Users)
		case w.Paper && strings.HasPrefix(w.Name, "last "):
			rows = w.Rows
			users = max(users, w.Users)
		}
	}
	if e.samples == 0 && rows > 0 {
		e.samples = int(r.Split.Fraction*float64(rows)) - 3*users/2 // a sequence of n items has n-1 prefixes, and rounding costs half an item
	}
	if users > 0 {
		e.longest = rows / users // long users have most prefixes: cut there, the mean prefix is about right
	}
	return e
}

// like returns the stand-in, spread over a catalogue of another size and cut to its lengths.
func (e extent) like(d *dataset.Sequential) *dataset.Sequential {
	c := *d
	c.Items, c.CandidatesCore = e.items, e.items
	spread := func(sequences [][]int32) [][]int32 {
		out := make([][]int32, len(sequences))
		for u, seq := range sequences {
			if e.longest > 0 && len(seq) > e.longest {
				seq = seq[:e.longest]
			}
			out[u] = make([]int32, len(seq))
			for p, item := range seq {
				out[u][p] = int32(1 + (int(item)-1)*(e.items-1)/(d.Items-1))
			}
		}
		return out
	}
	c.Train, c.Test = spread(d.Train), spread(d.Test)
	for c.ItemIDs = []string{""}; len(c.ItemIDs) <= c.Items; {
		c.ItemIDs = append(c.ItemIDs, strconv.Itoa(len(c.ItemIDs)))
	}
	return &c
}
