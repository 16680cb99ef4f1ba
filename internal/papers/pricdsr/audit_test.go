package pricdsr

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/protocol/auditing"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// audited runs an audit on generated rows.
func audited(t *testing.T, sets ...string) (o auditing.Outcome, text string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	if _, err := AuditTask().Start(t.Context(), run.Options{NoiseSeed: 1, Sets: append([]string{"run.out=" + dir, "run.workers=1", "data.name=standin-tiny"}, sets...), Stdout: &out,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}}); err != nil {
		t.Fatal(err)
	}
	return runtest.ReadJSON[auditing.Outcome](t, dir, "metrics.json", false), out.String()
}

// What released rows tell of one cell comes near to the epsilon of every mechanism, and never above it.
// Two cells exchanged show that theorem 1 is false: the bound is above the claim, and below twice it. A
// bound is above the truth once in 20 at most; the level of 1e-9 makes that of these.
func TestAudit(t *testing.T) {
	small := []string{"mechanism.length=4", "mechanism.items=10", "audit.level=1e-9"}
	for _, c := range []struct {
		sets         []string
		least, most  float64
		above, claim string
	}{
		{[]string{"mechanism.name=sdp-paper"}, 1.6, 2, "", "cell or order of two"},
		{[]string{"mechanism.name=sdp-paper", "mechanism.differ=padding"}, 2.05, 4, "the claim does not hold", "cell or order of two"},
		{[]string{"mechanism.name=sdp-paper", "mechanism.differ=order"}, 1.6, 4, "", "cell or order of two"},
		{[]string{"mechanism.name=sdp-fixed", "mechanism.differ=padding"}, 1.2, 2, "", "cell or order of two"},
		{[]string{"mechanism.name=rr", "mechanism.differ=order"}, 2.4, 4, "the claim does not hold", "cell or order of two"},
		{[]string{"mechanism.name=sdp-fixed", "mechanism.differ=order"}, 1.6, 2, "", "cell or order of two"},
		{[]string{"mechanism.name=sdp-lengths"}, 1.6, 2, "", "cell or order of two"},
		{[]string{"mechanism.name=set"}, 1.6, 2, "", "interaction"},
		{[]string{"mechanism.name=sdp-user", "mechanism.differ=row"}, 0.4, 2, "", "user"},
		{[]string{"mechanism.name=sdp-paper", "mechanism.differ=row"}, 2.4, 8, "another unit", "cell or order of two"},
	} {
		o, text := audited(t, slices.Concat(small, c.sets)...)
		b, positive, negative := o.Rows[0].Bound, o.Rows[1].Bound, o.Rows[2].Bound
		if float64(o.Accounted.Epsilon) != c.most || b.Epsilon < c.least || b.Epsilon > c.most || positive.Epsilon <= c.most/2 || positive.Epsilon <= b.Epsilon || negative.Epsilon != 0 {
			t.Errorf("%v: %v of %v, controls %v and %v", c.sets, b.Epsilon, o.Accounted.Epsilon, positive.Epsilon, negative.Epsilon)
		}
		if (c.above == "") != (o.Accounted.Above == "") || !strings.Contains(o.Accounted.Above, c.above) || !strings.Contains(text, "for one "+c.claim) || !strings.Contains(text, c.above) || !strings.Contains(text, "trains nothing") {
			t.Errorf("%v: %q\n%s", c.sets, o.Accounted.Above, text)
		}
	}
	for _, differ := range []string{"order", "padding"} {
		if o, _ := audited(t, "audit.canaries=2000", "mechanism.name=set", "mechanism.differ="+differ); o.Accounted.Epsilon != 2 || o.Rows[1].Bound.Epsilon != 0 {
			t.Errorf("a set has no order: %+v", o.Rows[1].Bound)
		}
	}
}

// The same seed gives the same bounds, and another other canaries.
func TestAuditSeeds(t *testing.T) {
	guesses := func(seed string) audit.Count {
		o, _ := audited(t, "audit.canaries=2000", "run.seed="+seed)
		return *o.Rows[0].Bound.Count
	}
	if a := guesses("1"); a != guesses("1") || a == guesses("2") && a == guesses("3") {
		t.Errorf("%+v", a)
	}
}

// A bound above what is promised is an error with both numbers.
func TestAuditContradicts(t *testing.T) {
	c := DefaultAudit()
	c.Data.Name, c.Mechanism.Length, c.Mechanism.Items = "standin-tiny", 4, 10
	task := auditing.Releases[AuditConfig]{Name: "pricdsr", Default: DefaultAudit, Check: checkAudit,
		Profile: func(c AuditConfig) (string, auditing.ReleaseConfig) { return c.Profile, c.Audit },
		Open: func(ctx context.Context, env *run.Env, _ AuditConfig) (*auditing.Channel, error) {
			ch, err := openAudit(ctx, env, c)
			if err == nil {
				ch.Epsilon = 1 // where it is 2
			}
			return ch, err
		}}.Task()
	var out bytes.Buffer
	_, err := task.Start(t.Context(), run.Options{NoiseSeed: 1, Sets: []string{"run.out=" + filepath.Join(t.TempDir(), "run")}, Stdout: &out, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	var high *audit.Contradiction
	if !errors.As(err, &high) || high.Accounted != 1 || !(high.Audited.Epsilon > 1.6) || !strings.Contains(out.String(), "accounted epsilon  1 ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Both sides of a canary are rows of the mechanism's domain that differ as they should.
func TestCanaryRows(t *testing.T) {
	for differ, want := range map[string]int{differValue: 1, differOrder: 2, differPadding: 2, differRow: 0} {
		c := DefaultAudit()
		c.Data.Name, c.Mechanism.Differ, c.Audit.Canaries = "standin-tiny", differ, 300
		m := sequence.Mechanism{Variant: sequence.SDPPaper, Epsilon: 2, Items: 40, Length: 12}
		d, err := registry.Load(t.Context(), c.Data.Name, c.Data.Recipe, dataset.View{Seed: 1}, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.canaries(d, m, rng.Seed(4).Stream("canary rows"))
		if err != nil {
			t.Fatal(err)
		}
		for k, cells := range r.cells {
			in, out := r.in[k*12:(k+1)*12], r.out[k*12:(k+1)*12]
			apart, items, seen := 0, 0, map[int32]int{}
			for i := range in {
				if in[i] != out[i] {
					apart++
				}
				if differ != differPadding && (in[i] == 0) != (out[i] == 0) || in[i] > 40 || out[i] > 40 {
					t.Fatalf("canary %d: %v and %v", k, in, out)
				}
				if out[i] > 0 {
					items++
					seen[out[i]]++
				}
			}
			if apart != len(cells) || want > 0 && apart != want || want == 0 && apart != items || len(seen) != items {
				t.Errorf("%s, canary %d: %v and %v differ in %d cells, want %v", differ, k, in, out, apart, cells)
			}
		}
	}
}

// Settings that mean nothing are refused by name.
func TestAuditRefused(t *testing.T) {
	for _, set := range []string{"mechanism.name=none", "mechanism.epsilon=0", "mechanism.length=1", "mechanism.items=30", "mechanism.differ=moved", "mechanism.differ=", "audit.canaries=1", "audit.guesses=[]", "audit.level=1"} {
		key, _, _ := strings.Cut(set, "=")
		if err := AuditTask().Check("", []string{set}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", set, err)
		}
	}
}
