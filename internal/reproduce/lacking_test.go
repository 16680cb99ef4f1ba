package reproduce

import (
	"errors"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Missing data are an error of a table only where no run has its data.
func TestLackingData(t *testing.T) {
	for _, c := range []struct {
		status  []Status
		lacking string // "" for none
		err     string // "" for none
		data    bool   // the error is one of the data
	}{
		{status: []Status{Done, Done}},
		{status: []Status{Done, NoData, NoData}, lacking: "2 of 3 runs lack"},
		{status: []Status{NoData, NoData}, lacking: "2 of 2 runs lack", err: "2 of 2 runs lack", data: true},
		{status: []Status{NoData, Failed, Done}, lacking: "1 of 3 runs lack", err: "1 of 3 runs failed"},
		{status: []Status{NoData, ToDo}, lacking: "1 of 2 runs lack", err: "1 of 2 runs are not finished"},
		{},
	} {
		o := &Outcome{Table: &Table{Name: "x"}}
		for _, s := range c.status {
			o.Runs = append(o.Runs, Run{Status: s})
		}
		if got := o.Lacking(); !strings.HasPrefix(got, c.lacking) || (got == "") != (c.lacking == "") {
			t.Errorf("%v: lacking %q", c.status, got)
		}
		err := o.Err()
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: error %v", c.status, err)
		}
		if of := new(dataset.Error); errors.As(err, &of) != c.data {
			t.Errorf("%v: an error of the data: %v", c.status, !c.data)
		}
	}
}
