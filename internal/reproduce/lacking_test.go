package reproduce

import (
	"errors"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
)

// Missing data are an error of a table only where no run has its data.
func TestLackingData(t *testing.T) {
	for _, c := range []struct {
		status  []roster.Status
		lacking string // "" for none
		err     string // "" for none
		data    bool   // the error is one of the data
	}{
		{status: []roster.Status{roster.Done, roster.Done}},
		{status: []roster.Status{roster.Done, roster.NoData, roster.NoData}, lacking: "2 of 3 runs lack"},
		{status: []roster.Status{roster.NoData, roster.NoData},
			lacking: "2 of 2 runs lack", err: "2 of 2 runs lack", data: true},
		{status: []roster.Status{roster.NoData, roster.Failed, roster.Done},
			lacking: "1 of 3 runs lack", err: "1 of 3 runs failed"},
		{status: []roster.Status{roster.NoData, roster.ToDo},
			lacking: "1 of 2 runs lack", err: "1 of 2 runs are not finished"},
		{},
	} {
		o := &Outcome{Table: &results.Table{Name: "x"}}
		for _, s := range c.status {
			o.Runs = append(o.Runs, roster.Run{Status: s})
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
