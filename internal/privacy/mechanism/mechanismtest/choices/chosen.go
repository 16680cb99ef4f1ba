package choices

import (
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Chosen returns the cells below a limit that a field chooses, block by block.
func Chosen(p float64, s rng.Stream, limit int64) map[int64]bool {
	f, set := mechanism.NewField(p), map[int64]bool{}
	for b := int64(0); b*f.Size < limit; b++ {
		for _, place := range f.Draw(f, s.Sub(uint64(b)), nil) {
			if c := b*f.Size + int64(place); c < limit {
				set[c] = true
			}
		}
	}
	return set
}
