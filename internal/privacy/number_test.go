package privacy_test

import (
	"encoding/json"
	"math"
	"testing"

	"privrec/internal/privacy"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		n          privacy.Number
		json, text string
	}{
		{privacy.Number(math.Inf(1)), `"infinity"`, "infinity"}, {7.2831, "7.2831", "7.2831"}, {129809.6939, "129809.6939", "1.2981e+05"}, {0, "0", "0"},
	} {
		b, err := json.Marshal(c.n)
		if err != nil || string(b) != c.json || c.n.String() != c.text {
			t.Errorf("%v: written as %s (%v) and %s", float64(c.n), b, err, c.n)
		}
		var back privacy.Number
		if err := json.Unmarshal(b, &back); err != nil || back != c.n {
			t.Errorf("%s is read as %v (%v)", b, back, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		if _, err := json.Marshal(privacy.Number(bad)); err == nil {
			t.Errorf("%v was written", bad)
		}
	}
	for _, bad := range []string{`"inf"`, `"7"`, `[]`, `"-infinity"`} {
		var n privacy.Number
		if err := json.Unmarshal([]byte(bad), &n); err == nil {
			t.Errorf("%s was read as %v", bad, n)
		}
	}
}
