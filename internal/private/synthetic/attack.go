package synthetic

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/private/gram"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
)

// AttackConfig describes an attack on the membership of users by synthetic rows.
type AttackConfig struct {
	Profile string `yaml:"profile" limit:"filled"`
	// a run of train dp-ease or train dp-itemknn, from whose release synthetic users are drawn
	On     target.On        `yaml:"on"`
	Target target.Training  `yaml:"target"`
	Attack AttackerConfig   `yaml:"attack"`
	Eval   target.Intervals `yaml:"eval"`
}

// AttackerConfig sets what the attacker sees, and whom it is asked about.
type AttackerConfig struct {
	// synthetic users that the attacker sees; 0: as many as release dataset draws
	Synthetic int `yaml:"synthetic" limit:"0..100000000"`
	Users     int `yaml:"users" limit:"0..10000000"`     // most users to attack; 0: all
	Guesses   int `yaml:"guesses" limit:"1..1000000000"` // number of guesses that the attacker has
}

// DefaultAttack returns an attack on up to 2,000 users by as many synthetic users as release dataset draws.
func DefaultAttack() AttackConfig {
	c := AttackConfig{Profile: "default", Target: target.DefaultTraining(0.5), Eval: target.DefaultIntervals()}
	c.Attack.Users, c.Attack.Guesses = 2000, 100
	return c
}

// Attack returns the attack on runs of others, which it may also train.
func Attack(others []run.Task) run.Task {
	return target.Attack[AttackConfig]{
		Name: "synthetic", Method: "membership inference by synthetic rows",
		Summary: "tell users of a run from others by synthetic rows that were drawn from its release",
		Cite: "ours: the closest record, and pairs of items; see Stadler, Oprisanu, Troncoso, Synthetic Data - " +
			"Anonymisation Groundhog Day, USENIX Security 2022, arXiv 2011.07018",
		Default: DefaultAttack, Check: func(*config.Checker, AttackConfig) {},
		Parts: func(c *AttackConfig) target.Parts {
			return target.Parts{Profile: &c.Profile, On: &c.On, Target: &c.Target, Eval: &c.Eval}
		},
		Clear: "histories",
		Why: "the attacker is given the histories of the users in the clear, and is told who was in the run to be " +
			"measured; what protects the synthetic rows is in the account of the run",
		HoldOut: func(AttackConfig) string { return "users" },
		Suits:   suits, Find: find,
	}.Task(others)
}

// suits refuses runs from which no synthetic users are drawn, and those without held-out users.
func suits(_ AttackConfig, t *target.Run) error {
	if t.Task != "train dp-ease" && t.Task != "train dp-itemknn" {
		return run.Usagef("attack a run of train dp-ease or train dp-itemknn",
			"the run in %s is of %s, which releases no matrix of items", t.Dir, t.Task)
	}
	if users, _ := t.Holds(); !users {
		return run.Usagef("train with run.hold_out.users=0.5, or name a task with --train",
			"the run in %s holds no users out: there is nothing to tell apart", t.Dir)
	}
	return nil
}

// find draws synthetic users from the release of the run and scores real users by them.
func find(ctx context.Context, c AttackConfig, x *target.Attacked) (*target.Found, error) {
	k, err := gram.OpenKept(ctx, x.Dir)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	m, err := NewModel(ctx, k)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	n := c.Attack.Synthetic
	if n == 0 {
		n = drawnUsers(k)
	}
	drawn, err := m.Users(ctx, x.Env.Seed, n)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	var all []int32
	for u, items := range x.Whole.Train {
		if len(items) > 0 {
			all = append(all, int32(u))
		}
	}
	if most := c.Attack.Users; most > 0 && most < len(all) {
		all = dataset.NewLots(x.Held.Seed.Stream("synthetic users")).Some(x.Whole.UserIDs, all, most)
	}
	var q target.Question
	held, rows := x.UsersHeld(), make([][]int32, len(all))
	members := 0
	for j, u := range all {
		rows[j] = x.Whole.Train[u]
		q.Positive, q.Cluster = append(q.Positive, !held[u]), append(q.Cluster, int32(j))
		if !held[u] {
			members++
		}
	}
	if members == 0 || members == len(all) {
		return nil, run.Usagef("attack more users", "of %d users %d are members: there is nothing to tell apart",
			len(all), members)
	}
	q.Users, q.Count = all, len(all)
	q.About = fmt.Sprintf("%d users, %d of them members, by %d synthetic users", len(all), members, n)
	q.Asked, q.Measure = target.Detections("members", c.Attack.Guesses)
	s := newSight(drawn, m.Items, rows)
	length, popular := make([]float64, len(rows)), make([]float64, len(rows))
	for j, items := range rows {
		length[j] = math.Log(float64(len(items)))
		for _, i := range items {
			popular[j] += math.Log(1+s.count[i]) / float64(len(items))
		}
	}
	closest, err := s.closest(ctx)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	notes, err := bound(x.Dir)
	if err != nil {
		return nil, err
	}
	return &target.Found{
		Questions: []target.Question{q}, Budget: fmt.Sprintf("%d guesses", c.Attack.Guesses),
		Subject: "Membership of users by synthetic rows of", Positives: "members",
		Ways: []target.Way{
			target.By("pairs beyond others", "synthetic rows", "pairs of the user's items in synthetic rows, less "+
				"what they are among all attacked users: higher for members", s.beyond()),
			target.By("pairs", "synthetic rows", "mean log of how often two of the user's items are together, over "+
				"what their popularity makes of it: higher for members", s.pairs()),
			target.By("closest record", "synthetic rows",
				"cosine of the user's items with the nearest synthetic user: higher for members", closest),
			target.Floor("nothing", make([]float64, len(rows))),
			target.Floor("length of the history", length),
			target.Floor("popularity of the items", popular),
		},
		Notes: notes,
	}, nil
}

// bound returns a note on what the account of a run leaves to any attacker.
func bound(dir string) ([]string, error) {
	a, err := experiment.ReadAccount(dir)
	if err != nil || a == nil {
		return nil, err
	}
	e := float64(a.Total)
	if len(a.Units) == 0 || math.IsInf(e, 1) {
		return []string{"the run gives no guarantee: nothing bounds an attack"}, nil
	}
	delta := a.Units[0].Delta
	return []string{fmt.Sprintf("what the guarantee of the run, epsilon %.5g at delta %g for one %s, leaves to any "+
		"attack: at a rate of false positives of 1 %% at most %.2f %% true ones", e, delta, a.Units[0].Unit,
		100*mostTrue(e, delta, 0.01))}, nil
}

// mostTrue returns the largest rate of true positives at a rate of false ones under epsilon and delta (Kairouz, Oh,
// Viswanath, "The composition theorem for differential privacy", ICML 2015, theorem 2.1).
func mostTrue(e, delta, falses float64) float64 {
	return math.Min(1, math.Min(math.Exp(e)*falses+delta, 1-math.Exp(-e)*(1-delta-falses)))
}
