package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type trainPart struct {
	Epochs int     `yaml:"epochs"`
	LR     float64 `yaml:"lr"`
}

type sample struct {
	Name    string             `yaml:"name"`
	Seed    uint64             `yaml:"seed"`
	Small   int8               `yaml:"small"`
	On      bool               `yaml:"on"`
	Wait    time.Duration      `yaml:"wait"`
	Tags    []string           `yaml:"tags"`
	Sizes   []int              `yaml:"sizes"`
	Weights map[string]float64 `yaml:"weights"`
	Train   trainPart          `yaml:"train"`
	Privacy struct {
		Delta   float64 `yaml:"delta"`
		Epsilon float64 `yaml:"epsilon" config:"inf"`
	} `yaml:"privacy"`
	Inner `yaml:",inline"`
}

type Inner struct {
	Depth int `yaml:"depth"`
}

func defaults() sample {
	s := sample{Name: "d", Seed: 1, Tags: []string{"t"}, Sizes: []int{1}, Weights: map[string]float64{"w": 1}}
	s.Train = trainPart{Epochs: 10, LR: 0.001}
	s.Privacy.Delta = 1e-5
	return s
}

// One tiny file per way to be wrong, with the whole message a user sees.
func TestBadFiles(t *testing.T) {
	dir := "../../testdata/bad/config"
	want := map[string]string{
		"unknown_key":          "F:3:3: train.epoch: unknown key",
		"unknown_key_far":      "F:1:1: zzzzzzzz: unknown key",
		"wrong_type":           `F:2:11: train.epochs: want an integer, found the text "many"`,
		"fraction_for_integer": "F:2:11: train.epochs: want an integer, found the number 1.5",
		"exponent_for_integer": "F:2:11: train.epochs: want an integer, found the number 1e3",
		"octal":                "F:2:11: train.epochs: integer 010 starts with a zero, which YAML reads as octal",
		"null_value":           "F:2:6: train.lr: no value (null)",
		"null_tilde":           "F:1:8: train: no value (null)",
		"nan":                  "F:2:10: privacy.delta: NaN is not a value",
		"infinite":             "F:2:10: privacy.delta: must be finite",
		"overflow":             "F:1:8: small: 300 does not fit an integer of type int8",
		"negative_unsigned":    "F:1:7: seed: -1 does not fit an integer of at least 0",
		"two_documents":        "F:2:1: a second document starts here, only one is read",
		"empty":                "F:1:1: the file is empty",
		"only_comment":         "F:1:1: the file is empty",
		"null_document":        "F:1:1: the file is empty",
		"duplicate_key":        "F:4:3: train.epochs: given twice, first on line 2",
		"scalar_at_top":        "F:1:1: want keys and values at the top, found the integer 42",
		"list_at_top":          "F:1:1: want keys and values at the top, found a list",
		"tab":                  "F:2: found character that cannot start any token",
		"unclosed":             "F:1: did not find expected ',' or ']'",
		"invalid_utf8":         "F:1:7: invalid UTF-8",
		"anchor":               "F:1:7: name: anchors and aliases are not supported, write the value out",
		"alias":                "F:1:7: name: anchors and aliases are not supported, write the value out\nF:2:8: tags.0: anchors and aliases are not supported, write the value out",
		"merge":                "F:3:3: privacy: a key must be a plain word, found a merge key",
		"tag":                  "F:1:7: name: tag !!binary is not supported, write the plain value",
		"number_for_text":      "F:1:7: name: want text, found the integer 7; quote it",
		"list_for_struct":      "F:1:8: train: want keys and values, found a list",
		"text_for_list":        `F:1:7: tags: want a list, found the text "a"`,
		"bool":                 `F:1:5: on: want true or false, found the text "yes please"`,
		"duration":             `F:1:7: wait: want a duration like 30s, found the text "3 parsecs"`,
		"not_scalar":           "F:1:7: name: want text, found keys and values",
		"list_element":         "F:1:12: sizes.1: want an integer, found the text \"x\"\nF:1:15: sizes.2: want an integer, found the number 2.5",
		"map_value":            `F:1:20: weights.b: want a number, found the text "z"`,
		"several": "F:1:1: nam: unknown key\nF:3:11: train.epochs: want an integer, found the number 1.5\n" +
			"F:4:7: train.lr: want a number, found the text \"fast\"\nF:6:10: privacy.delta: no value (null)",
	}
	files, err := filepath.Glob(dir + "/*.yaml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files for %d expectations (%v)", len(files), len(want), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		t.Run(name, func(t *testing.T) {
			got, _, err := Load(f, nil, defaults())
			if err == nil {
				t.Fatal("accepted")
			}
			if msg := strings.ReplaceAll(err.Error(), f, "F"); msg != want[name] {
				t.Errorf("message\n got %q\nwant %q", msg, want[name])
			}
			if !Is(err) {
				t.Error("not recognised as a configuration problem")
			}
			if diff := cmp.Diff(defaults(), got); diff != "" {
				t.Errorf("defaults changed beside an error:\n%s", diff)
			}
		})
	}
}

