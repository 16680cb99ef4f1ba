package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/calculator/enumerate"
	"privrec/internal/run"
)

// audit makes the command that bounds epsilon from below.
func (a *App) audit() *cobra.Command {
	parent := &cobra.Command{
		Use:   "audit",
		Short: "what an epsilon is at least",
		Long: `Bounds epsilon from below, by what outputs tell of their inputs. An account bounds it
from above. If the lower bound is above the upper one, one of the two is wrong.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: group("method"),
	}
	parent.AddCommand(a.auditExact())
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
	parent.AddCommand(a.auditSequences())
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
exchanged. Classes of neighbours are those that the mechanisms treat differently.`,
		Args: wants(),
	}
	a.shows(c, func(*cobra.Command, []string) (run.Result, error) { return result(q.Answer()) })
	p := c.Flags()
	p.StringVar(&q.Variant, "mechanism", "sdp-paper", "one of "+join(enumerate.SequenceVariants()))
	p.IntVar(&q.Items, "items", 2, "number of items")
	p.IntVar(&q.Length, "length", 3, "cells of a row")
	oddsFlags(p, &q.Odds)
	return c
}

// result makes a result of an answer, and none of an error.
func result(answer *enumerate.Answer, err error) (run.Result, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}
