package dataset

// Part names the part of a split to which a row belongs.
type Part uint8

// The parts of a split.
const (
	Train Part = iota
	Valid
	Test
)

// String returns "train", "valid" or "test".
func (p Part) String() string { return [...]string{"train", "valid", "test"}[p] }

// Times holds the times of the rows of sequences, in the unit of the source: one time per row, in the order of Train,
// Valid and Test.
type Times struct{ Train, Valid, Test [][]int64 }

// dropped marks a row that belongs to no part.
const dropped Part = 255