// What to do about it is said where it is known.
func TestFileHints(t *testing.T) {
	for name, want := range map[string]string{
		"tab":           "indent with spaces, YAML takes no tabs",
		"unclosed":      "",
		"empty":         "write {} to take every default",
		"null_document": "write {} to take every default",
		"two_documents": "keep one document in a file",
		"invalid_utf8":  "save the file as UTF-8 text",
		"not_there":     "check the path",
	} {
		_, _, err := Load("../../testdata/bad/config/"+name+".yaml", nil, defaults())
		var h interface{ Hint() string }
		if !errors.As(err, &h) || h.Hint() != want {
			t.Errorf("%s: error %v, want hint %q", name, err, want)
		}
	}
}

func TestGood(t *testing.T) {
	text := "name: ml\nseed: 18446744073709551615\ntrain: {lr: 1e-3}\nprivacy:\n  epsilon: .inf\n  delta: 1\n" +
		"wait: 1m30s\nweights: {a: 2}\nsizes: []\ndepth: 4\n"
	got, doc, err := Parse("f.yaml", []byte(text), nil, defaults())
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.Name, want.Seed, want.Wait, want.Sizes, want.Depth = "ml", math.MaxUint64, 90*time.Second, []int{}, 4
	want.Weights = map[string]float64{"a": 2}
	want.Privacy.Epsilon, want.Privacy.Delta = math.Inf(1), 1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for path, where := range map[string]string{
		"privacy.delta": "f.yaml:6:10: privacy.delta: bad",
		"train.lr":      "f.yaml:3:13: train.lr: bad",
		"train.epochs":  "f.yaml:3:8: train.epochs: bad", // default: points at the block it belongs to
		"tags":          "f.yaml: tags: bad",
	} {
		if msg := doc.Errorf(path, "bad").Error(); msg != where {
			t.Errorf("%s: got %q, want %q", path, msg, where)
		}
	}
	if !doc.Given("depth") || doc.Given("tags") {
		t.Error("Given does not tell set keys from defaults")
	}
}

func TestSet(t *testing.T) {
	sets := []string{"train.epochs=3", "name=7", "tags=[a, b]", "privacy.delta=0.1", "weights.q=2", "on=true"}
	got, doc, err := Parse("f.yaml", []byte("train: {epochs: 1, lr: 2}\n"), sets, defaults())
	if err != nil {
		t.Fatal(err)
	}
	want := defaults()
	want.Train, want.Name, want.Tags, want.On = trainPart{3, 2}, "7", []string{"a", "b"}, true
	want.Weights = map[string]float64{"q": 2}
	want.Privacy.Delta = 0.1
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if !doc.Overridden("train.epochs") || doc.Overridden("train.lr") || doc.Overridden("wait") {
		t.Error("Overridden does not tell overrides from the file and the defaults")
	}
	if msg := doc.Errorf("train.epochs", "bad").Error(); msg != "--set train.epochs: bad" {
		t.Error(msg)
	}
	for _, c := range []struct{ set, want string }{
		{"train.epochs=1.5", "--set train.epochs: want an integer, found the number 1.5"},
		{"train.epoch=1", "--set train.epoch: unknown key"},
		{"train.epochs.x=1", "--set train.epochs.x: train.epochs is the integer 1, which has no keys"},
		{"train.epochs", `--set train.epochs: no '=' in the override`},
		{"=1", `--set "=1": empty key in the override`},
		{"a..b=1", "--set a..b: empty key in the override"},
		{"tags=[a", "--set tags: value \"[a\" is not YAML: did not find expected ',' or ']'"},
		{"privacy.delta=.nan", "--set privacy.delta: NaN is not a value"},
		{"train.lr=null", "--set train.lr: no value (null)"},
		{"privacy={delta: x}", `--set privacy: privacy.delta: want a number, found the text "x"`},
		{"nope.x=1", "--set nope: unknown key"},
		{"privacy={delta: 1, delta: 2}", "--set privacy: privacy.delta: given twice"},
	} {
		_, _, err := Parse("f.yaml", []byte("train: {epochs: 1}\n"), []string{c.set}, defaults())
		if err == nil || err.Error() != c.want {
			t.Errorf("--set %s: got %v, want %s", c.set, err, c.want)
		}
	}
}

