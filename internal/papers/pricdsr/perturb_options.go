package pricdsr

import (
	"context"
	"math"

	"privrec/internal/perturb"
	"privrec/internal/privacy/mechanism/sequence"
)

// Options says what to perturb and how: users by id, or in the order of the input.
type Options struct {
	perturb.Settings // Length is L, Items or Catalogue have m items

	Variant   sequence.Variant // empty: sdp-fixed
	Epsilon   float64          // of one cell
	Limits    bool             // accept epsilon 0 and +Inf
	Small     bool             // accept fewer items than cells
	KeepOrder bool             // users in the order of the input; otherwise by id
	Strict    bool             // refuse what definition 1 leaves out: repeated items, more than Length
}

// Mechanism returns the mechanism that the options describe, with m items.
func (o Options) Mechanism(m int) sequence.Mechanism {
	return sequence.Mechanism{Purpose: o.Purpose, Variant: o.Variant, Epsilon: o.Epsilon, Items: m, Length: o.Length, Limits: o.Limits}
}

const fixLength = "it is how many cells a row has, the longest history to keep, such as 100"

// Check fills in defaults and refuses what cannot be carried out.
func (o *Options) Check() error {
	if o.Variant == "" {
		o.Variant = sequence.SDPFixed
	}
	switch {
	case o.Variant != sequence.SDPFixed && o.Variant != sequence.SDPPaper && o.Variant != sequence.RR:
		return perturb.Refuse("known: sdp-fixed, sdp-paper, rr", "mechanism %q is not known", string(o.Variant))
	case math.IsNaN(o.Epsilon) || o.Epsilon < 0:
		return perturb.Refuse("half of the cells are kept at epsilon = ln m", "epsilon is %g, want above 0", o.Epsilon)
	case !o.Limits && o.Epsilon == 0:
		return perturb.Refuse("--limits accepts it: the output then does not depend on the rows at all", "epsilon is 0, want above 0")
	case !o.Limits && math.IsInf(o.Epsilon, 1):
		return perturb.Refuse("--limits accepts it: the output then is the rows as they are, and nothing is protected", "epsilon is infinite")
	case o.Length == 0:
		return perturb.Refuse(fixLength, "--length is missing")
	case o.Length < 0:
		return perturb.Refuse(fixLength, "length is %d, want at least 1", o.Length)
	case o.Items == 0 && o.Catalogue == "":
		return perturb.Refuse("give --items M or --catalogue FILE: both public, and not read off the rows", "the size of the catalogue is missing")
	}
	return o.Settings.Check("sequences")
}

// OpenCatalogue returns the catalogue that the options state.
func OpenCatalogue(ctx context.Context, o *Options) (*perturb.Catalogue, error) {
	return perturb.OpenCatalogue(ctx, &o.Settings, "an id a line")
}
