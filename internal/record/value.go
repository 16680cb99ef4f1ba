package record

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Value is one number of a record. Scores of runs are in percent. SD is the standard deviation over seeds, NaN for one
// seed. Text is a transcribed number as the paper printed it; such a number is known to Decimals only.
type Value struct {
	Mean, SD  float64
	Low, High float64 // interval of a gain; both 0: none
	Text      string
	Decimals  int
}

// Value returns a field of a record. For finished runs a field is the name of a metric of the first row of scores, or
// NAME|METRIC of the row whose name is NAME, or else whose release is NAME or whose name has NAME in it, or floor
// NAME|METRIC, or all|METRIC for the mean over all rows. It can also be one of
//
//	gain ROW|METRIC ATTRIBUTE over FLOOR, of one run, with its interval; attacks on slates have no ATTRIBUTE
//	epochs.selected, epochs.run, epochs.cap, steps, seeds
//	epsilon.claimed, epsilon.total
//	epsilon.noise UNIT, epsilon.noise UNIT NEIGHBOURING
//	epsilon.part NAME, epsilon.rdp part NAME
//
// For other records a field is the name of one of their values. If a measured record has NAME low and NAME high beside
// NAME, they are its interval.
func (r *Record) Value(field string) (Value, error) {
	if r.Measured != nil {
		v, ok := r.Measured.Values[field]
		if !ok {
			return Value{}, r.unknown(field, keys(r.Measured.Values))
		}
		return Value{Mean: v, SD: math.NaN(), Low: r.Measured.Values[field+" low"],
			High: r.Measured.Values[field+" high"]}, nil
	}
	if field == "seeds" {
		return Value{Mean: float64(len(r.Runs)), SD: math.NaN()}, nil
	}
	if rest, ok := strings.CutPrefix(field, "gain "); ok {
		return r.gain(rest)
	}
	all := make([]float64, len(r.Runs))
	for i := range r.Runs {
		v, err := r.Runs[i].value(field)
		if err != nil {
			return Value{}, fmt.Errorf("record %s, seed %d: %w", r.Name, r.Runs[i].Seed, err)
		}
		all[i] = v
	}
	return over(all), nil
}

// gain returns a gain of the only run of a record.
func (r *Record) gain(field string) (Value, error) {
	name, what, _ := strings.Cut(field, "|")
	if len(r.Runs) != 1 {
		return Value{}, fmt.Errorf("record %s: a gain is of one run, and this has %d", r.Name, len(r.Runs))
	}
	for _, g := range r.Runs[0].Gains {
		if strings.Contains(g.Row, name) && g.what()+" over "+g.Over == what {
			return Value{Mean: 100 * g.Value, SD: math.NaN(), Low: 100 * g.Interval[0], High: 100 * g.Interval[1]}, nil
		}
	}
	return Value{}, fmt.Errorf("record %s has no gain %q", r.Name, field)
}

