package privacy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
	"privrec/internal/privacy/correlated"
)

const (
	leafText  = `{"kind":"pure-ldp","epsilon":1,"unit":"user"}`
	otherText = `{"kind":"exponential","epsilon":0.5,"unit":"cell","neighbouring":"replace"}`
)

var leaf = privacy.PureLDP{Epsilon: 1, Unit: privacy.User}

// daily returns the sums of a stream with some user in 52 steps, a week apart.
func daily(d correlated.Design) privacy.CorrelatedGaussian {
	return privacy.CorrelatedGaussian{NoiseMultiplier: 8, Sensitivity: 60, Design: d,
		Participation: correlated.Participation{Times: 52, Apart: 7}, Unit: privacy.User, Neighbouring: privacy.AddRemove}
}

// dailyText returns the text of daily with a strategy and its numbers.
func dailyText(design string) string {
	return `{"kind":"correlated-gaussian","noise_multiplier":8,"sensitivity":60,"strategy":` + design +
		`,"times":52,"apart":7,"unit":"user","neighbouring":"add-remove"}`
}

// wire is the text of every kind, as files of earlier runs have it: a change here
// makes them unreadable.
var wire = []struct {
	event  privacy.Event
	text   string
	fields map[string]field
}{
	{privacy.Gaussian{Sigma: 0.25, Sensitivity: 3, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
		`{"kind":"gaussian","sigma":0.25,"sensitivity":3,"unit":"edge","neighbouring":"add-remove"}`,
		map[string]field{"sigma": positive, "sensitivity": positive, "unit": unit, "neighbouring": relation}},
	{privacy.Gaussian{Sigma: 0.25, Sensitivity: 3, Norm: 1.5, Unit: privacy.Edge, Neighbouring: privacy.Replace},
		`{"kind":"gaussian","sigma":0.25,"sensitivity":3,"norm":1.5,"unit":"edge","neighbouring":"replace"}`,
		map[string]field{"sigma": positive, "sensitivity": {[]string{`3`, `1`, `5e-324`}, []string{`0`, `-1`, `null`}, numbersNot, " is "}, "norm": normOf3, "unit": unit, "neighbouring": relation}},
	{privacy.Laplace{Scale: 1e-7, Sensitivity: 1e21, Unit: privacy.Interaction, Neighbouring: privacy.Replace},
		`{"kind":"laplace","scale":1e-7,"sensitivity":1e+21,"unit":"interaction","neighbouring":"replace"}`,
		map[string]field{"scale": positive, "sensitivity": positive, "unit": unit, "neighbouring": relation}},
	{privacy.SphericalLaplace{Scale: 0.5, Sensitivity: 2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove},
		`{"kind":"spherical-laplace","scale":0.5,"sensitivity":2,"unit":"edge","neighbouring":"add-remove"}`,
		map[string]field{"scale": positive, "sensitivity": positive, "unit": unit, "neighbouring": relation}},
	{privacy.DiscreteGaussian{Sigma: 1024, Sensitivity: 1040.5, Dimension: math.MaxInt64, Unit: privacy.User, Neighbouring: privacy.ZeroOut},
		`{"kind":"discrete-gaussian","sigma":1024,"sensitivity":1040.5,"dimension":9223372036854775807,"unit":"user","neighbouring":"zero-out"}`,
		map[string]field{"sigma": positive, "sensitivity": gridSteps, "dimension": wholeFrom1, "unit": unit, "neighbouring": relation}},
	{privacy.DiscreteLaplace{Scale: 512, Sensitivity: 256, Unit: privacy.Sample, Neighbouring: privacy.AddRemove},
		`{"kind":"discrete-laplace","scale":512,"sensitivity":256,"unit":"sample","neighbouring":"add-remove"}`,
		map[string]field{"scale": positive, "sensitivity": gridSteps, "unit": unit, "neighbouring": relation}},
	{leaf, leafText, map[string]field{"epsilon": positive, "unit": unit}},
	{privacy.RandomizedResponse{Epsilon: 3, Categories: 2, Unit: privacy.Feature},
		`{"kind":"randomized-response","epsilon":3,"categories":2,"unit":"feature"}`,
		map[string]field{"epsilon": positive, "categories": wholeFrom2, "unit": unit}},
	{privacy.Exponential{Epsilon: 0.5, Unit: privacy.Cell, Neighbouring: privacy.Replace}, otherText,
		map[string]field{"epsilon": positive, "unit": unit, "neighbouring": relation}},
	{daily(correlated.Design{Name: "banded", Steps: 365, Bands: 30}),
		dailyText(`"banded","steps":365,"bands":30`), map[string]field{
			"noise_multiplier": positive,
			"sensitivity":      {[]string{`60`, `1e300`}, []string{`0`, `-1`, `1`, `null`}, numbersNot, " is "},
			"strategy": {[]string{`"banded"`}, []string{`""`, `"Banded"`, `"root"`, `"tree"`, `"composed"`, `null`},
				textsNot, "strateg"},
			"steps": {[]string{`30`, `366`}, []string{`0`, `-1`, `29`, `10001`, `null`}, wholeNot, "steps"},
			"bands": {[]string{`1`, `31`}, []string{`0`, `-1`, `366`, `null`}, wholeNot, "bands, want 1 to"},
			"times": {[]string{`1`, `9223372036854775807`}, []string{`0`, `-1`, `null`}, wholeNot, "takes part at least"},
			"apart": {[]string{`8`, `9223372036854775807`}, []string{`0`, `-1`, `null`}, wholeNot, "at least 1 apart"},
			"unit":  unit,
			"neighbouring": {[]string{`"add-remove"`, `"zero-out"`}, []string{`""`, `"add"`, `null`}, textsNot,
				"unknown neighbouring relation"}}},
	{daily(correlated.Design{Name: "tree", Steps: 365}), dailyText(`"tree","steps":365`), nil},
	{daily(correlated.BufferedDesign(365, []correlated.Buffer{{Weight: 0.5, Decay: 0.75}, {Weight: 1e-7, Decay: 0.5}})),
		dailyText(`"blt","steps":365,"weights":[0.5,1e-07],"decays":[0.75,0.5]`), nil},
	{daily(correlated.Design{Name: "toeplitz", Steps: 365, Column: correlated.NumbersOf([]float64{1, -0.5, 0.25})}),
		dailyText(`"toeplitz","steps":365,"column":[1,-0.5,0.25]`), nil},
	{privacy.AllocatedGaussian{Sigma: 1.5, Sensitivity: 1, Times: 2, Steps: 235,
		Unit: privacy.Record, Neighbouring: privacy.AddRemove},
		`{"kind":"allocated-gaussian","sigma":1.5,"sensitivity":1,"times":2,` +
			`"steps":235,"unit":"record","neighbouring":"add-remove"}`,
		map[string]field{"sigma": positive, "sensitivity": positive, "unit": unit, "neighbouring": relation,
			"times": {[]string{`1`, `235`}, []string{`0`, `-1`, `236`, `null`}, wholeNot, "times is"},
			"steps": {[]string{`2`, `9223372036854775807`}, []string{`0`, `-1`, `1`, `null`},
				wholeNot, "at most steps"}}},
	{privacy.TruncatedGaussian{Sigma: 1.5, Sensitivity: 1, Rate: 0.125, Records: 100, Most: 20,
		Unit: privacy.Record, Neighbouring: privacy.ZeroOut},
		`{"kind":"truncated-gaussian","sigma":1.5,"sensitivity":1,"rate":0.125,` +
			`"records":100,"most":20,"unit":"record","neighbouring":"zero-out"}`,
		map[string]field{"sigma": positive, "sensitivity": positive, "unit": unit, "neighbouring": relation,
			"records": wholeFrom1, "most": wholeFrom1, "rate": rate}},
	{privacy.Unprotected{What: "labels", Why: `the "loss" <sees> them`, Unit: privacy.Record},
		`{"kind":"unprotected","what":"labels","why":"the \"loss\" \u003csees\u003e them","unit":"record"}`,
		map[string]field{"what": word, "why": word, "unit": unitOrNone}},
	{privacy.Unprotected{What: "labels", Why: "all of them"}, `{"kind":"unprotected","what":"labels","why":"all of them"}`, nil},
	{privacy.Composed{Events: []privacy.Event{leaf, leaf}}, `{"kind":"composed","events":[` + leafText + `,` + leafText + `]}`, map[string]field{"events": events}},
	{privacy.Parallel{Events: []privacy.Event{leaf}}, `{"kind":"parallel","events":[` + leafText + `]}`, map[string]field{"events": events}},
	{privacy.Parallel{Events: []privacy.Event{leaf}, Fixed: true}, `{"kind":"parallel","fixed":true,"events":[` + leafText + `]}`, map[string]field{"fixed": truth, "events": events}},
	{privacy.SelfComposed{Event: leaf, Count: 12}, `{"kind":"self-composed","count":12,"event":` + leafText + `}`,
		map[string]field{"count": wholeFrom1, "event": event}},
	{privacy.Sampled{Event: leaf, Rate: 0.125, Method: privacy.Poisson}, `{"kind":"sampled","rate":0.125,"method":"poisson","event":` + leafText + `}`,
		map[string]field{"rate": rate, "method": method, "event": event}},
	{privacy.Sampled{Event: leaf, Rate: 1, Method: privacy.WithoutReplacement}, `{"kind":"sampled","rate":1,"method":"without-replacement","event":` + leafText + `}`, nil},
}

// field is what a field takes and what it does not, as JSON; says is in every
// refusal of a value of the right type.
type field struct {
	good, bad, wrongType []string
	says                 string
}

var (
	numbersNot = []string{`"1"`, `true`, `[1]`, `{"v":1}`, `NaN`, `Infinity`, `1e999`, `-1e999`, `0x10`, `01`, `.5`, `1.`, `1,`, ``}
	wholeNot   = append([]string{`1.5`}, numbersNot...)
	textsNot   = []string{`1`, `false`, `["user"]`, `{}`, `user`, `'user'`, `"user`, ``}
	positive   = field{[]string{`1`, `5e-324`, `1.7976931348623157e308`, `1e-300`, `7`}, []string{`0`, `-0`, `-1`, `-1e-300`, `1e-400`, `null`}, numbersNot, " is "}
	normOf3    = field{[]string{`1.5`, `3`, `1e300`, `0`, `null`}, []string{`1.4999999999999998`, `1`, `-1.5`, `1e-300`}, numbersNot, "norm is "}
	gridSteps  = field{[]string{`1`, `0.9999999999999999`, `2.5`, `1.7976931348623157e308`, `7`}, append([]string{`5e-324`, `1e-300`, `0.5`, `0.99999999`}, positive.bad...), numbersNot, " is "}
	rate       = field{[]string{`1`, `5e-324`, `0.9999999999999999`}, []string{`0`, `-0.5`, `1.0000000000000002`, `2`, `1e308`, `null`}, numbersNot, "rate is "}
	wholeFrom1 = field{[]string{`1`, `2`, `9223372036854775807`}, []string{`0`, `-1`, `-9223372036854775808`, `null`}, append([]string{`1.5`, `1e2`, `9223372036854775808`}, numbersNot...), "want at least 1"}
	wholeFrom2 = field{[]string{`2`, `3`, `9223372036854775807`}, []string{`1`, `0`, `-2`, `null`}, append([]string{`2.0`, `2e0`}, numbersNot...), "want at least 2"}
	unit       = field{[]string{`"edge"`, `"interaction"`, `"user"`, `"sample"`, `"feature"`, `"record"`, `"cell"`}, []string{`""`, `"User"`, `"users"`, `" user"`, `"node"`, `null`}, textsNot, "unknown unit"}
	unitOrNone = field{append([]string{`""`, `null`}, unit.good...), []string{`"User"`, `"node"`, `"user\u0000"`}, textsNot, "unknown unit"}
	relation   = field{[]string{`"add-remove"`, `"replace"`, `"zero-out"`}, []string{`""`, `"add"`, `"remove"`, `"add_remove"`, `"Replace"`, `"replace-special"`, `null`}, textsNot, "unknown neighbouring relation"}
	truth      = field{[]string{`true`, `false`}, nil, []string{`"true"`, `1`, `[]`, `True`, ``}, ""}
	method     = field{[]string{`"poisson"`, `"without-replacement"`}, []string{`""`, `"Poisson"`, `"shuffled"`, `"with-replacement"`, `null`}, textsNot, "unknown sampling"}
	word       = field{[]string{`"x"`, `" "`, `"ä\u0000\n\""`, `"<&>"`}, []string{`""`, `null`}, textsNot, "must not be empty"}
	event      = field{[]string{leafText, otherText, ` ` + leafText + "\n"}, []string{`{}`, `{"kind":"pure-ldp"}`, `{"kind":"Pure-LDP","epsilon":1,"unit":"user"}`, `null`},
		[]string{`1`, `"x"`, `[]`, `[` + leafText + `]`, `true`, ``}, ""}
	events = field{[]string{`[` + leafText + `]`, `[` + leafText + `,` + otherText + `]`}, []string{`[]`, `null`, `[null]`, `[` + leafText + `,{}]`, `[[` + leafText + `]]`}, []string{`1`, `"x"`, leafText, `{}`, `true`, ``, `[` + leafText + `,]`}, ""}
)

// replaced is a text with another value of one key.
func replaced(t *testing.T, text, key, value string) string {
	t.Helper()
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		t.Fatal(err)
	}
	old := `"` + key + `":` + string(keys[key])
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s is %d times in %s", old, strings.Count(text, old), text)
	}
	return strings.Replace(text, old, `"`+key+`":`+value, 1)
}

