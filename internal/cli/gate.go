package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/calculator"
)

// gate holds answers about privacy to what its flags ask, so that a pipeline can stop at one that is not good enough.
type gate struct {
	most   float64 // epsilon
	asked  bool    // most is one of the flags
	strict bool
	text   string
}

// flags gives a command the flags of a gate.
func (g *gate) flags(c *cobra.Command) {
	c.Flags().StringVar(&g.text, "max-epsilon", "", "exit with code 4 where epsilon is above this, or infinite")
	c.Flags().BoolVar(&g.strict, "strict", false,
		"exit with code 4 where something is open, assumed or does not fit, whatever epsilon is")
}

// ready reads the flags.
func (g *gate) ready() (err error) {
	if g.text == "" {
		return nil
	}
	g.asked = true
	if g.most, err = strconv.ParseFloat(g.text, 64); err != nil || !(g.most >= 0) || math.IsInf(g.most, 1) {
		return usagef("a number, at least 0", "--max-epsilon is %q, want a finite number of at least 0", g.text)
	}
	return nil
}

// promised is the epsilon of one unit.
type promised struct {
	unit    string
	epsilon float64
}

// hold fails where an answer is not good enough: by an epsilon, or by what makes it doubtful.
func (g *gate) hold(all []promised, doubts []string) error {
	var e notHeld
	if g.asked {
		for _, p := range all {
			if !(p.epsilon <= g.most) {
				e.why = append(e.why, fmt.Sprintf("epsilon of one %s is %s, and --max-epsilon is %v", p.unit,
					calculator.RoundUp(p.epsilon, 6), g.most))
			}
		}
		if len(all) == 0 {
			e.why = append(e.why, fmt.Sprintf("no epsilon is known, and --max-epsilon is %v", g.most))
		}
	}
	if g.strict {
		for _, d := range doubts {
			e.why = append(e.why, "--strict: "+d)
		}
	}
	if len(e.why) == 0 {
		return nil
	}
	return &e
}

// notHeld is the error of an answer that a gate does not let through. The answer is shown all the same.
type notHeld struct{ why []string }

// Error gives one reason a line.
func (e *notHeld) Error() string { return strings.Join(e.why, "\n") }
