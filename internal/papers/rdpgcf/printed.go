package rdpgcf

import (
	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/protocol/topn"
	"privrec/internal/report"
)

// Tables returns the tables of the paper and what others published, for methods of its
// protocol.
func Tables() topn.Tables {
	return topn.Tables{
		Printed: func(method, data, release string, s topn.Shape) (topn.Printed, bool) {
			if release == ReleaseClean { // the paper adds noise
				return topn.Printed{}, false
			}
			return PaperValue(method, paperNames[data], s.Dim, s.Layers, s.Epsilon)
		},
		Note:      "mean of five seeds without spread; its BPRMF, NGCF and LightGCN on Gowalla and Yelp are the published numbers of others",
		Published: References,
	}
}

// PaperValue returns what the paper prints for a method on a data set, or false. Data sets
// have the paper's names: "MovieLens-1M", "Gowalla", "Yelp". The shape is dim and layers;
// epsilon is only read for RDP-GCF. Table 2 has every method at L = 3 and d = 64. Tables 3 and
// 4 vary one of the two for RDP-GCF at epsilon 5. For the same setting of RDP-GCF they print
// other numbers than table 2, which counts here.
func PaperValue(method, data string, dim, layers int, epsilon float64) (topn.Printed, bool) {
	if method != methodRDPGCF {
		p, ok := table2[data][method]
		return p, ok && dim == 64 && (layers == 3 || layers == 0)
	}
	switch {
	case epsilon != 5:
		return topn.Printed{}, false
	case dim == 64 && layers == 3:
		p, ok := table2[data][method]
		return p, ok
	case dim == 64:
		p, ok := table3[data][layers]
		return p, ok
	case layers == 3:
		p, ok := table4[data][dim]
		return p, ok
	}
	return topn.Printed{}, false
}

// methodRDPGCF is the paper's own method, as Table 2 prints it.
const methodRDPGCF = "RDP-GCF"

// paperNames maps data sets to the tables' rows.
var paperNames = map[string]string{"ml-1m": "MovieLens-1M", "gowalla": "Gowalla", "yelp2018": "Yelp"}

// in2 to in4 are rows of the tables, shares.
var in2, in3, in4 = rows("table 2"), rows("table 3"), rows("table 4")

func rows(table string) func(recall, ndcg float64) topn.Printed {
	return func(recall, ndcg float64) topn.Printed {
		return topn.Printed{Recall20: recall, NDCG20: ndcg, Table: table}
	}
}

// beside makes a row of others' results, shares.
func beside(method string, recall, ndcg float64, from string) topn.Reference {
	return topn.Reference{Method: method, Recall20: recall, NDCG20: ndcg, From: from}
}

// Table 2: epsilon 5, mean of five seeds, no spread printed.
var table2 = map[string]map[string]topn.Printed{
	"MovieLens-1M": {
		baseline.BPRMF: in2(0.2043, 0.3074), baseline.NGCF: in2(0.2201, 0.3541),
		baseline.LightGCN: in2(0.2521, 0.3851), methodRDPGCF: in2(0.2322, 0.3583),
	},
	"Gowalla": {
		baseline.BPRMF: in2(0.1291, 0.1109), baseline.NGCF: in2(0.1569, 0.1327),
		baseline.LightGCN: in2(0.1823, 0.1554), methodRDPGCF: in2(0.1512, 0.1290),
	},
	"Yelp": {
		baseline.BPRMF: in2(0.0433, 0.0354), baseline.NGCF: in2(0.0579, 0.0477),
		baseline.LightGCN: in2(0.0639, 0.0525), methodRDPGCF: in2(0.0505, 0.0411),
	},
}

// Table 3, by layers, without those of table 2.
var table3 = map[string]map[int]topn.Printed{
	"MovieLens-1M": {1: in3(0.2287, 0.3530), 2: in3(0.2258, 0.3502), 4: in3(0.2314, 0.3575)},
	"Gowalla":      {1: in3(0.1453, 0.1195), 2: in3(0.1449, 0.1193), 4: in3(0.1429, 0.1164)},
	"Yelp":         {1: in3(0.0491, 0.0400), 2: in3(0.0505, 0.0409), 4: in3(0.0505, 0.0401)},
}

// Table 4, by dimension, without those of table 2.
var table4 = map[string]map[int]topn.Printed{
	"MovieLens-1M": {16: in4(0.2067, 0.3235), 32: in4(0.2265, 0.3489), 128: in4(0.2362, 0.3608)},
	"Gowalla":      {16: in4(0.1271, 0.1081), 32: in4(0.1369, 0.1159), 128: in4(0.1508, 0.1317)},
	"Yelp":         {16: in4(0.0462, 0.0375), 32: in4(0.0492, 0.0400), 128: in4(0.0514, 0.0412)},
}

// References lists published results on the split that NGCF and LightGCN published, for a data
// set of the registry. It returns nil for other data sets, and where the level of evidence
// says that the rows are not those of that split. All of them mask the training items and rank
// all others. Those of LightGCN and NGCF are of the best epoch on test.
func References(data string, level dataset.Level) []topn.Reference {
	if !report.AllowsDelta(level) {
		return nil
	}
	return references[data]
}

const (
	fromPyTorch    = "LightGCN-PyTorch README, 1,000 epochs, best epoch on test"
	fromTensorFlow = "LightGCN TensorFlow README, best epoch on test"
	fromNGCF       = "NGCF, SIGIR 2019"
	fromBARS       = "BARS benchmark, tuned by it"
)

var references = map[string][]topn.Reference{
	"gowalla": {
		beside(baseline.LightGCN, 0.1824, 0.1547, fromPyTorch),
		beside(baseline.LightGCN, 0.18236, 0.15539, fromTensorFlow),
		beside(baseline.LightGCN+" after 5 epochs", 0.1071, 0.0894, "LightGCN-PyTorch README, sample log"),
		beside(baseline.NGCF, 0.1569, 0.1327, fromNGCF),
		beside(baseline.BPRMF, 0.1627, 0.1378, fromBARS),
		beside(baseline.EASE, 0.1765, 0.1467, fromBARS),
		beside(baseline.ItemKNN, 0.1570, 0.1214, fromBARS),
	},
	"yelp2018": { // NGCF's own paper has a first version of this set
		beside(baseline.LightGCN, 0.06347, 0.05238, fromPyTorch),
		beside(baseline.LightGCN, 0.06367, 0.05236, fromTensorFlow),
		beside(baseline.BPRMF, 0.0576, 0.0468, fromBARS),
		beside(baseline.EASE, 0.0657, 0.0552, fromBARS),
		beside(baseline.ItemKNN, 0.0639, 0.0531, fromBARS),
	},
}
