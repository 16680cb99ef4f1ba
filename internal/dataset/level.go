package dataset

import "fmt"

// Level says how strong the evidence of a run on some data is.
type Level byte

// The levels of evidence. Only A and B allow "paper minus ours".
const (
	LevelA Level = 'A' // real data and the authors' own split
	LevelB Level = 'B' // real data with counts equal to the paper's
	// real data with other counts or another split than the published one, or without printed counts to compare
	LevelC Level = 'C'
	LevelD Level = 'D' // synthetic stand-in
)

// String returns the letter.
func (v Level) String() string { return string(v) }

// MarshalText writes the level as a letter.
func (v Level) MarshalText() ([]byte, error) { return []byte{byte(v)}, nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Level) UnmarshalText(b []byte) error {
	if len(b) != 1 || b[0] < 'A' || b[0] > 'D' {
		return fmt.Errorf("dataset: evidence level %q is none of A, B, C, D", b)
	}
	*v = Level(b[0])
	return nil
}

// Meaning returns a phrase that explains the level.
func (v Level) Meaning() string {
	switch v {
	case LevelA:
		return "real data and the authors' split"
	case LevelB:
		return "real data with counts equal to the paper's"
	case LevelC:
		return "real data with other rows or counts than the paper's, or none printed"
	}
	return "synthetic stand-in"
}

// grade returns the level of evidence of data. standIn and from describe the source, checks its counts, and random says
// whether the parts also depend on a seed. Level A needs the published rows in their parts, which counts alone cannot
// show.
func grade(standIn bool, from origin, random bool, checks []Check) Level {
	switch {
	case standIn:
		return LevelD
	case from == splitOther:
		return LevelC
	}
	compared := false
	for _, c := range checks {
		if !c.OK() {
			return LevelC
		}
		compared = compared || c.Paper
	}
	switch {
	case !compared:
		return LevelC
	case from == splitPublished && !random:
		return LevelA
	}
	return LevelB
}

// origin says how the split of a recipe relates to the one published by its authors.
type origin uint8

const (
	splitOwn       origin = iota // the recipe makes a split; none was published
	splitUnknown                 // the source is split, and no digest tells whether that is the authors' split
	splitOther                   // the source is split, but not as the authors published it
	splitPublished               // the rows and parts of the source are the published ones
)

// origin returns how a log's split relates to the published split of the recipe.
func (r Recipe) origin(l *Log) origin {
	switch {
	case r.Split.Kind != SplitFixed:
		return splitOwn
	case r.Digest == "":
		return splitUnknown
	case l.Digest() != r.Digest:
		return splitOther
	}
	return splitPublished
}
