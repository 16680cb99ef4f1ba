package cli

import (
	"testing"

	"privrec/internal/doctor"
)

// A machine that computes wrongly is a failure, and the hint reaches the person.
func TestDoctorFails(t *testing.T) {
	err := (&doctor.Report{Tests: []doctor.Test{{Name: "functions"}}}).Err()
	if exitCode(err) != exitFailed || hint(err) == "" {
		t.Errorf("exit code %d, hint %q", exitCode(err), hint(err))
	}
}
