package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// calculator is what the privacy calculator knows of one mechanism: its flags,
// who can account it, and the event that a release of it is.
type calculator struct {
	name, summary, long string
	noise               string   // the flag that calibrate finds; empty: none
	flags               []string // the other numbers of a release
	accountants         []accountant.Method
	relations           []privacy.Neighbouring // that --neighbouring takes; empty: no such flag
	sampling            bool                   // has --sampling
	unit                privacy.Unit
	release             func(q *question) (privacy.Event, error)
	describe            func(q *question) string // the releases, in words
}

// every is the accountants that take any mechanism.
var every = []accountant.Method{accountant.Contour, accountant.RDP, accountant.PLD}

func calculators() []*calculator {
	anyRelation := []privacy.Neighbouring{privacy.AddRemove, privacy.Replace, privacy.ZeroOut}
	return []*calculator{
		{
			name: "gaussian", summary: "normal noise on every release",
			long:  "Each release is a value that moves by at most --sensitivity in the Euclidean norm\nbetween neighbours, plus normal noise of standard deviation --sigma.",
			noise: "sigma", flags: []string{"sensitivity"}, relations: anyRelation, unit: privacy.Record,
			accountants: []accountant.Method{accountant.Contour, accountant.Analytic, accountant.RDP, accountant.PLD},
			release: func(q *question) (privacy.Event, error) {
				return privacy.Gaussian{Sigma: q.get("sigma"), Sensitivity: q.get("sensitivity"), Unit: q.unit, Neighbouring: q.relation}, nil
			},
			describe: func(q *question) string {
				return fmt.Sprintf("%s of sensitivity %s with normal noise of standard deviation %s", q.count(), q.shown("sensitivity"), q.shown("sigma"))
			},
		},
		{
			name: "sampled-gaussian", summary: "normal noise on sums over random batches (DP-SGD)",
			long: `Each release is a sum of records, each clipped to norm C, over a random batch,
plus normal noise of standard deviation --noise-multiplier times C. Poisson
batches take every record with probability --sampling-rate; batches without
replacement have a fixed size. Where a record is added or removed the sum moves
by C; where one is exchanged for another, by 2C.`,
			noise: "noise-multiplier", flags: []string{"sampling-rate"}, relations: anyRelation, sampling: true, unit: privacy.Record,
			accountants: every,
			release: func(q *question) (privacy.Event, error) {
				g := privacy.Gaussian{Sigma: q.get("noise-multiplier"), Sensitivity: 1, Unit: q.unit, Neighbouring: q.relation}
				if q.relation == privacy.Replace {
					g.Sensitivity, g.Norm = 2, 1
				}
				return privacy.Sampled{Event: g, Rate: q.get("sampling-rate"), Method: q.sampling}, nil
			},
			describe: func(q *question) string {
				batches := "Poisson samples"
				if q.sampling == privacy.WithoutReplacement {
					batches = "samples of fixed size"
				}
				return fmt.Sprintf("%s on %s of rate %s with noise multiplier %s", q.count(), batches, q.shown("sampling-rate"), q.shown("noise-multiplier"))
			},
		},
		{
			name: "laplace", summary: "Laplace noise on every release",
			long:  "Each release is a value that moves by at most --sensitivity in the l1 norm between\nneighbours, plus Laplace noise of scale --scale.",
			noise: "scale", flags: []string{"sensitivity"}, relations: anyRelation, unit: privacy.Record, accountants: every,
			release: func(q *question) (privacy.Event, error) {
				return privacy.Laplace{Scale: q.get("scale"), Sensitivity: q.get("sensitivity"), Unit: q.unit, Neighbouring: q.relation}, nil
			},
			describe: func(q *question) string {
				return fmt.Sprintf("%s of l1 sensitivity %s with Laplace noise of scale %s", q.count(), q.shown("sensitivity"), q.shown("scale"))
			},
		},
		{
			name: "randomized-response", summary: "repeated randomized response on one value",
			long: `Each release reports one of --categories values: the true one with probability
e^epsilon/(e^epsilon + categories - 1), any other alike. --epsilon is that of one
release.`,
			flags: []string{"epsilon", "categories"}, unit: privacy.Record, accountants: every,
			release: func(q *question) (privacy.Event, error) {
				return privacy.RandomizedResponse{Epsilon: q.get("epsilon"), Categories: int64(q.get("categories")), Unit: q.unit}, nil
			},
			describe: func(q *question) string {
				return fmt.Sprintf("%s of one of %s values by randomized response of epsilon %s", q.count(), q.shown("categories"), q.shown("epsilon"))
			},
		},
	}
}

