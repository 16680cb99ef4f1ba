package mechanism

import "testing"

func TestCheckErrorIsFinal(t *testing.T) {
	var err error = &CheckError{}
	if f, ok := err.(interface{ Final() bool }); !ok || !f.Final() {
		t.Error("a failed check may be resumed")
	}
}
