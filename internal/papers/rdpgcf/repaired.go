package rdpgcf

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Split holds a budget divided between the parts of the repaired method that use edges. Together they have one finite
// epsilon:
//
//   - graph: unit rows drawn without looking at any edge are propagated once, with noise on
//     every layer of both sides. These are L joint releases in the whole run.
//   - counts: every item's number of users gets noise once, for a bias.
//   - labels: a small map on those rows is trained by DP-SGD over Poisson batches of edges,
//     with negatives among all items.
//
// Rankings and published vectors use only the noisy rows and counts and the private map.
type Split struct {
	Sigma      float64 // standard deviation of the noise on layers
	Joint      float64 // how far an edge moves both views of a layer
	Layers     int
	Counts     float64 // standard deviation of the noise on counts; 0: none are released
	Multiplier float64 // of the noise on sums of gradients, in units of the longest
	Rate       float64 // of edges in a step
	Steps      int64
	Epsilon    float64 // what both come to, at most the setting's
	Delta      float64
	Apart      bool // an edge is in the labels or in everything else

	secret *secret // noise from cryptographic bits; nil: it is seeded
}

// events returns the releases of the parts with their numbers: layers, steps, and counts if there are any.
func (s Split) events() (events []privacy.Event, count []int64) {
	if x := s.secret; x != nil {
		return x.events, []int64{int64(s.Layers), s.Steps, 1}[:len(x.events)]
	}
	layer := privacy.Gaussian{Sigma: s.Sigma, Sensitivity: s.Joint, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	step := privacy.Sampled{Rate: s.Rate, Method: privacy.Poisson,
		Event: privacy.Gaussian{Sigma: s.Multiplier, Sensitivity: 1, Unit: privacy.Edge,
			Neighbouring: privacy.AddRemove}}
	events, count = []privacy.Event{layer, step}, []int64{int64(s.Layers), s.Steps}
	if s.Counts > 0 {
		events, count = append(events, privacy.Gaussian{Sigma: s.Counts, Sensitivity: 1, Unit: privacy.Edge,
			Neighbouring: privacy.AddRemove}), append(count, 1)
	}
	return events, count
}

// branches groups the releases that one edge may take part in, by indices into events.
func (s Split) branches() [][]int {
	first, labels := []int{0}, []int{1}
	if s.Counts > 0 {
		first = append(first, 2)
	}
	if s.Apart {
		return [][]int{first, labels}
	}
	return [][]int{append(first, labels...)}
}

// epsilon returns the exact composition of the releases that one edge may take part in, for the worst edge.
func (s Split) epsilon() (worst float64, err error) {
	events, count := s.events()
	a := &Account{Delta: s.Delta}
	for _, branch := range s.branches() {
		var es []privacy.Event
		var ns []int64
		for _, i := range branch {
			es, ns = append(es, events[i]), append(ns, count[i])
		}
		eps, err := a.compose(es, ns)
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, eps)
	}
	return worst, nil
}

// Split returns the setting's budget divided for a graph with a number of label edges. GraphShare of mu² goes to the
// propagation, J sqrt(L)/sigma = mu sqrt(share), and CountShare to the counts. The labels get the least noise with
// which the exact composition is within epsilon. If no edge is in both parts, the propagation gets all except
// CountShare.
func (c Config) Split(edges int64) (Split, error) {
	s, err := c.divide(edges)
	if err != nil {
		return s, err
	}
	return s.calibrated(c)
}

// divide is Split without the noise on gradients.
func (c Config) divide(edges int64) (Split, error) {
	cal, err := c.Calibration(edges)
	if err != nil {
		return Split{}, err
	}
	mu, err := accountant.MuFor(c.Privacy.Epsilon, c.Privacy.Delta)
	if err != nil {
		return Split{}, fmt.Errorf("repaired: %w", err)
	}
	p := c.Privacy.Repaired
	s := Split{Joint: cal.Joint, Layers: cal.Layers, Rate: cal.Rate(), Steps: cal.StepsRun(), Delta: c.Privacy.Delta,
		Apart: p.LabelShare > 0}
	share := p.GraphShare
	if s.Apart {
		share = (1 - p.CountShare) * (1 - 1e-9) // room for the rounding of a sum of shares
	}
	s.Sigma = cal.Joint * math.Sqrt(float64(cal.Layers)/share) / mu
	if p.CountShare > 0 {
		s.Counts = 1 / (mu * math.Sqrt(p.CountShare))
	}
	return s, nil
}

