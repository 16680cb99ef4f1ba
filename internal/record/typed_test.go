package record

// typed are numbers with a decimal point that a page may hold as they are, by page, with the
// reason. Numbers without a decimal point, such as numbers of seeds, may be typed everywhere.
var typed = map[string]map[string]string{
	"docs/results/dipsgnn.md": {"2309.11515": "arXiv number"},
	"docs/results/private.md": {"0.5": "an epsilon that was set"},
}
