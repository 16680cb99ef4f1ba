package privacy

import (
	"strings"
	"testing"
)

// TestFixedIsWrittenOneWay: a ledger of an older program has no word of fixed parts and
// reads as parts that are not; the word has one spelling, and belongs to parallels.
func TestFixedIsWrittenOneWay(t *testing.T) {
	entry := func(event string) error {
		_, err := parseEntry([]byte(`{"period":"","purpose":"parts","count":1,"event":` + event + `}`))
		return err
	}
	const part = `"events":[{"kind":"pure-ldp","epsilon":1,"unit":"user"}]}`
	e, err := UnmarshalEvent([]byte(`{"kind":"parallel",` + part))
	if p, ok := e.(Parallel); err != nil || !ok || p.Fixed {
		t.Errorf("%+v, %v", e, err)
	}
	for event, want := range map[string]string{
		`{"kind":"parallel",` + part:               "",
		`{"kind":"parallel","fixed":true,` + part:  "",
		`{"kind":"parallel","fixed":false,` + part: "canonical",
		`{"kind":"composed","fixed":true,` + part:  "unknown field",
	} {
		if err := entry(event); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", event, err, want)
		}
	}
}