// calibrated returns a split with the least noise on gradients.
func (s Split) calibrated(c Config) (Split, error) {
	goal := accountant.Goal{Epsilon: c.Privacy.Epsilon, Delta: s.Delta, Exposed: accountant.Exposed(s.Rate, s.Steps)}
	found, err := accountant.Calibrate(goal, 1, func(noise float64) (float64, error) {
		t, err := s.with(noise)
		if err != nil {
			return 0, err
		}
		return t.epsilon()
	})
	if err == nil {
		s, err = s.with(found.Noise)
	}
	if err != nil {
		return Split{}, fmt.Errorf("repaired: noise on gradients: %w", err)
	}
	s.Epsilon = found.Epsilon
	return s, nil
}

// with returns a split with a given multiplier of the noise on gradients.
func (s Split) with(multiplier float64) (Split, error) {
	s.Multiplier = multiplier
	if s.secret == nil {
		return s, nil
	}
	x, err := s.secret.with(multiplier)
	s.secret = x
	return s, err
}

// taken returns the assumptions of the repaired method, besides those that Account.Decide adds.
func (c Config) taken() []privacy.Assumption {
	return []privacy.Assumption{publicUnit, publicLists, publicSettings, publicReport}
}

// takes returns what the repaired method uses of its data beside edges. A stated number of edges is a setting.
func (c Config) takes() experiment.Taken {
	t := ofGraph()
	t.HowMany = []experiment.Number{{Of: "training edges", Sets: "the rate and the number of steps",
		Key: "privacy.repaired.edges", Stated: int(c.Privacy.Repaired.Edges)}}
	return t
}

// ofGraph returns what every model of the graph of users and items uses of its data: its nodes.
func ofGraph() experiment.Taken { return experiment.Taken{Items: true, Users: true} }

// labelEdges returns the number of edges assumed as labels: those of their graph, or the expected part of the stated
// number.
func (c Config) labelEdges(labels *graph.Bipartite) int64 {
	r := c.Privacy.Repaired
	switch {
	case r.Edges == 0:
		return int64(labels.Edges())
	case r.LabelShare > 0:
		return max(1, int64(float64(r.Edges)*r.LabelShare))
	}
	return r.Edges
}

// plan returns the releases of a run with this split, for one edge. It is nil if an edge is either in the labels or in
// everything else: a budget adds up all releases, and their sum is more than an edge costs.
func (s Split) plan(c Config) *privacy.Plan {
	if s.Apart {
		return nil
	}
	p := &privacy.Plan{Budget: privacy.Budget{Epsilon: c.Privacy.Epsilon, Delta: s.Delta},
		Subject: privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}}
	events, count := s.events()
	for i, purpose := range []string{purposeReleases, purposeLabels, purposeCounts}[:len(events)] {
		p.Releases = append(p.Releases, privacy.Entry{Purpose: purpose, Count: count[i], Event: events[i]})
	}
	return p
}

// account returns the account of a run with this split: everything that used edges. The run adds what the data decide
// beside them.
func (s Split) account(c Config) (*Account, error) {
	a := newAccount(c.Privacy.Method, c.Privacy.Delta, s.Sigma)
	a.Public = c.taken()
	a.Claimed = &Claim{Claim: claimed(c.Privacy.Epsilon, s.Delta, "exact composition of all parts"),
		Conversion: "exact", Rate: 1, Sensitivity: s.Joint}
	if s.secret != nil {
		a.Noise, a.Published = string(privacy.Secure), []string{experiment.ModelFile, run.LedgerName}
	}
	events, count := s.events()
	in := func(sigma, sensitivity float64) privacy.Gaussian { // in the data's unit
		return privacy.Gaussian{Sigma: sigma, Sensitivity: sensitivity}
	}
	if err := a.add("one propagation of rows that no edge entered", events[0], count[0], in(s.Sigma, s.Joint), 1,
		1); err != nil {
		return nil, err
	}
	if s.Counts > 0 {
		if err := a.add("items' numbers of users", events[2], 1, in(s.Counts, 1), 1, 1); err != nil {
			return nil, err
		}
	}
	if err := a.add("labels, by DP-SGD (noise in units of the longest gradient)", events[1], count[1],
		in(s.Multiplier, 1), 1, s.Rate); err != nil {
		return nil, err
	}
	if !s.Apart {
		return a, a.sum()
	}
	eps, err := s.epsilon()
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	a.Covered, a.CoveredBy = privacy.Number(eps),
		"the larger of the labels and of everything else: an edge is in one of them"
	a.close()
	return a, nil
}

