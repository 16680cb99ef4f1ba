package format

import "privrec/internal/dataset"

// What the tests of this folder reach that have to be outside of the package, because they
// share helpers with those of other packages.
var (
	ParseInter     = parseInter
	ParseAdjacency = parseAdjacency
	ParseSequences = parseSequences
)

// MaxDepth is how deep JSON may be nested.
const MaxDepth = maxDepth

// ParseUserAtomic reads a user file, kinds as declared.
func ParseUserAtomic(in *Input) (*dataset.Features, error) { return Table{}.userAtomic(in) }

// Members reads a line as a JSON object.
func Members(line []byte, wanted []string, raw [][]byte) error {
	return (&Input{file: "fuzzed", num: 1}).members(line, wanted, raw)
}