func (r *Record) unknown(field string, there []string) error {
	return fmt.Errorf("record %s (%s) has no field %q; it has %s", r.Name, r.Kind(), field, strings.Join(there, ", "))
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// over returns mean and standard deviation of values. The mean of equal numbers is that number.
func over(all []float64) Value {
	v := Value{SD: math.NaN()}
	for _, x := range all {
		v.Mean += x / float64(len(all))
	}
	if slices.Min(all) == slices.Max(all) {
		v.Mean = all[0]
	}
	if len(all) > 1 {
		var sum float64
		for _, x := range all {
			sum += (x - v.Mean) * (x - v.Mean)
		}
		v.SD = math.Sqrt(sum / float64(len(all)-1))
	}
	return v
}

// value returns a field of one run.
func (r *Run) value(field string) (float64, error) {
	switch field {
	case "epochs.selected":
		return float64(r.Epochs.Selected), nil
	case "epochs.run":
		return float64(r.Epochs.Run), nil
	case "epochs.cap":
		return float64(r.Epochs.Cap), nil
	case "steps":
		return float64(r.Epochs.Steps), nil
	}
	if rest, ok := strings.CutPrefix(field, "epsilon."); ok {
		return r.epsilon(rest)
	}
	name, metric, named := strings.Cut(field, "|")
	if !named {
		name, metric = "", field
	}
	if name == "all" {
		return r.all(metric)
	}
	rows := r.Scores
	if rest, ok := strings.CutPrefix(name, "floor "); ok {
		rows, name = r.Floors, rest
	}
	whole := name != "" && slices.ContainsFunc(rows, func(s Scores) bool { return s.Name == name })
	for _, s := range rows {
		if whole && s.Name != name || name != "" && s.Release != name && !strings.Contains(s.Name, name) {
			continue
		}
		if v, ok := s.Values[metric]; ok {
			return 100 * v, nil
		}
		return 0, fmt.Errorf("no field %q: the scores %q have no metric %q; they have %s", field, s.Name, metric,
			strings.Join(keys(s.Values), ", "))
	}
	return 0, fmt.Errorf("no field %q: no scores have the name or release %q", field, name)
}

// all returns the mean of a metric over all rows of scores.
func (r *Run) all(metric string) (float64, error) {
	var sum float64
	for _, s := range r.Scores {
		v, ok := s.Values[metric]
		if !ok {
			return 0, fmt.Errorf("no field %q: the scores %q have no such metric", "all|"+metric, s.Name)
		}
		sum += 100 * v / float64(len(r.Scores))
	}
	return sum, nil
}

// epsilon returns an epsilon of a run.
func (r *Run) epsilon(field string) (float64, error) {
	if r.Epsilon == nil {
		return 0, fmt.Errorf("no field epsilon.%s: the run wrote no account", field)
	}
	switch {
	case field == "total":
		return float64(r.Epsilon.Total), nil
	case field == "claimed" && r.Epsilon.Claimed != nil:
		return float64(*r.Epsilon.Claimed), nil
	}
	for _, p := range r.Epsilon.Parts {
		switch field {
		case "part " + p.Name:
			return float64(p.Epsilon), nil
		case "rdp part " + p.Name:
			return float64(p.RDP), nil
		}
	}
	unit, relation, both := strings.Cut(strings.TrimPrefix(field, "noise "), " ")
	for _, u := range r.Epsilon.Units {
		if u.Unit == unit && (!both || u.Neighbouring == relation) {
			return float64(u.Epsilon), nil
		}
	}
	return 0, fmt.Errorf("no field epsilon.%s: the account has claimed, total, as noise UNIT NEIGHBOURING %v and as "+
		"part NAME %v", field, r.Epsilon.Units, r.Epsilon.Parts)
}

// Format returns a value as text with a number of decimals. flags are "+" for a sign, "," for separated thousands and
// "m" for the mean without its deviation. A number from a paper never gets more decimals than it was printed with.
func (v Value) Format(decimals int, flags string) (string, error) {
	if v.Text != "" && decimals > v.Decimals {
		return "", fmt.Errorf("%q is known to %d decimals, not to %d", v.Text, v.Decimals, decimals)
	}
	if math.IsInf(v.Mean, 1) {
		return "infinite", nil
	}
	if math.IsNaN(v.Mean) || math.IsInf(v.Mean, -1) {
		return "", fmt.Errorf("%g is no value", v.Mean)
	}
	s := fixed(v.Mean, decimals)
	if strings.Contains(flags, ",") {
		s = thousands(s)
	}
	if strings.Contains(flags, "+") {
		s = signed(s)
	}
	if v.Low != 0 || v.High != 0 {
		s += " (" + signed(fixed(v.Low, decimals)) + " to " + signed(fixed(v.High, decimals)) + ")"
	}
	if !math.IsNaN(v.SD) && !strings.Contains(flags, "m") {
		s += " (" + strconv.FormatFloat(v.SD, 'f', decimals, 64) + ")"
	}
	return s, nil
}

// fixed returns a number with a number of decimals. A number that rounds to zero has no sign.
func fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// signed returns a number with a plus sign unless it has a minus sign.
func signed(s string) string {
	if strings.HasPrefix(s, "-") {
		return s
	}
	return "+" + s
}

// thousands returns a number with commas between groups of three digits.
func thousands(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}
