package grid

// Gain sets a printed improvement of one row over another of the same data, in percent of the other. It is computed
// from the means of both and trains nothing.
type Gain struct {
	Data        string     `yaml:"data"`
	Method      string     `yaml:"method"`
	Setting     string     `yaml:"setting"`
	Over        string     `yaml:"over"`
	OverSetting string     `yaml:"over_setting"`
	Printed     []*float64 `yaml:"printed"`
}

// Row returns what stands for a gain among the rows of a table.
func (p Gain) Row() Row {
	return Row{Computed: true, Method: p.Method + " over " + p.Over, Data: p.Data, Printed: p.Printed,
		About: "computed from the means of the two rows, in percent of the second"}
}
