package record

// typed are numbers with a decimal point that a page may hold as they are, by page, with the
// reason. Numbers without a decimal point, such as numbers of seeds, may be typed everywhere.
var typed = map[string]map[string]string{
	"README.md":                {"1.26": "version of Go", "2.0": "name of a licence"},
	"docs/results/dipsgnn.md":  {"2309.11515": "arXiv number"},
	"docs/results/README.md":   {"2.5": "delta 2.5e-7, a setting"},
	"docs/results/exposure.md": {"2210.08435": "arXiv number"},
	"docs/results/gerai.md": {
		"2101.12549": "arXiv number", "4.3": "number of a lemma", "0.4": "the epsilon that the paper sets for its loss",
		"2.5": "epsilon of one of the three attributes, set in the configuration",
	},
	"docs/results/speed.md": {
		"2.15": "version of PyTorch",
	},
	"docs/results/private.md": {"0.5": "an epsilon that was set"},
}
