package membership

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// nonMembers fails if the run was trained on all candidates.
func (c Config) nonMembers(t *target.Run) error {
	users, has := t.Holds()
	if t.Imported != nil {
		return c.brought(t, users, has)
	}
	if t.Sequences {
		if err := c.ofSequences(t); err != nil {
			return err
		}
	}
	key, other := "run.hold_out.rows", ""
	switch {
	case c.Attack.NonMembers == Test && (has || users):
		return &run.UsageError{Message: fmt.Sprintf("attack.non_members: the run in %s has users or rows held out, "+
			"which are better non-members than its test rows", t.Dir), Fix: "leave attack.non_members out"}
	case c.Attack.NonMembers == Test || c.Attack.Level == LevelInteraction && has:
		return nil
	case c.Attack.Level == LevelUser:
		if users {
			return nil
		}
		key = "run.hold_out.users"
	default:
		other = "; or attack.non_members=test takes its test rows"
	}
	return &run.UsageError{Message: fmt.Sprintf(
		"the run in %s was trained on every %s that could be asked about: there are no non-members", t.Dir,
		c.Attack.Level),
		Fix: fmt.Sprintf("train it with some held out: privrec %s --config %s --set %s=0.5 --out %s-held-out%s", t.Task,
			filepath.Join(t.Dir, "config.yaml"), key, filepath.Clean(t.Dir), other)}
}

// brought is nonMembers for an imported model with users or rows that it was not trained on. It refuses questions that
// such a model cannot answer.
func (c Config) brought(t *target.Run, users, rows bool) error {
	a := c.Attack
	refuse := func(fix, format string, args ...any) error {
		return &run.UsageError{Message: fmt.Sprintf(format, args...), Fix: fix}
	}
	if _, lists := t.Imported.(experiment.Listing); lists {
		for _, sees := range a.Sees {
			if sees != SeesLists {
				return refuse("take --set attack.sees=[lists]; or bring the vectors of users and items with privrec "+
					"import --vectors, which have scores",
					"attack.sees: %s: the model of %s shows lists and nothing behind them", sees, t.Dir)
			}
		}
	}
	if a.References > 0 {
		return refuse("take attack.references=0, thresholds of what the model shows; or train a model here with "+
			"target.task, whose training can be repeated",
			"attack.references: %d models would be trained as the target was, and another program trained that of %s",
			a.References, t.Dir)
	}
	if a.Strangers != Model {
		return refuse("leave attack.strangers out",
			"attack.strangers: %s: another program has made the lists of users whom its model does not know",
			a.Strangers)
	}
	if a.NonMembers == Test {
		for u, items := range t.Whole.Test {
			for _, i := range items {
				if _, had := slices.BinarySearch(t.Whole.Train[u], i); had {
					return refuse("take such rows out of the truth",
						"attack.non_members: %s: user %q has item %q in the truth and among the rows that were "+
							"trained on", Test, t.Whole.UserIDs[u], t.Whole.ItemIDs[i])
				}
			}
		}
		if slices.ContainsFunc(t.Whole.Test, func(items []int32) bool { return len(items) > 0 }) && !users && !rows {
			return nil
		}
		return refuse("name them with --truth, and leave --non-members out: rows that were held out are better "+
			"non-members", "attack.non_members: %s: there are no rows of the truth, or there are non-members", Test)
	}
	switch {
	case a.Level == LevelUser && !users && rows:
		return refuse("--level interaction asks about these rows; or name all rows of users whom the model was not "+
			"trained on, and whom the lists have",
			"the non-members of the model of %s are rows of users whom it was trained on: there are no users to tell "+
				"apart", t.Dir)
	case a.Level == LevelInteraction && !rows && users:
		return refuse("--level user asks about these users; or name rows, drawn at random, of users with other rows "+
			"in --train", "the non-members of the model of %s are users whom it was not trained on: there are no "+
			"rows to tell apart of users whom it was", t.Dir)
	}
	if a.Level == LevelUser && !users {
		return refuse("name a file of them with --non-members: all rows of users whom the model was not trained on, "+
			"and whom the lists have",
			"there are no users whom the model of %s was not trained on: there is nothing to tell apart", t.Dir)
	}
	if a.Level == LevelInteraction && !rows {
		return refuse("name a file of them with --non-members: rows, drawn at random, of users with other rows in "+
			"--train; or take attack.non_members=test with --truth",
			"there are no rows that the model of %s was not trained on, of users whom it was: there is nothing to "+
				"tell apart", t.Dir)
	}
	return nil
}

// ofSequences fails on questions that a model of sequences cannot answer.
func (c Config) ofSequences(t *target.Run) error {
	switch _, err := os.Stat(filepath.Join(t.Dir, experiment.ModelFile)); {
	case err != nil:
		return &run.UsageError{Message: fmt.Sprintf("the run in %s keeps no weights: it is trained again on the rows "+
			"that it is asked with, which tells nothing of those that it was trained on", t.Dir),
			Fix: "attack a network, such as train gru4rec, or the model under protocol top-n"}
	case c.Attack.NonMembers == Test:
		return &run.UsageError{Message: fmt.Sprintf(
			"attack.non_members: the run in %s is of sequences, whose test rows come later than all others", t.Dir),
			Fix: "leave attack.non_members out"}
	case c.sees(SeesVectors):
		return &run.UsageError{Message: fmt.Sprintf(
			"attack.sees: the run in %s scores by what a user did last, and keeps no vectors of users", t.Dir),
			Fix: "attack.sees=[scores, lists]"}
	}
	return nil
}

// reference trains the attacker's k-th model: with the target's configuration and a seed of its own, on a random half.
// Each draw serves two models, one for each half.
func reference(ctx context.Context, t *target.Run, own string, k int,
	level string) (dir string, h dataset.HoldOut, err error) {
	hold := run.HoldOut{Draw: t.Hold.Draw + 1 + uint64(k/2), Swap: k%2 == 1, Labels: t.Hold.Labels,
		Seed: uint64(t.Held.Seed)}
	if level == LevelUser {
		hold.Users = 0.5
	} else {
		hold.Users, hold.Rows = 0, 0.5
	}
	return practise(ctx, t, filepath.Join(own, "references", fmt.Sprint(k+1)), t.Seed+1+uint64(k), hold)
}

// shadow trains the model that the attacker practises on, with half of the users who are not attacked.
func shadow(ctx context.Context, t *target.Run, own string, apart float64) (dir string, h dataset.HoldOut, err error) {
	return practise(ctx, t, filepath.Join(own, "references", "shadow"), t.Seed+1_000_000,
		run.HoldOut{Users: 0.5, Apart: apart, Draw: t.Hold.Draw, Seed: uint64(t.Held.Seed)})
}

func practise(ctx context.Context, t *target.Run, dir string, seed uint64,
	h run.HoldOut) (string, dataset.HoldOut, error) {
	sets := []string{fmt.Sprintf("run.seed=%d", seed), fmt.Sprintf("run.hold_out.users=%v", h.Users),
		fmt.Sprintf("run.hold_out.rows=%v", h.Rows),
		fmt.Sprintf("run.hold_out.apart=%v", h.Apart), fmt.Sprintf("run.hold_out.draw=%d", h.Draw),
		fmt.Sprintf("run.hold_out.swap=%v", h.Swap), fmt.Sprintf("run.hold_out.seed=%d", h.Seed)}
	if err := experiment.Within(ctx, t.Of, filepath.Join(t.Dir, "config.yaml"), dir, seed, sets); err != nil {
		return dir, h.Of(0), fmt.Errorf("train a reference model in %s: %w", dir, err)
	}
	return dir, h.Of(0), nil
}
