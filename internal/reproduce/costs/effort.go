package costs

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// neutral are the keys of configurations that change no count and no shape: runs that differ
// in nothing else take the same. Every other key counts, since EdgeRand's epsilon, for
// example, makes a larger graph. A key that ends in a point stands for all below it.
var neutral = []string{
	"run.", "profile", "data.items", "data.users", "data.sizes.", "train.epochs", "train.rate", "train.l2",
	"train.momentum", "train.decay_every",
	"model.init.", "model.norm", "model.dropout", "model.dropout_init", "model.dropout_user", "model.lambda",
	"model.lambda_users", "model.common",
	"privacy.epsilon", "privacy.delta", "privacy.clip", "privacy.transitions.", "privacy.features.epsilon",
	"features.epsilon", "loss.epsilon", "auxiliary.epsilon",
}

// Effort returns what the cost of a run depends on: a key that runs of equal steps share, and
// the epochs that multiply them, 1 where the task knows none.
func Effort(r *roster.Run) (key string, epochs int, err error) {
	values, err := r.Plan.Values()
	if err != nil {
		return "", 0, err
	}
	epochs = 1
	if n, err := strconv.Atoi(values["train.epochs"]); err == nil && n > 0 {
		epochs = n
	}
	var b strings.Builder
	fmt.Fprintln(&b, r.Entry.Task)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if !strings.HasPrefix(k, grid.OnRuns+".") && !(k == grid.OnRun && len(r.Before) > 0) &&
			!slices.ContainsFunc(neutral,
				func(n string) bool { return k == n || strings.HasSuffix(n, ".") && strings.HasPrefix(k, n) }) {
			fmt.Fprintf(&b, "%s=%s\n", k, values[k])
		}
	}
	for _, of := range r.Before {
		k, _, err := Effort(of)
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintln(&b, k)
	}
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(b.String()))), epochs, nil
}