// A key that the file has twice is the file's fault, also where an override names it.
func TestTwiceUnderSet(t *testing.T) {
	for _, set := range []string{"train.epochs=3", "train.lr=1", "train={lr: 2}"} {
		_, _, err := Parse("f.yaml", []byte("train:\n  epochs: 1\n  epochs: 2\n"), []string{set}, defaults())
		want := "f.yaml:3:3: train.epochs: given twice, first on line 2"
		if set == "train={lr: 2}" { // the file's part is gone
			if err != nil {
				t.Errorf("--set %s: %v", set, err)
			}
		} else if err == nil || err.Error() != want {
			t.Errorf("--set %s: got %v, want %s", set, err, want)
		}
	}
}

func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		"train: {epoch: 1}": `did you mean "epochs"?`,
		"train: {zzz: 1}":   "known keys here: epochs, lr",
		"train: {lr: }":     "give a value, or delete the key to take the default",
		"":                  "write {} to take every default",
	} {
		_, _, err := Parse("f", []byte(text), nil, defaults())
		var h interface{ Hint() string }
		if !errors.As(err, &h) || h.Hint() != want {
			t.Errorf("%q: hint of %v is not %q", text, err, want)
		}
	}
}

func TestMissingFileAndDefaults(t *testing.T) {
	_, _, err := Load(filepath.Join(t.TempDir(), "no.yaml"), nil, defaults())
	if err == nil || !strings.Contains(err.Error(), "no.yaml: cannot read the configuration: no such file") || !Is(err) {
		t.Errorf("missing file: %v", err)
	}
	got, _, err := Load("", []string{"depth=2"}, defaults())
	if err != nil || got.Depth != 2 {
		t.Errorf("no file: %v, %v", got.Depth, err)
	}
}

// Loading one file must not change the defaults the next one starts from.
func TestDefaultsAreNotShared(t *testing.T) {
	def := defaults()
	got, _, err := Parse("f", []byte("{}"), nil, def)
	if err != nil {
		t.Fatal(err)
	}
	got.Tags[0], got.Weights["w"] = "changed", 9
	if def.Tags[0] != "t" || def.Weights["w"] != 1 {
		t.Error("a loaded configuration shares memory with the defaults")
	}
}

// The canonical form of any effective configuration reads back to
// it and has the same hash.
func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := defaults()
		c.Name = rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "name")
		c.Seed = rapid.Uint64().Draw(t, "seed")
		c.Small = rapid.Int8().Draw(t, "small")
		c.On = rapid.Bool().Draw(t, "on")
		c.Wait = time.Duration(rapid.Int64().Draw(t, "wait"))
		c.Train.LR = rapid.Float64().Draw(t, "lr") + 0
		c.Tags = rapid.SliceOf(rapid.SampledFrom([]string{"", "yes", "null", "1", "0x1", "a: b", "- c", "~", "1e3", "<<", "!x", "&a", "2001-01-01", "=", "0b1", "1_0", ".nan", "010"})).Draw(t, "tags")
		if c.Tags == nil {
			c.Tags = []string{}
		}
		c.Privacy.Epsilon = rapid.SampledFrom([]float64{math.Inf(1), 0, 5, 1e-300}).Draw(t, "eps")
		b, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := Parse("canonical", b, nil, sample{})
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if diff := cmp.Diff(c, back); diff != "" {
			t.Fatalf("%s\n%s", diff, b)
		}
		h1, _ := Hash(c)
		h2, _ := Hash(back)
		if h1 != h2 || len(h1) != 64 {
			t.Fatalf("hashes %s and %s", h1, h2)
		}
	})
}

func TestHashTellsConfigurationsApart(t *testing.T) {
	a, b := defaults(), defaults()
	b.Train.LR = math.Nextafter(b.Train.LR, 1)
	ha, _ := Hash(a)
	hb, _ := Hash(b)
	if ha == hb {
		t.Error("a change in the last bit does not change the hash")
	}
}

// No input may panic; what is accepted must encode and read back.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/bad/config/*.yaml")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "train.epochs=3")
	}
	f.Add([]byte("name: x\ntrain: {lr: 1e-3}\n"), "tags=[a]")
	f.Fuzz(func(t *testing.T, data []byte, set string) {
		c, doc, err := Parse("fuzz", data, []string{set}, defaults())
		if err != nil {
			if !Is(err) || err.Error() == "" {
				t.Fatalf("error without a message: %v", err)
			}
			return
		}
		_ = doc.Errorf("train.epochs", "x").Error()
		b, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Parse("again", b, nil, sample{}); err != nil {
			t.Fatalf("accepted %q but its canonical form fails: %v\n%s", data, err, b)
		}
	})
}

