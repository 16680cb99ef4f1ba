// Package attack offers attribute inference (package protocol/inference) as a task, and sets
// what GERAI's paper prints of it beside: Zhang et al., "Graph Embedding for Recommendation
// against Attribute Inference Attacks", WWW 2021.
//
//	paper                                         here
//	section 5.3, network of the attacker          attack/attribute, dnn
//	section 5.3, x in {0,1}^items                 protocol/inference, interactions+lists
//	section 5.3, F1 of 80 % and 20 % of the users protocol/inference, micro F1 of five splits
//	tables 2, 4 and 5                             printed.go
package attack

import (
	"context"

	"privrec/internal/protocol/inference"
	"privrec/internal/run"
)

const cite = "Zhang et al., Graph Embedding for Recommendation against Attribute Inference Attacks, WWW 2021, arXiv " +
	"2101.12549"

// Task returns the attack on runs of others, on files of lists, and on data sets.
func Task(others []run.Task) run.Task {
	return run.Spec[inference.Config]{
		Verb: "attack", Name: "attribute", Cite: cite,
		Summary: "predict attributes of users from what they had and were recommended",
		Flags: []run.Flag{
			{Name: "on", Key: "on.runs", List: true,
				Usage: "attack the recommendations of the finished run in this directory; may be repeated"},
			{Name: "lists", Key: "files.lists",
				Usage: "attack the recommendations in this table of user, rank and item"},
			{Name: "interactions", Key: "files.interactions",
				Usage: "what the users of --lists had: a table of user and item"},
			{Name: "recs", Key: "files.recs",
				Usage: "attack the lists in this file, of a model that another program trained"},
			{Name: "train", Key: "files.train", Usage: "with --recs, the file of rows that the model was trained on"},
			{Name: "attributes", Key: "files.attributes",
				Usage: "the attributes: a table of user and a column for each"},
		},
		Default: inference.Default, Check: inference.Check,
		Open: func(ctx context.Context, env *run.Env, c inference.Config) (run.Work, error) {
			return inference.Open(ctx, env, c, others, printedFor)
		},
	}.Task()
}
