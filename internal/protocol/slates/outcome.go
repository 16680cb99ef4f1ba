package slates

import (
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// Scores is one row of results: means over pairs, and over users of their pairs' means.
type Scores struct {
	Name      string                `json:"name"`
	Values    map[string]float64    `json:"values"`
	Users     map[string]float64    `json:"users,omitempty"`
	Intervals map[string][2]float64 `json:"intervals,omitempty"` // of Values, users resampled
	Guesses   map[string]float64    `json:"guesses,omitempty"`   // mean number of distinct items named, by cutoff
}

// Outcome is one protocol: candidates, and how many guesses.
type Outcome struct {
	Name       string   `json:"name"`
	Vocabulary string   `json:"vocabulary"`
	Budget     string   `json:"budget"`
	Pairs      int      `json:"pairs"`
	Users      int      `json:"users"`
	Left       int      `json:"left_out"`             // pairs that the setting does not count (B4)
	Candidates float64  `json:"candidates,omitempty"` // of a pair, mean; 0: all items
	Attack     Scores   `json:"attack"`
	Floors     []Scores `json:"floors"`
	// Equal are the floors with as many distinct guesses as the attack made for every pair,
	// where it may make fewer than theirs; FloorGuesses says then in words how many they have.
	Equal        []Scores `json:"equal_floors,omitempty"`
	FloorGuesses string   `json:"floor_guesses,omitempty"`
	// Gains are what the attack finds more than a floor that names as many distinct items
	// for every pair: the leak.
	Gains []Gain `json:"gains"`
	// Counts are what counts of clicks before such slates find more than each floor that reads
	// no slate. They are an attack without training: what they find is a leak too.
	Counts []Counted `json:"counts"`
}

// Counted is what one way to count finds beyond floors that name as many distinct items for every
// pair.
type Counted struct {
	Name  string `json:"name"`
	Gains []Gain `json:"gains"`
}

// Gain is a difference of means over pairs, with its interval; users are resampled.
type Gain struct {
	Over     string     `json:"over"`
	Metric   string     `json:"metric"`
	Floor    float64    `json:"floor"` // of the floor with as many guesses
	Value    float64    `json:"value"`
	Interval [2]float64 `json:"interval"`
	Unequal  int        `json:"unequal_pairs,omitempty"` // for which the floor ran out of items to name
}

// Leaks says that the attack surely finds more than the floor.
func (g Gain) Leaks() bool { return g.Interval[0] > 0 }

// NamedValues are values of something with a name.
type NamedValues struct {
	Name   string             `json:"name"`
	Values map[string]float64 `json:"values"`
}

// row is the row in the order of the metrics, for a comparison.
func (s Scores) row(ms []metrics.Metric) report.Row {
	r := report.Row{Label: s.Name}
	for _, m := range ms {
		r.Values = append(r.Values, s.Values[m.String()])
	}
	return r
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	Name       string         `json:"name"`
	Hash       string         `json:"sha256"`
	Level      dataset.Level  `json:"evidence_level"`
	Items      int            `json:"items"` // that can be guessed
	Users      int            `json:"users"`
	TrainPairs int            `json:"train_pairs"`
	Trained    int            `json:"trained_pairs"` // of them, trained on
	ValidPairs int            `json:"valid_pairs"`
	TestPairs  int            `json:"test_pairs"`
	Complete   int            `json:"complete_test_pairs"` // without an item new to the attacker
	Ladder     dataset.Ladder `json:"ladder"`
}

// Summary describes the data.
func (b *Bench) Summary() DataSummary {
	d := DataSummary{
		Name: b.Set.Name, Hash: b.Set.Hash, Level: b.Set.Level, Items: b.Set.Vocab - FirstItem, Users: len(b.Set.Users),
		TrainPairs: b.Whole.Len(), Trained: b.Train.Len(), ValidPairs: b.Valid.Len(), TestPairs: b.Test.Len(), Ladder: b.Set.Ladder,
	}
	for _, ok := range b.Test.Complete {
		if ok {
			d.Complete++
		}
	}
	return d
}
