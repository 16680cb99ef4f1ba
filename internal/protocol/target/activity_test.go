package target_test

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/protocol/target"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// settings describe an attack: the run, the training of one, and the intervals.
type settings struct {
	Profile string           `yaml:"profile" limit:"filled"`
	On      target.On        `yaml:"on"`
	Target  target.Training  `yaml:"target"`
	Eval    target.Intervals `yaml:"eval"`
}

// activity is an attack on the runs of others: it tells users with long histories from others by what a model shows.
func activity(others []run.Task) run.Task {
	return target.Attack[settings]{
		Name: "activity", Method: "activity inference",
		Summary: "tell users with long histories from others by what a model shows of them",
		Clear:   "histories", Why: "the attack is told the lengths of the histories to be measured",
		Default: func() settings {
			return settings{"default", target.On{}, target.DefaultTraining(0.5), target.DefaultIntervals()}
		},
		Parts: func(c *settings) target.Parts {
			return target.Parts{Profile: &c.Profile, On: &c.On, Target: &c.Target, Eval: &c.Eval}
		},
		Find: findActive,
	}.Task(others)
}

// findActive scores every user by the mean of the model's scores for them.
func findActive(ctx context.Context, _ settings, x *target.Attacked) (*target.Found, error) {
	var q target.Question
	var length []int
	for u, items := range x.Given.Train {
		if len(items) > 0 {
			q.Users, length = append(q.Users, int32(u)), append(length, len(items))
		}
	}
	median := slices.Sorted(slices.Values(length))[len(length)/2]
	for k, n := range length {
		q.Positive, q.Cluster = append(q.Positive, n > median), append(q.Cluster, int32(k))
	}
	q.Count, q.About = len(q.Users), fmt.Sprintf("%d users, active above %d items", len(q.Users), median)
	q.Asked, q.Measure = target.Detections("active users", 100)
	mean := make([]float64, len(q.Users))
	err := x.Scores(ctx, q.Users, func(k int, scores []tensor.Float) {
		for _, s := range scores {
			mean[k] += float64(s) / float64(len(scores))
		}
	})
	return &target.Found{
		Questions: []target.Question{q}, Budget: "100 guesses",
		Subject: "Activity of users of", Positives: "active users",
		Ways: []target.Way{
			target.By("mean score", "scores", "mean score of all items: higher for active users", mean),
			target.Floor("nothing", make([]float64, len(mean))),
		},
	}, err
}