func TestWireFormat(t *testing.T) {
	kinds := map[string]bool{}
	for _, w := range wire {
		kinds[w.event.Kind()] = true
		b, err := privacy.MarshalEvent(w.event)
		if err != nil || string(b) != w.text {
			t.Errorf("%#v is written as %s (%v), want %s", w.event, b, err, w.text)
		}
		back, err := privacy.UnmarshalEvent([]byte(w.text))
		if err != nil || !cmp.Equal(back, w.event) {
			t.Errorf("%s is read as %#v, %v", w.text, back, err)
		}
		if !json.Valid(b) || !strings.HasPrefix(w.text, `{"kind":"`+w.event.Kind()+`"`) {
			t.Errorf("%s does not begin with its kind", w.text)
		}
	}
	if len(kinds) != 16 {
		t.Errorf("%d kinds, want all 16", len(kinds))
	}
}

// Every field of every kind takes what its comment says and nothing else; what is
// refused says which kind and what is wrong.
func TestEveryFieldIsChecked(t *testing.T) {
	values := 0
	for _, w := range wire {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal([]byte(w.text), &keys); err != nil {
			t.Fatal(err)
		}
		if w.fields != nil && len(w.fields) != len(keys)-1 {
			t.Errorf("%s: %d fields are checked of %d", w.text, len(w.fields), len(keys)-1)
		}
		for key, f := range w.fields {
			for _, v := range f.good {
				text := replaced(t, w.text, key, v)
				e, err := privacy.UnmarshalEvent([]byte(text))
				if err != nil {
					t.Errorf("%s: %v", text, err)
					continue
				}
				if err := e.Validate(); err != nil {
					t.Errorf("%s: read, and then %v", text, err)
				}
			}
			for _, v := range f.bad {
				text := replaced(t, w.text, key, v)
				e, err := privacy.UnmarshalEvent([]byte(text))
				if err == nil || !strings.Contains(err.Error(), f.says) {
					t.Errorf("%s: read as %#v, error %v, want one with %q", text, e, err, f.says)
				} else if f.says == " is " && !strings.HasPrefix(err.Error(), w.event.Kind()+": "+key+" is ") {
					t.Errorf("%s: %v does not name its kind and field", text, err)
				}
				values++
			}
			for _, v := range f.wrongType {
				text := replaced(t, w.text, key, v)
				if e, err := privacy.UnmarshalEvent([]byte(text)); err == nil {
					t.Errorf("%s: read as %#v", text, e)
				}
				values++
			}
		}
	}
	if values < 300 {
		t.Errorf("%d bad values were tried", values)
	}
}

