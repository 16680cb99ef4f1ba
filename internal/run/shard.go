package run

import "fmt"

// Shard is the part of some work that one of several processes does: number I of Of, from 1. The zero value is all of
// the work.
type Shard struct{ I, Of int }

// maxShards is the largest number of parts that work can be split into. A higher number is taken for a mistake.
const maxShards = 1000

// ParseShard reads the flag --shard: a text such as 2/3, the second of three. Empty text is all of the work.
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return Shard{}, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(text, "%d/%d%s", &s.I, &s.Of, &rest); n != 2 || s.I < 1 || s.I > s.Of || s.Of > maxShards {
		return Shard{}, &UsageError{Message: fmt.Sprintf("--shard is %q, want a part such as 2/3", text),
			Fix: "1/3, 2/3 and 3/3 together make the whole"}
	}
	return s, nil
}

// String returns the shard as in "shard 2 of 3".
func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.I, s.Of) }
