package roster

import (
	"fmt"

	"privrec/internal/run"
)

// Shard is the part of the runs that one of several processes makes: number I of Of, from 1.
// The zero value is all runs.
type Shard struct{ I, Of int }

// ParseShard reads a shard such as "2/3". Empty text is all runs.
func ParseShard(text string) (s Shard, err error) {
	s.I, s.Of, err = run.ParsePart("--shard", text)
	return s, err
}

// String writes a shard as in "shard 2 of 3".
func (s Shard) String() string { return fmt.Sprintf("shard %d of %d", s.I, s.Of) }

// Has reports whether a run is made by the process of this shard.
func (s Shard) Has(r *Run) bool { return s.Of == 0 || r.Part == s.I }