// A key that comes twice, of which the decoder takes the last, or that it takes
// for another one since it folds case, is not what MarshalEvent wrote.
func TestKeysAreTakenLiterally(t *testing.T) {
	for _, w := range wire {
		var keys map[string]json.RawMessage
		if err := json.Unmarshal([]byte(w.text), &keys); err != nil {
			t.Fatal(err)
		}
		for key, value := range keys {
			name := `"` + key + `":`
			for what, bad := range map[string]string{
				"twice, alike":    strings.Replace(w.text, "{", "{"+name+string(value)+",", 1),
				"twice, last":     w.text[:len(w.text)-1] + "," + name + string(value) + "}",
				"in capitals":     strings.Replace(w.text, name, strings.ToUpper(name), 1),
				"title":           strings.Replace(w.text, name, `"`+strings.ToUpper(key[:1])+key[1:]+`":`, 1),
				"long s":          strings.Replace(w.text, name, strings.Replace(name, "s", "ſ", 1), 1),
				"kelvin":          strings.Replace(w.text, name, strings.Replace(name, "k", "K", 1), 1),
				"space":           strings.Replace(w.text, name, `" `+key+`":`, 1),
				"no name":         strings.Replace(w.text, "{", `{"":1,`, 1),
				"after":           w.text + w.text,
				"a comma after":   w.text + ",",
				"a null after":    w.text + "null",
				"an array of one": "[" + w.text + "]",
				"a text of it":    string(must(json.Marshal(w.text))),
			} {
				if bad == w.text {
					continue
				}
				if e, err := privacy.UnmarshalEvent([]byte(bad)); err == nil {
					t.Errorf("%s %s: %s is read as %#v", key, what, bad, e)
				}
			}
		}
	}
	// Spaces, the order of keys and the spelling of numbers are free.
	for _, free := range []string{
		" \t\r\n" + leafText + "\n ", `{"unit":"user","epsilon":1.0,"kind":"pure-ldp"}`, `{ "kind" : "pure-ldp", "epsilon" : 10e-1, "unit" : "\u0075ser" }`,
		`{"\u006bind":"pure-ldp","epsilon":0.1E+1,"unit":"user"}`,
	} {
		if e, err := privacy.UnmarshalEvent([]byte(free)); err != nil || e != leaf {
			t.Errorf("%s: %#v, %v", free, e, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// nested wraps a leaf in so many levels of one kind.
func nested(kind string, levels int) (e privacy.Event, text string) {
	e, text = leaf, leafText
	for range levels {
		switch kind {
		case "composed":
			e, text = privacy.Composed{Events: []privacy.Event{leaf, e}}, `{"kind":"composed","events":[`+leafText+`,`+text+`]}`
		case "parallel":
			e, text = privacy.Parallel{Events: []privacy.Event{e}}, `{"kind":"parallel","events":[`+text+`]}`
		case "self-composed":
			e, text = privacy.SelfComposed{Event: e, Count: 1}, `{"kind":"self-composed","count":1,"event":`+text+`}`
		case "sampled":
			e, text = privacy.Sampled{Event: e, Rate: 1, Method: privacy.Poisson}, `{"kind":"sampled","rate":1,"method":"poisson","event":`+text+`}`
		}
	}
	return e, text
}

// What is written can be read: an event that is nested too deep for a reader is
// refused by the writer, and by a ledger, at the same depth.
func TestDepthIsOneLimit(t *testing.T) {
	const most = 16
	for _, kind := range []string{"composed", "parallel", "self-composed", "sampled"} {
		for _, levels := range []int{1, most - 1, most, most + 1, 3 * most} {
			e, text := nested(kind, levels)
			b, writing := privacy.MarshalEvent(e)
			_, reading := privacy.UnmarshalEvent([]byte(text))
			l := must(privacy.NewLedger(privacy.Research))
			recording := l.Record("p", e, 1)
			if levels <= most {
				if err := errors.Join(writing, reading, recording); err != nil || string(b) != text {
					t.Errorf("%s, %d levels: %s, %v", kind, levels, b, err)
				}
				continue
			}
			for what, err := range map[string]error{"written": writing, "read": reading, "recorded": recording} {
				if err == nil || !strings.Contains(err.Error(), "deeper than 16") {
					t.Errorf("%s, %d levels: %s: %v", kind, levels, what, err)
				}
			}
			if len(l.Entries()) != 0 {
				t.Errorf("%s, %d levels: a ledger holds what it refused", kind, levels)
			}
		}
	}
}

// An error deep inside says where it is, and is found by errors.Is through every
// level of the text.
func TestErrorsNameThePlace(t *testing.T) {
	bad := `{"kind":"pure-ldp","epsilon":-1,"unit":"user"}`
	for text, want := range map[string]string{
		`{"kind":"composed","events":[` + leafText + `,` + bad + `]}`:                                                 "composed: event 1: pure-ldp: epsilon is -1",
		`{"kind":"parallel","events":[{"kind":"composed","events":[` + leafText + `,` + leafText + `,` + bad + `]}]}`: "parallel: event 0: composed: event 2: pure-ldp",
		`{"kind":"composed","events":[{"kind":"novel"}]}`:                                                             `composed: event 0: unknown event kind "novel"`,
		`{"kind":"composed","events":[{"kind":"pure-ldp","epsilon":1,"unit":"user","eps":1}]}`:                        `event 0: json: unknown field "eps"`,
	} {
		if _, err := privacy.UnmarshalEvent([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	var syntax *json.SyntaxError
	if _, err := privacy.UnmarshalEvent([]byte(`{"kind":"pure-ldp",`)); err == nil || errors.As(err, &syntax) && syntax.Offset == 0 {
		t.Errorf("half an event: %v", err)
	}
	var typed *json.UnmarshalTypeError
	_, err := privacy.UnmarshalEvent([]byte(`{"kind":"composed","events":[{"kind":"pure-ldp","epsilon":"1","unit":"user"}]}`))
	if !errors.As(err, &typed) || typed.Field != "epsilon" && !strings.HasSuffix(typed.Field, ".epsilon") {
		t.Errorf("a text for a number: %v", err)
	}
}

// Numbers keep every bit: the text of a float64 is the shortest that gives it back.
func TestNumbersKeepEveryBit(t *testing.T) {
	values := []float64{math.SmallestNonzeroFloat64, 0x1p-1022, math.MaxFloat64, 1. / 3, 0.1, 1e21, 1e20, 1e-6, 1e-7, math.Nextafter(1, 2), math.Nextafter(1, 0), math.Pi}
	for x := 1e-310; x < 1e308; x *= 1.37e3 {
		values = append(values, x)
	}
	var texts []string
	for _, x := range values {
		e := privacy.Gaussian{Sigma: x, Sensitivity: 1 / (1 + x), Unit: privacy.User, Neighbouring: privacy.ZeroOut}
		if e.Sensitivity == 0 {
			e.Sensitivity = x
		}
		text := must(privacy.MarshalEvent(e))
		if back := must(privacy.UnmarshalEvent(text)); back != e {
			t.Errorf("%v comes back as %v", e, back)
		}
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	if n := len(slices.Compact(texts)); n != len(values) {
		t.Errorf("%d texts of %d numbers", n, len(values))
	}
	for _, count := range []int64{1, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		e := privacy.SelfComposed{Event: leaf, Count: count}
		if back := must(privacy.UnmarshalEvent(must(privacy.MarshalEvent(e)))); back != e {
			t.Errorf("%d comes back as %v", count, back)
		}
	}
}

func ExampleMarshalEvent() {
	step := privacy.Sampled{Rate: 0.01, Method: privacy.Poisson, Event: privacy.Gaussian{
		Sigma: 2, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}}
	text, err := privacy.MarshalEvent(step)
	fmt.Println(string(text), err)
	back, err := privacy.UnmarshalEvent(text)
	fmt.Println(back == step, err)
	_, err = privacy.MarshalEvent(privacy.Sampled{Rate: 1.5, Method: privacy.Poisson, Event: step.Event})
	fmt.Println(err)
	// Output:
	// {"kind":"sampled","rate":0.01,"method":"poisson","event":{"kind":"gaussian","sigma":2,"sensitivity":1,"unit":"user","neighbouring":"add-remove"}} <nil>
	// true <nil>
	// sampled: rate is 1.5, want above 0 and at most 1
}
