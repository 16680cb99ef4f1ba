package exposure

import (
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/train"
)

// Outcome is what a run measured: metrics.json. It holds no times, so that a resumed run
// writes the same bytes. Scores are shares.
type Outcome struct {
	Method      string              `json:"method"`
	Setting     string              `json:"setting"` // the profile, and what differs from it
	Data        DataSummary         `json:"data"`
	Metrics     []metrics.Metric    `json:"metrics"`
	Definitions map[string]string   `json:"definitions"`
	Floors      []Scores            `json:"floors"`      // under the main protocol, those with as many guesses last
	Evaluations []Scores            `json:"evaluations"` // the attack under every protocol, the main one first
	Protocols   []ProtocolOutcome   `json:"protocols"`
	Protection  *ProtectionOutcome  `json:"protection,omitempty"`
	Figures     *Figures            `json:"figures,omitempty"`
	Selected    int                 `json:"selected_epoch"` // of the reported attack, from 1
	Cap         int                 `json:"epoch_cap"`
	Stopped     bool                `json:"stopped_early"`
	Short       string              `json:"short,omitempty"` // why the training is shorter than that of its profile, and not set against the paper
	Steps       int                 `json:"steps"`
	Epochs      []train.EpochRecord `json:"epochs"`
}

// Scores is one row of results: means over pairs, and over users of their pairs' means.
type Scores struct {
	Name      string                `json:"name"`
	Values    map[string]float64    `json:"values"`
	Users     map[string]float64    `json:"users,omitempty"`
	Intervals map[string][2]float64 `json:"intervals,omitempty"` // of Values, users resampled
	Guesses   map[string]float64    `json:"guesses,omitempty"`   // mean number of distinct items named, by cutoff
}

// ProtocolOutcome is one protocol: candidates, and how many guesses.
type ProtocolOutcome struct {
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

// ProtectionOutcome is what was done to the slates.
type ProtectionOutcome struct {
	Mechanism string  `json:"mechanism"`
	Attacker  string  `json:"attacker"`
	Replaced  float64 `json:"replaced"` // share of positions that hold another item
	Accuracy  share   `json:"accuracy"` // of recommendations, positions
	Before    share   `json:"accuracy_before"`
	Keep      float64 `json:"keep,omitempty"` // of rr: probability that a position stays
	Epsilon   float64 `json:"epsilon,omitempty"`
	Blind     int64   `json:"slates_without_reference,omitempty"`
}

// summary describes the data.
func (x *experiment) summary() DataSummary {
	d := DataSummary{
		Name: x.set.Name, Hash: x.set.Hash, Level: x.set.Level, Items: x.set.Vocab - firstItem, Users: len(x.set.Users),
		TrainPairs: x.whole.Len(), Trained: x.train.Len(), ValidPairs: x.valid.Len(), TestPairs: x.test.Len(), Ladder: x.set.Ladder,
	}
	for _, ok := range x.test.Complete {
		if ok {
			d.Complete++
		}
	}
	return d
}

// protected says what was done to the slates; nil where nothing was.
func (x *experiment) protected() *ProtectionOutcome {
	if x.protection == nil {
		return nil
	}
	c, r := x.cfg.Protect, x.protection.report
	s := Setting{Select: c.Select, Replace: c.Replace, Ratio: c.Ratio, Epsilon: c.Epsilon}
	before, _ := Accuracy(x.set, x.set.Test)
	after, _ := Accuracy(x.set, x.test)
	return &ProtectionOutcome{Mechanism: s.String(), Attacker: c.Attacker, Replaced: float64(r.Replaced) / float64(max(1, len(x.test.Slates))),
		Accuracy: share(after), Before: share(before), Keep: r.Keep, Epsilon: r.Epsilon, Blind: r.Blind}
}
