package standin

// What the tests that load data sets, and so stand outside of the package, reach.
var (
	Transitions   = transitions
	ShuffledOrder = shuffledOrder
)

// Scorer writes the score of item j into scores[j], j from 1.
type Scorer = scorer
