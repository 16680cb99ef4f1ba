package mechanismtest

// Golden is a value of testdata and how close ours must be.
type Golden struct {
	Fn     string         `json:"fn"`
	Params map[string]any `json:"params"`
	Value  float64        `json:"value"`
	RelTol float64        `json:"rel_tol"`
	AbsTol float64        `json:"abs_tol"`
}

// Number returns a parameter that is a number, 0 if there is none.
func (g Golden) Number(name string) float64 { v, _ := g.Params[name].(float64); return v }

// Word returns a parameter that is a word, "" if there is none.
func (g Golden) Word(name string) string { s, _ := g.Params[name].(string); return s }
