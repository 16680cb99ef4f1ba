package eval

import (
	"context"

	"privrec/internal/tensor"
)

// Visit calls visit with the scores of all items for each position in samples. Calls come from several
// goroutines, and the scores are valid until visit returns. Exclude and Candidates do not apply.
func Visit(ctx context.Context, s Scorer, samples []int32, o Options, visit func(i int, scores []tensor.Float)) error {
	o.Exclude, o.Candidates = nil, nil
	return chunks(ctx, s, samples, o, func(i int, scores []tensor.Float) string {
		visit(i, scores)
		return ""
	})
}
