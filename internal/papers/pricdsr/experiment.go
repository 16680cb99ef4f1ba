package pricdsr

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// experiment is one model on one ordered pair of domains.
type experiment struct {
	env     *run.Env
	cfg     Config
	text    string // how the setting stands to its profile
	printed bool
	data    *dataset.Cross

	tuning, final *part // rows without and with validation items
	valid, test   *held
	lists         string // hash of what rows are ranked among
	tape          *autograd.Tape
}

// prepare makes the rows and the rankings of loaded data. The release of auxiliary rows
// is recorded in l.
func prepare(env *run.Env, c Config, d *dataset.Cross, l *privacy.Ledger) (x *experiment, err error) {
	x = &experiment{env: env, cfg: c, data: d, tape: autograd.NewTape()}
	if x.text, x.printed, err = c.standing(); err != nil {
		return nil, err
	}
	target := &d.Domains[0]
	if most := slices.Max(c.Eval.K); most > target.Items {
		return nil, &run.UsageError{Message: fmt.Sprintf("eval.k: cutoff %d is more than the %d items of %s", most, target.Items, target.Name), Fix: "leave that cutoff out"}
	}
	var auxiliary []int32
	if !c.Single() {
		if auxiliary, err = c.auxiliaryRows(&d.Domains[1], l, env.Seed, env.ConfigHash); err != nil {
			return nil, err
		}
	}
	x.tuning, x.final = c.newPart("tuning", d, auxiliary, false), c.newPart("final", d, auxiliary, true)
	lists, err := target.Lists(c.Eval.Negatives, rng.Seed(c.Eval.NegativesSeed))
	if err != nil {
		return nil, &run.UsageError{Message: err.Error(), Fix: "take fewer, by eval.negatives"}
	}
	x.lists = hashLists(lists)
	all := make([][]int32, d.Users)
	for u := range all {
		all[u] = target.Train[u]
		if v := target.Valid[u]; v != 0 {
			all[u] = append(slices.Clip(all[u]), v)
		}
	}
	x.valid = newHeld("validation", target.Valid, lists, target.Train)
	x.test = newHeld("test", target.Test, lists, all)
	return x, nil
}

// hashLists identifies what every row is ranked among.
func hashLists(lists [][]int32) string {
	h := sha256.New()
	for u, l := range lists {
		binary.Write(h, binary.LittleEndian, int32(u))
		binary.Write(h, binary.LittleEndian, l)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// floors are what the protocol gives without a model, sampled and among all items: the
// expectation of a random order, and items by how often they are in the rows.
func (x *experiment) floors(p *part) (sampled, full []Scores) {
	n := x.data.Domains[0].Items
	counts := make([]tensor.Float, n)
	for _, i := range p.rows[0] {
		if i != 0 {
			counts[i-1]++
		}
	}
	ms := x.metrics()
	popular, popularAll := make(ranks, len(x.test.users)), make(ranks, len(x.test.users))
	random, randomAll := map[string]float64{}, map[string]float64{}
	others, scores := []tensor.Float{}, make([]tensor.Float, n)
	for k, u := range x.test.users {
		item := x.test.items[k]
		if !p.known[item] {
			popular[k], popularAll[k] = math.Inf(1), math.Inf(1)
			continue
		}
		others = others[:0]
		for _, j := range x.test.lists[u] {
			others = append(others, counts[j-1])
		}
		popular[k], _ = placeOf(counts[item-1], others)
		copy(scores, counts)
		popularAll[k] = placeAmong(scores, item, x.test.seen[u])
		for _, m := range ms {
			random[m.String()] += m.Random(1+len(others), 1) / float64(len(x.test.users))
			randomAll[m.String()] += m.Random(n-len(x.test.seen[u]), 1) / float64(len(x.test.users))
		}
	}
	return []Scores{{Name: "random", Values: random}, newScores("popularity", ms, popular)},
		[]Scores{{Name: "random", Values: randomAll}, newScores("popularity", ms, popularAll)}
}

// newScores is the means of some places.
func newScores(name string, ms []metrics.Metric, r ranks) Scores {
	s := Scores{Name: name, Values: map[string]float64{}}
	for _, m := range ms {
		s.Values[m.String()] = r.mean(m)
	}
	return s
}