// Every kind of syntax error points at the line it is on; one without an end, at the
// line where it begins.
func TestSyntaxLines(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
		msg  string
	}{
		{"seed: 1\nname: }\n", 2, "did not find expected node content"},
		{"seed: 1\nname: b\nsizes: [1,,2]\n", 3, "did not find expected node content"},
		{"seed: 1: 2", 1, "mapping values are not allowed in this context"},
		{"seed: 1\nname: 1: 2\n", 2, "mapping values are not allowed in this context"},
		{"\n\na b\nc: 1", 4, "mapping values are not allowed in this context"},
		{"name: *q", 1, "unknown anchor 'q' referenced"},
		{"seed: 1\nname: *q\ndepth: 1\n", 2, "unknown anchor 'q' referenced"},
		{"seed: 1\ntrain:\n\tlr: 2\n", 3, "found character that cannot start any token"},
		{"seed: 1\ntrain:\n  lr: 1\n\tepochs: 2\n", 4, "found a tab character that violates indentation"},
		{"seed: 1\ntrain:\n  lr: 1\n  deep:\n      b: 2\n    c: 3\nname: x\n", 6, "did not find expected key"},
		{"seed: 1\n- b\n", 2, "did not find expected key"},
		{"- b\nseed: 1\n", 2, "did not find expected '-' indicator"},
		{"seed: 1\nsizes: [1, 2\ndepth: 3\n", 2, "did not find expected ',' or ']'"},
		{"seed: 1\n\ntrain: {lr: 1\ndepth: 2\n", 3, "did not find expected ',' or '}'"},
		{"seed: 1\nname: \"x\ndepth: 2\n", 2, "found unexpected end of stream"},
		{"name: \"\\q\"\n", 1, "found unknown escape character"},
		{"seed: 1\nname: @x\n", 2, "found character that cannot start any token"},
		{"seed: 1\nname: - c\n", 2, "block sequence entries are not allowed in this context"},
		{"seed: 1\nname: !a!b c\n", 2, "found undefined tag handle"},
		{"seed: 1\nname: |\n\tx\n", 3, "found a tab character where an indentation space is expected"},
		{"seed: 1\nname: \x01\n", 2, "control characters are not allowed"},
		{"%FOO\nseed: 1", 1, "found unknown directive name"},
		{"seed: 1\n...\nname: b\n", 3, "did not find expected <document start>"},
		{"seed: 1\n---\nname: }\n", 3, "did not find expected node content"},
	} {
		_, _, err := Parse("F", []byte(c.text), nil, defaults())
		if want := fmt.Sprintf("F:%d: %s", c.line, c.msg); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %v", c.text, err, want)
		}
	}
}

// Numbers that would not be the ones written, and keys that are not words.
func TestRefusedWords(t *testing.T) {
	for text, want := range map[string]string{
		"train: {lr: 1e-400}":         "F:1:13: train.lr: 1e-400 is too small, it would become 0",
		"train: {lr: -0.0001E-400}":   "F:1:13: train.lr: -0.0001E-400 is too small, it would become 0",
		"train: {lr: 0x10}":           "F:1:13: train.lr: number 0x10 is not written in plain decimal digits",
		"train: {lr: 1_0.5}":          "F:1:13: train.lr: number 1_0.5 is not written in plain decimal digits",
		"seed: 0x10":                  "F:1:7: seed: integer 0x10 is not written in plain decimal digits",
		"seed: 0o17":                  "F:1:7: seed: integer 0o17 is not written in plain decimal digits",
		"seed: 0b11":                  "F:1:7: seed: integer 0b11 is not written in plain decimal digits",
		"seed: 1_000":                 "F:1:7: seed: integer 1_000 is not written in plain decimal digits",
		"~: 1":                        "F:1:1: : a key must be a plain word, found null",
		"weights: {null: 1}":          "F:1:11: weights: a key must be a plain word, found null",
		"!!str seed: 1":               `F:1:1: : a key must be a plain word, found the text "seed"`,
		"weights: {!!binary YQ==: 1}": `F:1:11: weights: a key must be a plain word, found the text "YQ=="`,
	} {
		_, _, err := Parse("F", []byte(text), nil, defaults())
		if err == nil || strings.Replace(err.Error(), "F:1:1: a key", "F:1:1: : a key", 1) != want {
			t.Errorf("%q:\n got %v\nwant %v", text, err, want)
		}
	}
	for _, text := range []string{"train: {lr: 0e-400}", "train: {lr: 5e-324}", "train: {lr: 0.0}", "seed: 0", "small: +5"} {
		if _, _, err := Parse("F", []byte(text), nil, defaults()); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A nil pointer is written as null and read back as nil, over any default.
func TestEncodeNilPointer(t *testing.T) {
	type inner struct {
		N int `yaml:"n"`
	}
	type pointed struct {
		P *inner `yaml:"p"`
		X *int   `yaml:"x"`
	}
	seven := 7
	def := pointed{P: &inner{3}, X: &seven}
	for _, c := range []pointed{{}, {P: &inner{4}}, def} {
		b, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Parse("F", b, nil, def)
		if diff := cmp.Diff(c, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", b, err, diff)
		}
	}
}
