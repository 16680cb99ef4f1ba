package rdpgcf

import (
	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// Printed are what a paper prints for a row: shares.
type Printed struct {
	Recall20 float64 `json:"Recall@20"`
	NDCG20   float64 `json:"NDCG@20"`
	Table    string  `json:"table"` // where
}

// share is the printed value of a metric, report.Missing where there is none.
func (p Printed) share(m metrics.Metric) float64 {
	switch m {
	case primary:
		return p.Recall20
	case second:
		return p.NDCG20
	}
	return report.Missing
}

// PaperValue is what the paper prints for a method on a data set (its own names:
// "MovieLens-1M", "Gowalla", "Yelp") at a shape and, for RDP-GCF, an epsilon, or false.
// Table 2 has every method at L = 3 and d = 64; tables 3 and 4 vary one of the two
// for RDP-GCF at epsilon 5. For the same setting of RDP-GCF tables 3 and 4 print other
// numbers than table 2, which counts here.
func PaperValue(method, data string, dim, layers int, epsilon float64) (Printed, bool) {
	if method != methodRDPGCF {
		p, ok := table2[data][method]
		return p, ok && dim == 64 && (layers == 3 || layers == 0)
	}
	switch {
	case epsilon != 5:
		return Printed{}, false
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
	return Printed{}, false
}

// Names of the methods, as Table 2 prints them.
const (
	methodBPRMF    = "BPRMF"
	methodNGCF     = "NGCF"
	methodLightGCN = "LightGCN"
	methodRDPGCF   = "RDP-GCF"
)

// paperNames maps data sets to the tables' rows.
var paperNames = map[string]string{"ml-1m": "MovieLens-1M", "gowalla": "Gowalla", "yelp2018": "Yelp"}

// Table 2: epsilon 5, mean of five seeds, no spread printed.
var table2 = map[string]map[string]Printed{
	"MovieLens-1M": {
		methodBPRMF: {0.2043, 0.3074, "table 2"}, methodNGCF: {0.2201, 0.3541, "table 2"},
		methodLightGCN: {0.2521, 0.3851, "table 2"}, methodRDPGCF: {0.2322, 0.3583, "table 2"},
	},
	"Gowalla": {
		methodBPRMF: {0.1291, 0.1109, "table 2"}, methodNGCF: {0.1569, 0.1327, "table 2"},
		methodLightGCN: {0.1823, 0.1554, "table 2"}, methodRDPGCF: {0.1512, 0.1290, "table 2"},
	},
	"Yelp": {
		methodBPRMF: {0.0433, 0.0354, "table 2"}, methodNGCF: {0.0579, 0.0477, "table 2"},
		methodLightGCN: {0.0639, 0.0525, "table 2"}, methodRDPGCF: {0.0505, 0.0411, "table 2"},
	},
}

// Table 3, by layers, without those of table 2.
var table3 = map[string]map[int]Printed{
	"MovieLens-1M": {1: {0.2287, 0.3530, "table 3"}, 2: {0.2258, 0.3502, "table 3"}, 4: {0.2314, 0.3575, "table 3"}},
	"Gowalla":      {1: {0.1453, 0.1195, "table 3"}, 2: {0.1449, 0.1193, "table 3"}, 4: {0.1429, 0.1164, "table 3"}},
	"Yelp":         {1: {0.0491, 0.0400, "table 3"}, 2: {0.0505, 0.0409, "table 3"}, 4: {0.0505, 0.0401, "table 3"}},
}

// Table 4, by dimension, without those of table 2.
var table4 = map[string]map[int]Printed{
	"MovieLens-1M": {16: {0.2067, 0.3235, "table 4"}, 32: {0.2265, 0.3489, "table 4"}, 128: {0.2362, 0.3608, "table 4"}},
	"Gowalla":      {16: {0.1271, 0.1081, "table 4"}, 32: {0.1369, 0.1159, "table 4"}, 128: {0.1508, 0.1317, "table 4"}},
	"Yelp":         {16: {0.0462, 0.0375, "table 4"}, 32: {0.0492, 0.0400, "table 4"}, 128: {0.0514, 0.0412, "table 4"}},
}

// Reference is a published result on the same data and split as ours, tuned and
// trained by others.
type Reference struct {
	Method   string  `json:"method"`
	Recall20 float64 `json:"Recall@20"`
	NDCG20   float64 `json:"NDCG@20"`
	From     string  `json:"from"`
}

// References lists published results on the split that NGCF and LightGCN published,
// for a data set of the registry; nil for others, and where the level of evidence says
// that the rows are not those of that split. All of them mask the training items and rank
// all others; those of LightGCN and NGCF are of the best epoch on test.
func References(data string, level dataset.Level) []Reference {
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

var references = map[string][]Reference{
	"gowalla": {
		{methodLightGCN, 0.1824, 0.1547, fromPyTorch},
		{methodLightGCN, 0.18236, 0.15539, fromTensorFlow},
		{methodLightGCN + " after 5 epochs", 0.1071, 0.0894, "LightGCN-PyTorch README, sample log"},
		{methodNGCF, 0.1569, 0.1327, fromNGCF},
		{methodBPRMF, 0.1627, 0.1378, fromBARS},
		{"EASE", 0.1765, 0.1467, fromBARS},
		{"ItemKNN", 0.1570, 0.1214, fromBARS},
	},
	"yelp2018": { // NGCF's own paper has a first version of this set
		{methodLightGCN, 0.06347, 0.05238, fromPyTorch},
		{methodLightGCN, 0.06367, 0.05236, fromTensorFlow},
		{methodBPRMF, 0.0576, 0.0468, fromBARS},
		{methodEASE, 0.0657, 0.0552, fromBARS},
		{methodItemKNN, 0.0639, 0.0531, fromBARS},
	},
}
