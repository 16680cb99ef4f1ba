package pricdsr

import (
	"path/filepath"
	"strings"

	"privrec/internal/perturb"
)

// names of the files of a perturbation, beside the output.
const (
	outFile    = "out"
	emptyFile  = "empty"
	ledgerFile = "ledger"
	textFile   = "text"
	jsonFile   = "json"
)

// filesOf is where the files go; the output last.
func filesOf(out string) []perturb.Output {
	pack := ""
	stem := out
	for _, ext := range []string{".gz", ".zst"} {
		if s, ok := strings.CutSuffix(stem, ext); ok {
			stem, pack = s, ext
			break
		}
	}
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	return []perturb.Output{
		{Name: emptyFile, Path: stem + ".empty.tsv" + pack},
		{Name: ledgerFile, Path: stem + ".ledger.jsonl"},
		{Name: textFile, Path: stem + ".report.txt"},
		{Name: jsonFile, Path: stem + ".report.json"},
		{Name: outFile, Path: out},
	}
}
