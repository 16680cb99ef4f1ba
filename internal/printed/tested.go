package printed

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Tested says how many cases, such as test users, a mean of one run is over.
type Tested struct {
	Numbers  []int // one of them, where the text leaves a choice; empty: not stated
	Inferred bool  // the text does not say it
}

var cases = regexp.MustCompile(`^(inferred )?([1-9][0-9]{0,8}(?: or [1-9][0-9]{0,8})*)$`)

// UnmarshalText reads "943", and "inferred 188 or 189".
func (t *Tested) UnmarshalText(text []byte) error {
	m := cases.FindStringSubmatch(string(text))
	if m == nil {
		return fmt.Errorf("want a number of cases such as 943, or inferred 188 or 189, got %q", text)
	}
	*t = Tested{Inferred: m[1] != ""}
	for _, word := range strings.Split(m[2], " or ") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%q does not fit a number of cases", word)
		}
		t.Numbers = append(t.Numbers, n)
	}
	return nil
}

// String returns the numbers as "188 or 189".
func (t Tested) String() string {
	words := make([]string, len(t.Numbers))
	for i, n := range t.Numbers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " or ")
}
