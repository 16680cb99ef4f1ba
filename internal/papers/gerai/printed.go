package gerai

import (
	"cmp"
	"fmt"
	"slices"

	"privrec/internal/papers/gerai/features"
	"privrec/internal/printed"
	"privrec/internal/protocol/topn"
)

// Names of the rows of Tables 3 and 4.
const (
	nameGERAI    = "GERAI"
	nameNL       = "GERAI-NL"
	nameNF       = "GERAI-NF"
	nameGCN      = "GCN"
	nameRepaired = "GERAI, repaired"
)

// name returns the paper's name of a setting.
func (c Config) name() string {
	switch {
	case c.Features.Form == features.FormAttributes:
		return nameRepaired
	case c.Features.Noise == features.NoiseNone:
		return nameNL
	case c.Loss.Noise == NoiseOff:
		return nameNF
	}
	return nameGERAI
}

// printedNames maps our names of methods to the paper's, if they differ.
var printedNames = map[string]string{"BPRMF": "BPR", "BlurMe": "Blurm"}

// Tables returns the paper's printed rankings for methods of its protocol: Table 3, and for the ablations Table 4 at K
// = 5 alone.
func Tables() topn.Tables {
	return topn.Tables{
		Printed: func(method, data, _ string, s topn.Shape) (topn.Printed, bool) {
			if data != "ml-100k" || s.Dim != 0 && s.Dim != 60 {
				return topn.Printed{}, false
			}
			method = cmp.Or(printedNames[method], method)
			for _, table := range []int{3, 4} {
				found := printed.Find("gerai", table, method, data, nil)
				found = slices.DeleteFunc(found, func(v printed.Value) bool { return v.Metric.Lower }) // of attacks
				if values := printed.Shares(found, "sampled"); values != nil {
					return topn.Printed{Values: values, Table: fmt.Sprintf("table %d", table)}, true
				}
			}
			return topn.Printed{}, false
		},
		Note: "it does not say among how many items a test row is ranked; about 200 fit its numbers",
	}
}
