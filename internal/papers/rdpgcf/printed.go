package rdpgcf

import (
	"fmt"
	"strconv"

	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/printed"
	"privrec/internal/protocol/topn"
	"privrec/internal/report"
)

// Tables returns the printed values of the paper and the results of others, for methods of its protocol.
func Tables() topn.Tables {
	return topn.Tables{
		Printed: func(method, data, release string, s topn.Shape) (topn.Printed, bool) {
			if release == ReleaseClean { // the paper adds noise
				return topn.Printed{}, false
			}
			return PaperValue(method, data, s.Dim, s.Layers, s.Epsilon)
		},
		Note: "mean of five seeds without spread; its BPRMF, NGCF and LightGCN on Gowalla and Yelp are the " +
			"published numbers of others",
		Published: References,
	}
}

// PaperValue returns the paper's printed value for a method on a registered data set, or false. The shape is dim and
// layers; epsilon matters only for RDP-GCF. Table 2 has every method at L = 3 and d = 64. Tables 3 and 4 vary one of
// the two for RDP-GCF at epsilon 5. For the setting in both they print other numbers than Table 2, which counts here.
func PaperValue(method, data string, dim, layers int, epsilon float64) (topn.Printed, bool) {
	table, setting := 2, printed.Setting(nil)
	switch same := dim == 64 && layers == 3; {
	case method != methodRDPGCF:
		if dim != 64 || layers != 3 && layers != 0 {
			return topn.Printed{}, false
		}
	case epsilon != 5:
		return topn.Printed{}, false
	case !same && dim == 64:
		table, setting = 3, printed.Setting{"L": printed.Word(strconv.Itoa(layers))}
	case !same && layers == 3:
		table, setting = 4, printed.Setting{"d": printed.Word(strconv.Itoa(dim))}
	case !same:
		return topn.Printed{}, false
	}
	values := printed.Shares(printed.Find("rdpgcf", table, method, data, setting), "")
	return topn.Printed{Values: values, Table: fmt.Sprintf("table %d", table)}, values != nil
}

// methodRDPGCF is the paper's own method, as Table 2 prints it.
const methodRDPGCF = "RDP-GCF"

// beside returns a row of others' results, as shares.
func beside(method string, recall, ndcg float64, from string) topn.Reference {
	return topn.Reference{Method: method, Recall20: recall, NDCG20: ndcg, From: from}
}

// References returns published results on the split that NGCF and LightGCN published, for a data set of the registry.
// It returns nil for other data sets, and if the level of evidence says that the rows are not those of that split. All
// of them mask the training items and rank all others. Those of LightGCN and NGCF are of the best epoch on test.
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