// dipsgnn is the calculator of the theorem of the DIPSGNN paper; it has a closed
// form and no choice of accountant.
func dipsgnnCalculator() *calculator {
	return &calculator{
		name: "dipsgnn", summary: "the closed form of the DIPSGNN theorem",
		long: `The closed form of theorem 4.2 of Hu and Fang (arXiv 2309.11515): --steps releases,
each of which one edge moves by at most --clip, with normal noise of standard
deviation --sigma. It is Rényi differential privacy under the classic conversion;
the exact value of the same releases is printed beside it.`,
		noise: "sigma", flags: []string{"clip"}, unit: privacy.Edge,
		release: func(q *question) (privacy.Event, error) {
			return privacy.Gaussian{Sigma: q.get("sigma"), Sensitivity: q.get("clip"), Unit: q.unit, Neighbouring: q.relation}, nil
		},
		describe: func(q *question) string {
			return fmt.Sprintf("%s of aggregates clipped at %s with normal noise of standard deviation %s", q.count(), q.shown("clip"), q.shown("sigma"))
		},
	}
}

// question is one calculation as a command line asks it.
type question struct {
	of       *calculator
	numbers  map[string]*number
	order    []string // of numbers, as the answer repeats them
	method   accountant.Method
	sampling privacy.Sampling
	relation privacy.Neighbouring
	unit     privacy.Unit

	methodText, samplingText, relationText string
	json                                   bool
}

// spans are the ranges and meanings of the calculator's numbers.
func spans() map[string]struct {
	span
	usage string
} {
	type s = struct {
		span
		usage string
	}
	return map[string]s{
		"sigma":            {spanNoise, "standard deviation of the noise"},
		"sensitivity":      {spanNoise, "most that one unit moves a release"},
		"noise-multiplier": {spanNoise, "standard deviation of the noise over the clipping norm"},
		"sampling-rate":    {spanRate, "probability of a record to be in a batch, also as a fraction such as 256/60000"},
		"scale":            {spanNoise, "scale of the noise"},
		"clip":             {spanNoise, "norm that rows are clipped to"},
		"epsilon":          {spanEpsilon, "epsilon of one release"},
		"categories":       {spanClasses, "number of values"},
		"steps":            {spanSteps, "number of releases"},
		"delta":            {spanDelta, "delta of the guarantee"},
		"alpha":            {spanAlpha, "Rényi order"},
		"points":           {spanPoints, "points on a curve"},
	}
}

// flags declares the numbers and choices of a question on a command.
func (q *question) flags(c *cobra.Command, names ...string) {
	q.numbers, q.order, q.unit = map[string]*number{}, names, q.of.unit
	if len(names) > 1 {
		c.Use = q.usage(c.Name())
	}
	all := spans()
	for _, name := range names {
		n := &number{name: name, span: all[name].span}
		q.numbers[name] = n
		usage := all[name].usage
		if name == "epsilon" && q.of.noise != "" {
			usage = "largest epsilon allowed"
		}
		c.Flags().Var(n, name, fmt.Sprintf("%s; %s", usage, n.span))
	}
	if q.of.sampling {
		c.Flags().StringVar(&q.samplingText, "sampling", string(privacy.Poisson), "how batches are drawn: poisson, without-replacement")
	}
	if len(q.of.relations) > 0 {
		usage := "relation of the data sets that --sensitivity is about: add-remove, replace, zero-out (default add-remove)"
		if q.of.sampling {
			usage = "relation of neighbouring data sets: add-remove, replace, zero-out (default add-remove; replace without replacement)"
		}
		c.Flags().StringVar(&q.relationText, "neighbouring", "", usage)
	}
	c.Flags().BoolVar(&q.json, "json", false, "as JSON")
}

// accountantFlag declares --accountant.
func (q *question) accountantFlag(c *cobra.Command) {
	if len(q.of.accountants) == 0 {
		return
	}
	usage := fmt.Sprintf("%s (default %s)", list(q.of.accountants), q.of.accountants[0])
	if q.of.sampling {
		usage = fmt.Sprintf("%s (default %s; rdp without replacement)", list(q.of.accountants), q.of.accountants[0])
	}
	c.Flags().StringVar(&q.methodText, "accountant", "", usage)
}

// check completes a question after its flags were read: everything needed is
// there and the choices fit together.
func (q *question) check(c *cobra.Command) error {
	if err := missing(c, q.order, func(name string) bool { return q.numbers[name].set }); err != nil {
		return err
	}
	if err := q.checkRelation(); err != nil {
		return err
	}
	return q.checkMethod()
}

