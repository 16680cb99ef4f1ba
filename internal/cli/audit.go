package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/calculator/enumerate"
	"privrec/internal/run"
)

// audit makes the command that bounds epsilon from below, and holds printed tables against themselves.
func (a *App) audit() *cobra.Command {
	parent := &cobra.Command{
		Use:   "audit",
		Short: "an epsilon from below, printed tables against themselves",
		Long: `Bounds epsilon from below, by what outputs tell of their inputs. An account bounds it
from above. If the lower bound is above the upper one, one of the two is wrong. tables
looks for printed numbers that cannot be right.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: group("method"),
	}
	parent.AddCommand(a.auditExact(), a.auditTables())
	for _, t := range a.Tasks {
		if t.Verb == verbAudit {
			parent.AddCommand(a.task(t))
		}
	}
	return parent
}

// auditExact makes the command that finds the whole law of a mechanism on a small domain.
func (a *App) auditExact() *cobra.Command {
	parent := &cobra.Command{
		Use:   "exact",
		Short: "the worst ratio of probabilities, from the whole law of a mechanism on a small domain",
		Long: `Finds the probability of every output from every input of a small domain, and with it
the worst ratio of probabilities for each class of neighbours, with the two inputs and
the output that have it. Nothing is sampled. The claimed epsilon stands beside it; a
ratio above it is a proof that the claim is false.

What is found holds for the size that was asked for. It is no proof for larger ones.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	parent.AddCommand(a.auditSequences(), a.auditResponse(), a.auditOracle(), a.auditEdgeRand(), a.auditLapGraph())
	return parent
}

// oddsFlags declares at which epsilon a law is found.
func oddsFlags(p *pflag.FlagSet, o *enumerate.Odds) {
	p.StringVar(&o.Ratio, "odds", "", "e^epsilon as a rational number above 1, such as 4 or 7/2 (default 4)")
	p.Float64Var(&o.Epsilon, "epsilon", 0, "epsilon itself, with the thresholds that the code has there")
}

// auditSequences makes the command for mechanisms on users' sequences.
func (a *App) auditSequences() *cobra.Command {
	q := &enumerate.Sequences{}
	c := &cobra.Command{
		Use:   "pricdsr [--mechanism sdp-paper] [--items m] [--length L] [--odds x|--epsilon e]",
		Short: "PriCDSR's mechanisms on sequences, all rows of a length over a few items",
		Long: `All rows of --length cells over --items items, 0 for padding. Neighbours are those of
definition 2 of the PriCDSR paper: one cell has another value, or two cells of a row are
exchanged. Classes of neighbours are those that the mechanisms treat differently. A
repaired mechanism has those that it promises something of: sdp-user whole rows, set rows
of other items, sdp-lengths items alone.`,
		Args: wants(),
	}
	a.answers(c, func(*cobra.Command, []string) (run.Result, error) { return result(q.Answer()) })
	p := c.Flags()
	p.StringVar(&q.Variant, "mechanism", "sdp-paper", "one of "+join(enumerate.SequenceVariants()))
	p.IntVar(&q.Items, "items", 2, "number of items")
	p.IntVar(&q.Length, "length", 3, "cells of a row")
	oddsFlags(p, &q.Odds)
	return c
}

// auditResponse makes the command for randomised response.
func (a *App) auditResponse() *cobra.Command {
	q := &enumerate.Values{Kind: "grr"}
	c := &cobra.Command{
		Use:   "randomized-response [--categories k] [--odds x|--epsilon e]",
		Short: "randomised response of one value",
		Args:  wants(),
	}
	a.answers(c, func(*cobra.Command, []string) (run.Result, error) { return result(q.Answer()) })
	c.Flags().IntVar(&q.Categories, "categories", 2, "values that there are")
	oddsFlags(c.Flags(), &q.Odds)
	return c
}

// auditOracle makes the command for frequency oracles.
func (a *App) auditOracle() *cobra.Command {
	q := &enumerate.Values{}
	c := &cobra.Command{
		Use:   "frequency-oracle [--mechanism oue] [--categories k] [--odds x|--epsilon e]",
		Short: "a report of a frequency oracle: direct, unary or hashed encoding",
		Long: `One report of one value. grr sends the value by randomised response, sue and oue send a
bit for each value, olh sends a hash of the value with its function.`,
		Args: wants(),
	}
	a.answers(c, func(*cobra.Command, []string) (run.Result, error) { return result(q.Answer()) })
	c.Flags().StringVar(&q.Kind, "mechanism", "oue", "one of "+join(enumerate.Oracles()))
	c.Flags().IntVar(&q.Categories, "categories", 3, "values that there are")
	oddsFlags(c.Flags(), &q.Odds)
	return c
}

// auditEdgeRand makes the command for EdgeRand.
func (a *App) auditEdgeRand() *cobra.Command {
	q := &enumerate.EdgeRand{}
	c := &cobra.Command{
		Use:   "edgerand [--rows n] [--cols m] [--odds x|--epsilon e]",
		Short: "randomised response on every cell of a small graph",
		Long: `Every matrix of users and items of a size, as input and as output. Matrices are shown
row by row.`,
		Args: wants(),
	}
	a.answers(c, func(*cobra.Command, []string) (run.Result, error) { return result(q.Answer()) })
	c.Flags().IntVar(&q.Rows, "rows", 2, "rows of the matrix")
	c.Flags().IntVar(&q.Cols, "cols", 2, "columns of the matrix")
	oddsFlags(c.Flags(), &q.Odds)
	return c
}

// auditLapGraph makes the command for LapGraph.
func (a *App) auditLapGraph() *cobra.Command {
	q := &enumerate.LapGraph{}
	c := &cobra.Command{
		Use:   "lapgraph [--rows n] [--cols m] [--epsilon e] [--count rounded]",
		Short: "the largest cells of a small graph after Laplace noise",
		Long: `Every matrix of users and items of a size, as input and as output. The noise is
continuous and the output is not: it is a set of cells. Its probability is an integral
with a closed form, which is computed in interval arithmetic, so that the ratio has a
proved error. --count truncated is the published code's count, whose noise is cut to a
whole number before it is added.`,
		Args: wants(),
	}
	a.answers(c, func(*cobra.Command, []string) (run.Result, error) { return result(q.Answer()) })
	p := c.Flags()
	p.IntVar(&q.Rows, "rows", 2, "rows of the matrix")
	p.IntVar(&q.Cols, "cols", 2, "columns of the matrix")
	p.Float64Var(&q.Epsilon, "epsilon", 1, "epsilon of one edge, for count and cells together")
	p.Float64Var(&q.Share, "count-share", 0.01, "share of epsilon that the count takes")
	p.StringVar(&q.Count, "count", enumerate.CountRounded, "what becomes of the count's noise: rounded or truncated")
	return c
}

// result makes a result of an answer, and none of an error.
func result(answer *enumerate.Answer, err error) (run.Result, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}
