package slate

import (
	"fmt"
	"slices"
	"strings"
)

// valid checks what every set must keep.
func (s *Set) valid() error {
	if len(s.Items) != s.Vocab || s.Items[Pad] != "[PAD]" || s.Items[End] != "[EOS]" {
		return fmt.Errorf("%d items of %d tokens", len(s.Items), s.Vocab)
	}
	for _, list := range []struct {
		name string
		rows [][]int32
	}{{"logged", s.Logged}, {"clicked", s.Clicked}, {"histories", s.Histories}} {
		if list.rows != nil && len(list.rows) != len(s.Users) {
			return fmt.Errorf("%s of %d users, there are %d", list.name, len(list.rows), len(s.Users))
		}
		for u, row := range list.rows {
			for _, x := range row {
				if x < FirstItem || int(x) >= s.Vocab {
					return fmt.Errorf("%s of user %s hold token %d", list.name, s.Users[u], x)
				}
			}
			if list.name == "clicked" && !slices.IsSorted(row) {
				return fmt.Errorf("clicked items of user %s are not ascending", s.Users[u])
			}
		}
	}
	for name, p := range map[string]*Pairs{"train": s.Train, "valid": s.Valid, "test": s.Test} {
		n := p.Len()
		if len(p.Slates) != n*p.T || len(p.Behaviours) != n*p.L || len(p.Complete) != n {
			return fmt.Errorf("%s has %d users, %d shown, %d clicked, %d flags", name, n, len(p.Slates), len(p.Behaviours), len(p.Complete))
		}
		for i := range n {
			if u := p.Users[i]; u < 0 || int(u) >= len(s.Users) {
				return fmt.Errorf("%s pair %d has user %d", name, i, u)
			}
			complete := true
			for _, x := range append(slices.Clone(p.Slate(i)), p.Behaviour(i)...) {
				if x != OOV && x < FirstItem || int(x) >= s.Vocab {
					return fmt.Errorf("%s pair %d has token %d", name, i, x)
				}
				complete = complete && x != OOV
			}
			// A short slate of a pair that lost an item cannot be known to be complete.
			cut := strings.HasPrefix(s.Name, "exposure-") && (p.T < tableT || p.L < tableL) && !p.Complete[i]
			if complete != p.Complete[i] && !cut {
				return fmt.Errorf("%s pair %d: complete is %v", name, i, p.Complete[i])
			}
		}
	}
	return nil
}

// disjoint checks that no user has pairs in two parts.
func (s *Set) disjoint() error {
	part := map[int32]string{}
	for _, c := range []struct {
		name string
		p    *Pairs
	}{{"train", s.Train}, {"valid", s.Valid}, {"test", s.Test}} {
		for _, u := range c.p.Users {
			if other, ok := part[u]; ok && other != c.name {
				return fmt.Errorf("user %s has pairs in %s and in %s", s.Users[u], other, c.name)
			}
			part[u] = c.name
		}
	}
	return nil
}