// agree composes the ledger as the account does, and fails unless both results are equal.
func (s Split) agree(a *Account, l *privacy.Ledger) error {
	if !s.Apart {
		return a.Agree(l)
	}
	var parts [2][]privacy.Entry
	for _, e := range l.Entries() {
		part := 0
		if e.Purpose == purposeLabels {
			part = 1
		}
		parts[part] = append(parts[part], e)
	}
	worst := 0.0
	for _, entries := range parts {
		eps, err := a.composeEntries(entries)
		if err != nil {
			return err
		}
		worst = math.Max(worst, eps)
	}
	return a.same(worst)
}

// repairedRun holds the state of a run of the repaired method.
type repairedRun struct {
	cfg    Config
	split  Split
	graph  *graph.Bipartite // of the edges that are labels
	ledger *privacy.Ledger
	stream streams

	decided experiment.Account // what the data decide, beside edges

	rows *cachedRows
	m    pairMap

	fresh bool // secure noise was drawn by this attempt, and what it released is in no checkpoint yet
}

// streams returns the streams of purposes.
type streams struct {
	draws func(purpose string) rng.Stream          // what needs no secret, and may not move with another user's edges
	noise func(purpose string) (rng.Stream, error) // noise, and who is in a step
}

// Purposes of the ledger's entries and of streams.
const (
	purposeRows   = "rows that no edge entered"
	purposeLabels = "labels"
	purposeMap    = "map"
	purposeCounts = "numbers of users"
	purposeApart  = "edges apart"
)

// newRepairedRun releases the noisy rows of the edges of g under a split of the setting's budget, and prepares the map,
// which is trained on the edges of labels.
func newRepairedRun(c Config, split Split, g, labels *graph.Bipartite, l *privacy.Ledger,
	stream streams) (*repairedRun, error) {
	r := &repairedRun{cfg: c, split: split, graph: labels, ledger: l, stream: stream}
	norm, err := graph.ParseNormalizer(c.Model.Norm)
	if err != nil {
		return nil, err
	}
	if x := split.secret; x != nil {
		if r.rows, err = x.releaseRows(c.Model.Layers, c.Model.Dim, l, stream.draws(purposeRows)); err != nil {
			return nil, err
		}
		r.m = newPairMap(c.Privacy.Repaired, c.Model.Layers, c.Model.Dim, stream.draws(purposeMap))
		if split.Counts > 0 {
			bias, err := x.releaseCounts(g, l)
			if err != nil {
				return nil, err
			}
			r.m = newBiased(r.m, bias)
		}
		r.fresh = true
		return r, l.Flush("before training")
	}
	noise, err := newLayerNoise(layerNoiseOptions{sigma: split.Sigma, joint: split.Joint, layers: split.Layers, rate: 1,
		perEpoch: 1, share: 0.4}, l, stream.noise)
	if err != nil {
		return nil, err
	}
	if err := noise.At(phaseRelease, 0); err != nil {
		return nil, err
	}
	if r.rows, err = cacheRows(g, norm, c.Model.Layers, c.Model.Dim, noise, stream.draws(purposeRows)); err != nil {
		return nil, err
	}
	if err := noise.check(); err != nil {
		return nil, err
	}
	r.m = newPairMap(c.Privacy.Repaired, c.Model.Layers, c.Model.Dim, stream.draws(purposeMap))
	if split.Counts > 0 {
		s, err := stream.noise(purposeCounts)
		if err != nil {
			return nil, err
		}
		bias, err := releaseCounts(g, split.Counts, l, s)
		if err != nil {
			return nil, err
		}
		r.m = newBiased(r.m, bias)
	}
	return r, l.Flush("before training")
}

// vectors returns the vectors that are ranked and published. The score of a user and an item is the inner product of
// their rows.
func (r *repairedRun) vectors() (users, items tensor.Matrix) { return r.m.vectors(r.rows) }
