package protect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/slate"
	"privrec/internal/privacy"
	"privrec/internal/tensor"
)

// Whatever stands outside of pool, vocabulary or vectors is an error that says where, and
// no panic. Pairs stay as they are.
func TestProtectNamesWhatIsOutside(t *testing.T) {
	set := logged(30, 60, 10, 5, 1)
	all := pool(t, set)
	for _, c := range []struct {
		want   string
		spoil  func(p *slate.Pairs)
		change func(o *Options)
	}{
		{"user of pair 7 is 30, want one of the 30 of the pool", func(p *slate.Pairs) { p.Users[7] = 30 }, func(o *Options) { o.Replace = ReplaceInBatch }},
		{"user of pair 7 is -1, want one of the 30 of the pool", func(p *slate.Pairs) { p.Users[7] = -1 }, func(o *Options) { o.Replace = ReplaceInBatch }},
		{"slate of pair 1, position 3: token 77, want one below 60", func(p *slate.Pairs) { p.Slates[13] = 77 }, func(o *Options) {}},
		{"slate of pair 29, position 9: token -3, want one below 60", func(p *slate.Pairs) { p.Slates[299] = -3 }, func(o *Options) {}},
		{"slate of pair 1, position 3: token 77, want an item below 60 or the unknown one", func(p *slate.Pairs) { p.Slates[13] = 77 }, rrOptions(t)},
		{"slate of pair 1, position 3: token 0, want an item below 60 or the unknown one", func(p *slate.Pairs) { p.Slates[13] = slate.Pad }, rrOptions(t)},
		{"slate of pair 0, position 1: token 59, want one with a place among the 50 vectors", func(p *slate.Pairs) { p.Slates[1] = 59 }, func(o *Options) {
			o.Select, o.Reference, o.Vectors = SelectSimilar, ReferenceSlate, o.Vectors[:50]
		}},
		{"behaviour of pair 2, position 4: token 60, want one with a place among the 60 vectors", func(p *slate.Pairs) { p.Behaviours[14] = 60 }, func(o *Options) { o.Select = SelectDissimilar }},
		{"behaviour of pair 2, position 4: token -1, want one with a place among the 60 vectors", func(p *slate.Pairs) { p.Behaviours[14] = -1 }, func(o *Options) { o.Select = SelectSimilar }},
		{"vector of token 9 has 3 numbers, those before it 2", func(*slate.Pairs) {}, func(o *Options) {
			o.Select, o.Vectors = SelectSimilar, slices.Clone(o.Vectors)
			o.Vectors[9] = []tensor.Float{1, 2, 3}
		}},
		{"30 pairs of 10 items with 299 tokens in slates", func(p *slate.Pairs) { p.Slates = p.Slates[:299] }, func(o *Options) {}},
		{"30 pairs of 5 clicks with 151 tokens in behaviours", func(p *slate.Pairs) { p.Behaviours = append(p.Behaviours, 9) }, func(o *Options) {}},
	} {
		p := &slate.Pairs{T: 10, L: 5, Slates: slices.Clone(set.Test.Slates), Behaviours: slices.Clone(set.Test.Behaviours), Users: slices.Clone(set.Test.Users), Complete: set.Test.Complete}
		c.spoil(p)
		before := slices.Clone(p.Slates)
		o := Options{Method: Method{Ratio: 0.2, Batch: 10}, Pool: all, Vectors: directions(60), Workers: 2}
		c.change(&o)
		out, _, err := protectOrPanic(p, o)
		if err == nil || out != nil || !strings.HasPrefix(err.Error(), "protect slates: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if !slices.Equal(before, p.Slates) {
			t.Errorf("%s: the slates given have changed", c.want)
		}
	}
}

func rrOptions(t *testing.T) func(o *Options) {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Replace, o.Ratio, o.Epsilon, o.Ledger = ReplaceRR, 0, 3, l }
}

// protectOrPanic makes an error of a panic of Slates' own goroutine.
func protectOrPanic(p *slate.Pairs, o Options) (out *slate.Pairs, r Report, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	return Slates(context.Background(), p, o)
}

// A pool and the accuracy of slates do not take a user for granted either.
func TestUsersOutsideTheSet(t *testing.T) {
	set := logged(3, 60, 10, 5, 1)
	set.Logged = nil
	set.Test.Users[2] = 3
	if _, err := NewPool(set); err == nil || !strings.Contains(err.Error(), "test pair 2 is of user 3, want one of the 3 of the set") {
		t.Errorf("pool: %v", err)
	}
	set.Test.Users[2] = -1
	if _, err := NewPool(set); err == nil || !strings.Contains(err.Error(), "test pair 2 is of user -1") {
		t.Errorf("pool: %v", err)
	}
	many := logged(3, 60, 10, 5, 1)
	many.Users, many.Logged[2][0] = many.Users[:2], 60
	if _, err := NewPool(many); err == nil || !strings.Contains(err.Error(), "logs of 3 users in a set of 2") {
		t.Errorf("pool: %v", err)
	}
	with, _ := Accuracy(set, set.Test)
	without, _ := Accuracy(set, set.Test.Select([]int32{0, 1}))
	if with != without {
		t.Errorf("accuracy %g with a pair without a user, %g without", with, without)
	}
}
