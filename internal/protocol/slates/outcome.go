package slates

import (
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
)

// Outcome holds the measurements under one protocol: a set of candidates and a budget of guesses.
type Outcome struct {
	Name       string `json:"name"`
	Vocabulary string `json:"vocabulary"`
	Budget     string `json:"budget"`
	Pairs      int    `json:"pairs"`
	Users      int    `json:"users"`
	// pairs that the setting does not count: a repeated click, a list that ended early
	Left       int                 `json:"left_out"`
	Candidates float64             `json:"candidates,omitempty"` // of a pair, mean; 0: all items
	Attack     experiment.Scores   `json:"attack"`
	Floors     []experiment.Scores `json:"floors"`
	// Equal holds the floors with as many distinct guesses for every pair as the attack made, if it may make fewer than
	// they do. FloorGuesses then describes their number in words.
	Equal        []experiment.Scores `json:"equal_floors,omitempty"`
	FloorGuesses string              `json:"floor_guesses,omitempty"`
	// Gains holds what the attack finds beyond each floor that names as many distinct items for every pair: the leak.
	Gains []Gain `json:"gains"`
	// Counts holds the gains of counts of clicks before such slates over each floor that reads no slate. They are an
	// attack without training, so their gains are a leak too.
	Counts []Counted `json:"counts"`
}

// Counted holds the gains of one way of counting over floors that name as many distinct items for every pair.
type Counted struct {
	Name  string `json:"name"`
	Gains []Gain `json:"gains"`
}

// Gain holds a difference of means over pairs, with its interval from resampled users.
type Gain struct {
	Over     string     `json:"over"`
	Metric   string     `json:"metric"`
	Floor    float64    `json:"floor"` // of the floor with as many guesses
	Value    float64    `json:"value"`
	Interval [2]float64 `json:"interval"`
	Unequal  int        `json:"unequal_pairs,omitempty"` // for which the floor ran out of items to name
}

// Cells returns the gains of the attack, and of counts of clicks, over floors with as many guesses, for every protocol.
func Cells(protocols []Outcome) (all []experiment.Cell) {
	for i := range protocols {
		p := &protocols[i]
		add := func(row string, gains []Gain) {
			for _, g := range gains {
				c := experiment.Beyond(row, g.Metric, g.Over, g.Floor, g.Value, &g.Interval)
				c.Under, c.Sees, c.Budget = p.Name, "the list", p.Budget+" guesses"
				c.About = fmt.Sprintf("%d lists", p.Pairs)
				all = append(all, c)
			}
		}
		add("attack", p.Gains)
		for _, c := range p.Counts {
			add(c.Name, c.Gains)
		}
	}
	return all
}

// Leaks reports whether the attack surely finds more than the floor.
func (g Gain) Leaks() bool { return g.Interval[0] > 0 }

// NamedValues holds a name and its values.
type NamedValues struct {
	Name   string             `json:"name"`
	Values map[string]float64 `json:"values"`
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Items      int `json:"items"` // that can be guessed
	Users      int `json:"users"`
	TrainPairs int `json:"train_pairs"`
	Trained    int `json:"trained_pairs"` // of them, trained on
	ValidPairs int `json:"valid_pairs"`
	TestPairs  int `json:"test_pairs"`
	Complete   int `json:"complete_test_pairs"` // without an item new to the attacker
}

// Summary returns the description of the data.
func (b *Bench) Summary() DataSummary {
	d := DataSummary{
		Data: experiment.Data{Name: b.Set.Name, Level: b.Set.Level, Ladder: b.Set.Ladder,
			Source: dataset.Source{Title: b.Set.Name, Hash: b.Set.Hash, StandIn: b.Set.StandIn, Level: b.Set.Level,
				Notes: b.Set.Doubts}},
		Items: b.Set.Vocab - FirstItem, Users: len(b.Set.Users),
		TrainPairs: b.Whole.Len(), Trained: b.Train.Len(), ValidPairs: b.Valid.Len(), TestPairs: b.Test.Len(),
	}
	for _, ok := range b.Test.Complete {
		if ok {
			d.Complete++
		}
	}
	return d
}
