package features

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/protocol/auditing"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// audited runs an audit on generated rows.
func audited(t *testing.T, sets ...string) (o auditing.Outcome, text string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	if _, err := AuditTask("a paper").Start(t.Context(), run.Options{NoiseSeed: 1, Sets: append([]string{"run.out=" + dir, "run.workers=1", "data.name=standin-tiny", "audit.level=1e-9"}, sets...), Stdout: &out,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}}); err != nil {
		t.Fatal(err)
	}
	return runtest.ReadJSON[auditing.Outcome](t, dir, "metrics.json", false), out.String()
}

// What released features tell of an attribute comes near to the epsilon that Costs says, and of a row
// shows some of what the paper claims. No bound is above.
func TestAudit(t *testing.T) {
	attributes := []string{"mechanism.features.form=attributes", "mechanism.features.epsilon=2"}
	for _, c := range []struct {
		sets        []string
		least, most float64
		unit        string
	}{
		{nil, 1.8, 2.5, "gender"},
		{[]string{"mechanism.attribute=occupation"}, 1.8, 2.5, "occupation"},
		{[]string{"mechanism.features.epsilon=2", "mechanism.features.draw=1", "audit.canaries=200000"}, 0.4, 2, "gender"},
		{[]string{"mechanism.differ=row"}, 1.5, 20, "row of features"},
		{attributes, 1.8, 2, "gender"},
		{append(attributes, "mechanism.attribute=age"), 1.7, 2, "age"},
		{append(attributes, "mechanism.attribute=occupation"), 1.6, 2, "occupation"},
		{append(attributes, "mechanism.differ=row"), 1.8, 6, "row of features"},
	} {
		o, text := audited(t, c.sets...)
		b, positive, negative := o.Rows[0].Bound, o.Rows[1].Bound, o.Rows[2].Bound
		if d := float64(o.Accounted.Epsilon) - c.most; d > 1e-9 || d < -1e-9 || b.Epsilon < c.least || b.Epsilon > c.most || positive.Epsilon <= b.Epsilon || negative.Epsilon != 0 {
			t.Errorf("%v: %v of %v, controls %v and %v", c.sets, b.Epsilon, o.Accounted.Epsilon, positive.Epsilon, negative.Epsilon)
		}
		if o.Accounted.Unit != c.unit || o.Accounted.Above != "" || !strings.Contains(text, "trains nothing") || !strings.Contains(text, "for one row of features") {
			t.Errorf("%v: %+v\n%s", c.sets, o.Accounted, text)
		}
	}
}

// Settings that mean nothing are refused by name.
func TestAuditRefused(t *testing.T) {
	for _, set := range []string{"mechanism.features.noise=none", "mechanism.features.epsilon=0", "mechanism.features.range=min-max", "mechanism.differ=nothing", "mechanism.attribute=height", "audit.canaries=1"} {
		key, _, _ := strings.Cut(set, "=")
		if err := AuditTask("a paper").Check("", []string{set}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", set, err)
		}
	}
	_, err := AuditTask("a paper").Start(t.Context(), run.Options{NoiseSeed: 1, Sets: slices.Concat([]string{"run.out=" + filepath.Join(t.TempDir(), "run"), "data.name=standin-tiny", "data.recipe=rdpgcf"}), Stdout: &bytes.Buffer{},
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	if err == nil || !strings.Contains(err.Error(), "features") {
		t.Errorf("without features: %v", err)
	}
}