// missing is the one error about required flags that were not given.
func missing(c *cobra.Command, names []string, given func(string) bool) error {
	var out []string
	for _, name := range names {
		if !given(name) {
			out = append(out, "--"+name)
		}
	}
	if len(out) == 0 {
		return nil
	}
	fix := fmt.Sprintf("see %s --help", c.CommandPath())
	if len(out) == 1 && out[0] == "--delta" {
		fix = "give --delta well below one over the number of users or records, such as 1e-6; " + fix
	}
	return usagef(fix, "%s: missing %s", c.CommandPath(), join(out))
}

func (q *question) checkRelation() error {
	q.relation = privacy.AddRemove
	if q.of.name == "randomized-response" {
		q.relation = privacy.Replace // a local randomiser hides which value it was
		return nil
	}
	if q.of.sampling {
		q.sampling = privacy.Sampling(q.samplingText)
		methods := []privacy.Sampling{privacy.Poisson, privacy.WithoutReplacement}
		if !slices.Contains(methods, q.sampling) {
			return usagef(didYouMean(q.samplingText, methods), "--sampling is %q, want %s", clip(q.samplingText), list(methods))
		}
		if q.sampling == privacy.WithoutReplacement {
			q.relation = privacy.Replace
		}
	}
	if q.relationText == "" {
		return nil
	}
	asked := privacy.Neighbouring(q.relationText)
	if !slices.Contains(q.of.relations, asked) {
		return usagef(didYouMean(q.relationText, q.of.relations), "--neighbouring is %q, want %s", clip(q.relationText), list(q.of.relations))
	}
	if q.sampling == privacy.WithoutReplacement && asked != privacy.Replace {
		return usagef("batches of a fixed size keep the number of records: leave out --neighbouring, or take --sampling poisson",
			"--neighbouring %s does not go with --sampling without-replacement", asked)
	}
	q.relation = asked
	return nil
}

func (q *question) checkMethod() error {
	if len(q.of.accountants) == 0 {
		return nil
	}
	fixed := q.sampling == privacy.WithoutReplacement
	if q.methodText == "" {
		if q.method = q.of.accountants[0]; fixed {
			q.method = accountant.RDP
		}
		return nil
	}
	return q.setMethod("accountant", q.methodText)
}

// setMethod checks the name of an accountant that a flag gave.
func (q *question) setMethod(flag, text string) error {
	m := accountant.Method(text)
	switch {
	case !slices.Contains(q.of.accountants, m):
		return usagef(didYouMean(text, q.of.accountants), "--%s is %q, want %s", flag, clip(text), list(q.of.accountants))
	case q.sampling == privacy.WithoutReplacement && m != accountant.RDP:
		return usagef("take --"+flag+" rdp, the only bound known for batches of a fixed size",
			"--%s %s does not go with --sampling without-replacement", flag, m)
	}
	q.method = m
	return nil
}

// get returns the value of a number.
func (q *question) get(name string) float64 { return q.numbers[name].v }

// shown returns it in words.
func (q *question) shown(name string) string {
	n := q.numbers[name]
	if n.text != "" {
		return fmt.Sprintf("%s (%s)", n.text, near(n.v, 6))
	}
	return near(n.v, 6)
}

// put sets a number that is computed and not given, such as the noise of a
// calibration.
func (q *question) put(name string, v float64) {
	n := q.numbers[name]
	if n == nil {
		n = &number{name: name, span: spans()[name].span}
		q.numbers[name] = n
	}
	n.v, n.set, n.text = v, true, ""
}

// count is the number of releases in words.
func (q *question) count() string {
	n := q.numbers["steps"]
	switch {
	case n == nil:
		return "a release"
	case n.v == 1:
		return "1 release"
	}
	return near(n.v, 13) + " releases"
}

// usage is a command line that shows the numbers it needs.
func (q *question) usage(name string) string {
	letters := map[string]string{"sigma": "S", "sensitivity": "D", "noise-multiplier": "Z", "sampling-rate": "Q", "scale": "B",
		"clip": "C", "epsilon": "E", "categories": "K", "steps": "N", "delta": "d", "alpha": "A"}
	for _, n := range q.order {
		name += " --" + n + " " + letters[n]
	}
	return name
}

// list joins names for a message.
func list[S ~string](names []S) string {
	text := make([]string, len(names))
	for i, n := range names {
		text[i] = string(n)
	}
	return strings.Join(text, ", ")
}
