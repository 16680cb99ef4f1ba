package gerai

import (
	"fmt"

	"privrec/internal/papers/gerai/features"
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

// Tables returns what the paper prints of the ranking, for methods of its protocol.
func Tables() topn.Tables {
	return topn.Tables{
		Printed: func(method, data, _ string, s topn.Shape) (topn.Printed, bool) {
			values, where := table3[method], "table 3"
			if values == nil {
				values, where = table4[method], "table 4"
			}
			if values == nil || data != "ml-100k" || s.Dim != 0 && s.Dim != 60 {
				return topn.Printed{}, false
			}
			p := topn.Printed{Sampled: map[string]float64{}, Table: where}
			for name, row := range values {
				for i, v := range row {
					p.Sampled[fmt.Sprintf("%s@%d", name, 5*(i+1))] = v
				}
			}
			return p, true
		},
		Note: "it does not say among how many items a test row is ranked; about 200 fit its numbers",
	}
}

// row holds printed values at K = 5, 10, 15, 20, 25, 30.
type row map[string][]float64

func printed(hit, ndcg []float64) row { return row{"sampled Hit": hit, "sampled NDCG": ndcg} }

// table3 has the methods' means of five runs.
var table3 = map[string]row{
	"BPRMF":   printed([]float64{0.348, 0.507, 0.614, 0.686, 0.741, 0.791}, []float64{0.228, 0.280, 0.310, 0.330, 0.341, 0.363}),
	nameGCN:   printed([]float64{0.365, 0.519, 0.619, 0.690, 0.743, 0.789}, []float64{0.247, 0.296, 0.323, 0.340, 0.351, 0.360}),
	"BlurMe":  printed([]float64{0.184, 0.263, 0.319, 0.364, 0.405, 0.443}, []float64{0.124, 0.148, 0.164, 0.174, 0.183, 0.191}),
	"DPAE":    printed([]float64{0.185, 0.285, 0.345, 0.394, 0.438, 0.458}, []float64{0.126, 0.153, 0.170, 0.176, 0.180, 0.188}),
	"DPNE":    printed([]float64{0.301, 0.430, 0.525, 0.595, 0.640, 0.684}, []float64{0.204, 0.231, 0.268, 0.289, 0.299, 0.306}),
	"DPMF":    printed([]float64{0.195, 0.280, 0.343, 0.394, 0.432, 0.474}, []float64{0.134, 0.154, 0.171, 0.182, 0.191, 0.186}),
	"RAP":     printed([]float64{0.319, 0.475, 0.575, 0.648, 0.706, 0.754}, []float64{0.211, 0.264, 0.286, 0.308, 0.317, 0.329}),
	nameGERAI: printed([]float64{0.333, 0.495, 0.600, 0.670, 0.724, 0.767}, []float64{0.217, 0.270, 0.296, 0.314, 0.326, 0.334}),
}

// table4 has the ablations that table 3 lacks, at K = 5 alone.
var table4 = map[string]row{
	nameNL: printed([]float64{0.340}, []float64{0.221}),
	nameNF: printed([]float64{0.337}, []float64{0.219}),
}
